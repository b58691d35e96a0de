-- Cuts a text into segments as it arrives: small pieces of markdown, each of which can be coloured by itself.
require("acp_nvim.chat.markdown.interpreted")()

local limits = require("acp_nvim.limits")

local M = {}

---@class acp.Segment
---@field first integer row in the text
---@field code? string info string of the fence that it is in; nil: it is no code
---@field indent? integer columns that the fence is indented by
---@field fence? integer row of the line that opened the fence
---@field marks? string backticks or tildes that opened it
---@field inside? "list"|"table" what goes on in its first line
---@field rows? table<integer, acp.Span[]> its colours by row in it, from 1; nil: not known, or dropped
---@field fresh? boolean `rows` fits its text
---@field done? integer lines of code that have colours and were complete
---@field plain? boolean of code: there is no parser for it
---@field rough? boolean they were found in parts, while text came in
---@field waits? boolean for time to be parsed in
---@field used? integer number of the redraw in which it was last seen
---@field cut? acp.Cut that it is part of, while its colours are kept

---@class acp.SegmentKind what a segment out of sight is
---@field code? string
---@field indent? integer
---@field marks? string
---@field inside? "list"|"table"
---@field below? integer rows of the same fence above it

---@class acp.Cut
---@field segments (acp.Segment|integer)[] in order; the last one grows; a number: the first row of one that is out of sight
---@field kinds table<integer, acp.SegmentKind> of such ones, by their first row; nil: plain markdown
---@field known table<string, acp.SegmentKind> each once: a long chat has thousands of blocks of the same languages
---@field row integer of the line that is still incomplete
---@field head string what is known of that line, its beginning
---@field bytes integer in the last segment
---@field width integer bytes of the line that is still incomplete
---@field long boolean a line was longer than people read
---@field fence boolean one is open
---@field list boolean a list may go on in the next line
---@field table boolean a table goes on
---@field blank boolean the last line was blank

local HEAD = 256 -- bytes of a line that say what it is
local NEWLINE, SPACE, TAB, BACKTICK, TILDE, HASH = 10, 32, 9, 96, 126, 35

---@return acp.Cut
function M.new()
  return {
    segments = { { first = 0 } },
    kinds = {},
    known = {},
    row = 0,
    head = "",
    bytes = 0,
    width = 0,
    long = false,
    fence = false,
    list = false,
    table = false,
    blank = false,
  }
end

---@param cut acp.Cut
---@param index integer
---@return acp.Segment
function M.segment(cut, index)
  local segment = cut.segments[index]
  if type(segment) ~= "number" then
    return segment
  end
  local kind, first = cut.kinds[segment], segment
  segment = { first = first }
  if kind then
    segment.code, segment.indent, segment.marks, segment.inside = kind.code, kind.indent, kind.marks, kind.inside
    segment.fence = kind.below and first - kind.below
  end
  cut.segments[index] = segment
  return segment
end

---@param cut acp.Cut
---@param index integer
---@return integer? row in the text; nil when there is no such segment
function M.first(cut, index)
  local segment = cut.segments[index]
  return type(segment) == "table" and segment.first or segment --[[@as integer?]]
end

---Makes a segment as small as it can be: a long chat has ten thousands of them, and only some are in sight.
---@param cut acp.Cut
---@param index integer
local function put_away(cut, index)
  local segment = cut.segments[index] --[[@as acp.Segment]]
  local code, indent, marks, inside = segment.code, segment.indent, segment.marks, segment.inside
  if code or inside then
    local below = code and segment.first - segment.fence
    local words = { code or "", indent or "", marks or "", inside or "", below or "" }
    local name = table.concat(words, "\0")
    cut.known[name] = cut.known[name] or { code = code, indent = indent, marks = marks, inside = inside, below = below }
    cut.kinds[segment.first] = cut.known[name]
  end
  cut.segments[index] = segment.first
end

---Forgets all of a segment that can be found again.
---@param segment acp.Segment
function M.pack(segment)
  local cut = segment.cut
  local index = cut and M.at(cut, segment.first)
  segment.rows, segment.fresh, segment.done, segment.rough, segment.cut = nil, nil, nil, nil, nil
  if cut and cut.segments[index] == segment and index < #cut.segments then
    put_away(cut, index)
  end
