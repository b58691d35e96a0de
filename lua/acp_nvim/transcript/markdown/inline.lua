-- Highlights emphasis (paired as in CommonMark), code and links of a paragraph in a single pass.
require("acp_nvim.transcript.markdown.interpreted")()

local spans = require("acp_nvim.transcript.markdown.spans")

local M = {}

local RAW = "@markup.raw.markdown_inline"
local LABEL = "@markup.link.label.markdown_inline"
local URL = "@markup.link.url.markdown_inline"
local ESCAPE = "@string.escape.markdown_inline"
local STRONG = "@markup.strong.markdown_inline"
local ITALIC = "@markup.italic.markdown_inline"
local STRUCK = "@markup.strikethrough.markdown_inline"
local WEB, MARKS = "https?://", "[\\`*_~!%[%]<]"
local LINK_BYTES = 500 -- of the target of a link

---@class acp.InlineBudget
---@field marks integer number of marks that may still be read; the text after them is plain

---@class acp.Run
---@field char string
---@field from integer first unmatched byte
---@field to integer last unmatched byte
---@field length integer initial length
---@field opens boolean
---@field closes boolean

---@class acp.Inline reader of one paragraph
---@field text string its lines, joined by newlines
---@field starts integer[] offset in `text` where each line begins, from 1
---@field row integer of its first line
---@field columns integer[] byte column where the text of each line begins
---@field rows table<integer, acp.Span[]>
---@field brackets { [1]: integer, [2]: boolean }[] open brackets: position, whether of an image
---@field runs acp.Run[] of `*`, `_` and `~`
---@field unclosed table<integer, true> lengths of backtick runs without a closing run

