-- Splits markdown into segments while it arrives; each segment can be highlighted independently.
require("acp_nvim.transcript.markdown.interpreted")()

local limits = require("acp_nvim.limits")

local M = {}

---@class acp.SegmentKind interned: a long chat has thousands of segments of the same kind
---@field code? string info string of the fence around the segment; nil: not code
---@field indent? integer columns of the fence's indentation
---@field marks? string backticks or tildes that opened the fence
---@field above? integer rows of the fence above the segment; 0: the segment's first row is the fence
---@field inside? "list"|"table" construct that continues in the segment's first line

---@class acp.Segment
---@field first integer row in the text
---@field kind? acp.SegmentKind nil: plain markdown
---@field rows? table<integer, acp.Span[]> highlights by row of the segment, from 1; nil: unknown or dropped
---@field fresh? boolean `rows` is up to date
---@field done? integer number of complete lines of code that are highlighted
---@field plain? boolean of code: it has no parser, or parsing took too long
---@field rough? boolean `rows` was computed piecewise while text arrived
---@field waits? boolean it waits for time to be parsed
---@field tries? integer attempts to parse it that took too long
---@field used? integer number of the last redraw in which it was visible
---@field cut? acp.Cut that contains it, while `rows` is kept

---@class acp.Cut the segments of one text, and the state of the reader at its end
---@field segments (acp.Segment|integer)[] in order; a number is the first row of a segment without further state
---@field kinds table<integer, acp.SegmentKind> by the first row of a segment; nil: plain markdown
---@field row integer of the incomplete last line
---@field head string beginning of that line
---@field bytes integer in the last segment
---@field width integer bytes of the incomplete last line
---@field long boolean some line is longer than WRAPPED_BYTES
---@field fence boolean a fence is open
---@field list boolean a list may continue in the next line
---@field table boolean a table may continue in the next line
---@field blank boolean the last line was blank

local SEGMENT_LINES = 8 -- of a markdown segment: a paragraph or two; up to 20 without a blank line
local WRAPPED_BYTES = 8 * 1024 -- of a line wrapped between words: several screens; wrapping longer ones takes a frame
local CODE_SEGMENT_LINES = 20 -- of a code segment: parsed in about a millisecond
local HEAD = 256 -- bytes at the beginning of a line that determine its type
local NEWLINE, SPACE, TAB, BACKTICK, TILDE, HASH = 10, 32, 9, 96, 126, 35

---@type table<string, acp.SegmentKind> kinds in use
local known = setmetatable({}, { __mode = "v" })

local function interned(kind)
  local name =
    table.concat({ kind.code or "", kind.indent or "", kind.marks or "", kind.above or "", kind.inside or "" }, "\0")
  known[name] = known[name] or kind
  return known[name]
end

---@return acp.Cut
function M.new()
  local cut = { segments = { { first = 0 } }, kinds = {}, row = 0, head = "", bytes = 0, width = 0 }
  cut.long, cut.fence, cut.list, cut.table, cut.blank = false, false, false, false, false
  return cut
end

---@return acp.Segment
function M.segment(cut, index)
  local segment = cut.segments[index]
  if type(segment) == "number" then
    segment = { first = segment, kind = cut.kinds[segment] }
    cut.segments[index] = segment
  end
  return segment
end

---@return integer? row in the text; nil when there is no such segment
function M.first(cut, index)
  local segment = cut.segments[index]
  return type(segment) == "table" and segment.first or segment --[[@as integer?]]
end

---Drops the state of a segment that can be computed again.
---@param segment acp.Segment
function M.pack(segment)
  local cut = segment.cut
  local index = cut and M.at(cut, segment.first)
  segment.rows, segment.fresh, segment.done, segment.rough, segment.cut = nil, nil, nil, nil, nil
  if cut and cut.segments[index] == segment and index < #cut.segments then
    cut.segments[index] = segment.first
  end
end