end

---@param cut acp.Cut
---@param first integer row
---@return acp.Segment
local function begin(cut, first)
  local index = #cut.segments
  local last = cut.segments[index]
  if last.first == first then -- nothing is in it yet
    cut.segments[index] = nil
  elseif last.used then
    last.fresh = nil
  else
    put_away(cut, index)
  end
  local segment = { first = first }
  cut.segments[#cut.segments + 1] = segment
  cut.bytes = 0
  return segment
end

---@param segment acp.Segment of code
---@param line string
---@return boolean
function M.closes(segment, line)
  local first = line:find("[`~]")
  if not first then
    return false
  end
  local marks = line:match("^%s*([`~]+)%s*$")
  return marks ~= nil and #marks >= #segment.marks and marks:gsub(segment.marks:sub(1, 1), "") == ""
end

---@param cut acp.Cut
---@param row integer
---@param line string
local function in_fence(cut, row, line)
  local segment = cut.segments[#cut.segments]
  if M.closes(segment, line) then
    cut.fence = false
    begin(cut, row + 1)
  elseif row - segment.first >= limits.code_segment_lines or cut.bytes > limits.segment_bytes then
    local go_on = begin(cut, row)
    go_on.code, go_on.indent, go_on.fence, go_on.marks = segment.code, segment.indent, segment.fence, segment.marks
  end
end

---@param cut acp.Cut
---@param row integer
---@param line string
---@return boolean
local function opens_fence(cut, row, line)
  local indent, marks, info = line:match("^(%s*)(```+)([^`]*)$")
  if not indent then
    indent, marks, info = line:match("^(%s*)(~~~+)(.*)$")
  end
  if not indent or (#indent > 3 and not cut.list) then
    return false
  end
  local segment = begin(cut, row)
  segment.code, segment.indent, segment.fence, segment.marks = vim.trim(info), #indent, row, marks
  cut.fence = true
  return true
end

---Whether a new segment may begin with a line: what it is depends on no line before it.
---@param cut acp.Cut
---@param lines integer in the segment so far
---@param first integer its first byte
---@return boolean
local function may_begin(cut, lines, first)
  if first == HASH then
    return lines >= 2
  end
  return cut.blank and first ~= SPACE and first ~= TAB and lines >= limits.segment_lines / 2
end

---@param cut acp.Cut
---@param row integer
---@param line string
---@param first integer its first byte
local function in_text(cut, row, line, first)
  local lines = row - cut.segments[#cut.segments].first
  if (first == BACKTICK or first == TILDE or first == SPACE or first == TAB) and opens_fence(cut, row, line) then
    cut.blank = false
    return
  elseif may_begin(cut, lines, first) then
    begin(cut, row)
    cut.table = false
  elseif lines >= limits.segment_lines * 2.5 or cut.bytes > limits.segment_bytes then
    begin(cut, row).inside = cut.table and "table" or cut.list and "list" or nil
  end
  if cut.blank and first ~= SPACE and first ~= TAB then
    cut.list = false
  end
  cut.list = cut.list or line:find("^%s*[-+*]%s") ~= nil or line:find("^%s*%d+[.)]%s") ~= nil
  cut.table = line:find("|", 1, true) ~= nil and (cut.table or line:find("^%s*|?%s*:?%-+:?%s*[|:%- ]*$") ~= nil)
  cut.blank = false
end

---@param cut acp.Cut
---@param line string that is complete, or its beginning
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

---Takes what was added to the text.
---@param cut acp.Cut
---@param lines string[] the first goes on with the last line that was there
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
    cut.long = cut.long or cut.width > limits.wrapped_bytes
    if index < count then
      complete(cut, head)
      head = ""
    end
  end
  cut.head = head
  cut.segments[#cut.segments].fresh = nil
end

---The segment of a row in the text.
---@param cut acp.Cut
---@param row integer
---@return integer index
function M.at(cut, row)
  local segments = cut.segments
  local low, high = 1, #segments
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