---Highlights a range that may span several lines.
---@param from integer first byte, from 1
---@param to integer last byte
local function add(self, from, to, group, conceal)
  local starts = self.starts
  local line = 1
  while starts[line + 1] and starts[line + 1] <= from do
    line = line + 1
  end
  while from <= to do
    local next_start = starts[line + 1] or (#self.text + 2)
    local base = self.columns[line] - starts[line]
    local last = math.min(to, next_start - 2) -- without the newline
    if last >= from then
      spans.add(self.rows, self.row + line - 1, from + base, last + 1 + base, group, conceal)
    end
    from, line = next_start, line + 1
  end
end

---@param at integer first byte of the run
local function run_at(text, at)
  local char = text:sub(at, at)
  local _, to = text:find("^%" .. char .. "+", at)
  local before = at > 1 and text:sub(at - 1, at - 1) or " "
  local after = to < #text and text:sub(to + 1, to + 1) or " "
  local space_before, space_after = before:find("%s") ~= nil, after:find("%s") ~= nil
  local punct_before, punct_after = before:find("%p") ~= nil, after:find("%p") ~= nil
  local left = not space_after and (not punct_after or space_before or punct_before)
  local right = not space_before and (not punct_before or space_after or punct_after)
  local opens, closes = left, right
  if char == "_" then -- not within words
    opens, closes = left and (not right or punct_before), right and (not left or punct_after)
  end
  if char == "~" and to - at > 1 then -- more than two are no mark
    opens, closes = false, false
  end
  return { char = char, from = at, to = to, length = to - at + 1, opens = opens, closes = closes }
end

local function can_pair(opener, closer)
  if opener.char ~= closer.char then
    return false
  elseif closer.char == "~" then
    return opener.length == closer.length
  end
  local both = (opener.closes or closer.opens) and (opener.length + closer.length) % 3 == 0
  return not both or (opener.length % 3 == 0 and closer.length % 3 == 0)
end

local function join(self, opener, closer)
  local left, right = opener.to - opener.from + 1, closer.to - closer.from + 1
  local count = (left >= 2 and right >= 2) and 2 or 1
  local group = count == 2 and STRONG or ITALIC
  if closer.char == "~" then
    count, group = closer.length, STRUCK
  end
  local from, to = opener.to - count + 1, closer.from + count - 1
  add(self, from, to, group)
  add(self, from, opener.to, nil, "")
  add(self, closer.from, to, nil, "")
  opener.to, closer.from = from - 1, to + 1
end

---Pairs opening and closing runs.
local function pair(self)
  local stack, lowest = {}, {} -- open runs; by kind of closer, the stack index where its search ends
  for _, run in ipairs(self.runs) do
    -- a failed search is not repeated: the time would be quadratic
    local key = run.char .. run.length % 3 .. tostring(run.opens)
    while run.closes and run.from <= run.to do
      local found, least = #stack, lowest[key] or 1
      while found >= least and not can_pair(stack[found], run) do
        found = found - 1
      end
      if found < least then
        lowest[key] = #stack + 1
        break
      end
      join(self, stack[found], run)
      local size = stack[found].from > stack[found].to and found - 1 or found
      for index = #stack, size + 1, -1 do
        stack[index] = nil
      end
      for other, index in pairs(lowest) do
        lowest[other] = math.min(index, size + 1)
      end
    end
    if run.opens and run.from <= run.to then
      stack[#stack + 1] = run
    end
  end
end

---@type table<string, fun(self: acp.Inline, at: integer): integer?> first byte -> reader, which returns the byte after what it has read
local read = {}

read["\\"] = function(self, at)
  if self.text:find("^%p", at + 1) then
    add(self, at, at, ESCAPE, "")
    return at + 2
  end
end

read["`"] = function(self, at)
  local _, last = self.text:find("^`+", at)
  local length = last - at + 1
  local from = last + 1
  while not self.unclosed[length] do
    local first, final = self.text:find("`+", from)
    if not first then
      self.unclosed[length] = true
      break
    elseif final - first + 1 == length then
      add(self, at, final, RAW)
      add(self, at, last, nil, "")
      add(self, first, final, nil, "")
      return final + 1
    end
    from = final + 1
  end
  return last + 1
end

local function delimiter(self, at)
  local run = run_at(self.text, at)
  self.runs[#self.runs + 1] = run
  return run.to + 1
end
read["*"], read["_"], read["~"] = delimiter, delimiter, delimiter

read["!"] = function(self, at)
  if self.text:byte(at + 1) == 91 then
    self.brackets[#self.brackets + 1] = { at, true }
    return at + 2
  end
end

read["["] = function(self, at)
  self.brackets[#self.brackets + 1] = { at, false }
end

---@param at integer of the opening parenthesis
---@return integer? last byte of the link target
local function target_end(text, at)
  local piece = text:sub(at, at + LINK_BYTES)
  local _, last = piece:find("^%([^%s()]*%)")
  if not last then
    _, last = piece:find("^%(<[^<>\n]*>%)")
  end
  if not last then
    _, last = piece:find('^%([^%s()]*%s+"[^"\n]*"%)')
  end
  if not last then
    _, last = piece:find("^%([^%s()]*%b()[^%s()]*%)")
  end
  return last and at + last - 1
end

read["]"] = function(self, at)
  local open = table.remove(self.brackets)
  if not open then
    return
  end
  local from = open[1] + (open[2] and 2 or 1)
  local last = self.text:byte(at + 1) == 40 and target_end(self.text, at + 1)
  if last and at > from then
    add(self, from, at - 1, LABEL)
    add(self, open[1], from - 1, LABEL, "")
    add(self, at, last, URL, "")
    return last + 1
  end
  local reference = self.text:match("^%[[^%]\n]*()", at + 1)
  if reference and self.text:byte(reference) == 93 then
    add(self, open[1], reference, LABEL)
    return reference + 1
  end
end

read["<"] = function(self, at)
  local _, last = self.text:find("^<%a[%w+.-]*:[^%s<>]*>", at)
  if last then
    add(self, at, last, URL)
    return last + 1
  end
end

local function bare_url(self, at)
  local last = self.text:match('^https?://[^%s<>`|"]*()', at) - 1
  while last > at and self.text:find("^[.,:;!?'*_~]", last) do
    last = last - 1
  end
  local url = self.text:sub(at, last)
  if url:sub(-1) == ")" and not url:find("(", 1, true) then
    last = last - 1
  end
  add(self, at, last, URL)
  return last + 1
end

local function scan(self, budget)
  local text, at = self.text, 1
  local url, special = text:find(WEB) or math.huge, text:find(MARKS) or math.huge
  while math.min(url, special) < math.huge and budget.marks > 0 do
    budget.marks = budget.marks - 1
    if url < special then
      at = bare_url(self, url)
    else
      at = read[text:sub(special, special)](self, special) or special + 1
    end
    -- search again only for what was passed: the time would be quadratic
    url = url < at and (text:find(WEB, at) or math.huge) or url
    special = special < at and (text:find(MARKS, at) or math.huge) or special
  end
end

---@param rows table<integer, acp.Span[]> gets the highlights
---@param row integer of the first line
---@param lines string[] without the marks of lists and quotes
---@param columns integer[] byte column where each line begins
---@param budget acp.InlineBudget
function M.colour(rows, row, lines, columns, budget)
  local text = #lines == 1 and lines[1] or table.concat(lines, "\n")
  if not text:find("[\\`*_~%[<]") and not text:find("://", 1, true) then
    return
  end
  local starts, at = {}, 1
  for index, line in ipairs(lines) do
    starts[index] = at
    at = at + #line + 1
  end
  local self = { text = text, starts = starts, row = row, columns = columns, rows = rows }
  self.brackets, self.runs, self.unclosed = {}, {}, {}
  scan(self, budget)
  pair(self)
end

return M