local function begin(cut, first, kind)
  local index = #cut.segments
  local last = cut.segments[index]
  if last.first == first then -- it is empty
    cut.segments[index] = nil
  elseif last.used then
    last.fresh = nil
  else -- never visible: a long chat has tens of thousands of these
    cut.segments[index] = last.first
  end
  kind = kind and interned(kind)
  cut.kinds[first] = kind
  cut.segments[#cut.segments + 1] = { first = first, kind = kind }
  cut.bytes = 0
end

---Whether a line closes a fence.
---@param kind acp.SegmentKind of code
function M.closes(kind, line)
  local marks = line:find("[`~]") and line:match("^%s*([`~]+)%s*$")
  return marks and #marks >= #kind.marks and marks:gsub(kind.marks:sub(1, 1), "") == "" or false
end

local function in_fence(cut, row, line)
  local segment = cut.segments[#cut.segments]
  local kind = segment.kind
  if M.closes(kind, line) then
    cut.fence = false
    begin(cut, row + 1)
  elseif row - segment.first >= CODE_SEGMENT_LINES or cut.bytes > limits.segment_bytes then
    local above = kind.above + row - segment.first
    begin(cut, row, { code = kind.code, indent = kind.indent, marks = kind.marks, above = above })
  end
end

local function opens_fence(cut, row, line)
  local indent, marks, info = line:match("^(%s*)(```+)([^`]*)$")
  if not indent then
    indent, marks, info = line:match("^(%s*)(~~~+)(.*)$")
  end
  if not indent or (#indent > 3 and not cut.list) then
    return false
  end
  begin(cut, row, { code = vim.trim(info), indent = #indent, marks = marks, above = 0 })
  cut.fence = true
  return true
end

---Whether a new segment may begin with a line, because its meaning does not depend on earlier lines.
---@param lines integer in the segment so far
---@param first integer its first byte
local function may_begin(cut, lines, first)
  if first == HASH then
    return lines >= 2
  end
  return cut.blank and first ~= SPACE and first ~= TAB and lines >= SEGMENT_LINES / 2
end

---@param first integer its first byte
local function in_text(cut, row, line, first)
  local lines = row - cut.segments[#cut.segments].first
  if (first == BACKTICK or first == TILDE or first == SPACE or first == TAB) and opens_fence(cut, row, line) then
    cut.blank = false
    return
  elseif may_begin(cut, lines, first) then
    begin(cut, row)
    cut.table = false
  elseif lines >= SEGMENT_LINES * 2.5 or cut.bytes > limits.segment_bytes then
    local inside = cut.table and "table" or cut.list and "list"
    begin(cut, row, inside and { inside = inside } or nil)
  end
  if cut.blank and first ~= SPACE and first ~= TAB then
    cut.list = false
  end
  cut.list = cut.list or line:find("^%s*[-+*]%s") ~= nil or line:find("^%s*%d+[.)]%s") ~= nil
  cut.table = line:find("|", 1, true) ~= nil and (cut.table or line:find("^%s*|?%s*:?%-+:?%s*[|:%- ]*$") ~= nil)
  cut.blank = false
end

---@param line string beginning of a complete line, at most HEAD bytes
local function complete(cut, line)
  local row, first = cut.row, line:byte(1) or NEWLINE
  cut.row = row + 1
  if cut.fence then
    in_fence(cut, row, line)
  elseif first == NEWLINE or not line:find("%S") then
    cut.blank, cut.table = true, false
  else
    in_text(cut, row, line, first)
  end
end

---Processes lines appended to the text.
---@param lines string[] the first continues the last line
function M.feed(cut, lines)
  local count = #lines
  local head = cut.head
  for index = 1, count do
    local line = lines[index]
    local room = HEAD - #head
    if room > 0 then
      head = head .. (#line > room and line:sub(1, room) or line)
    end
    cut.bytes = cut.bytes + #line + 1
    cut.width = (index == 1 and cut.width or 0) + #line
    cut.long = cut.long or cut.width > WRAPPED_BYTES
    if index < count then
      complete(cut, head)
      head = ""
    end
  end
  cut.head = head
  cut.segments[#cut.segments].fresh = nil
end

---Finds the segment that contains a row of the text.
---@return integer index
function M.at(cut, row)
  local low, high = 1, #cut.segments
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if M.first(cut, middle) <= row then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

return M
