-- Colours what stands in a paragraph: emphasis, code, links. Its time is in proportion to the text, whatever that is.
require("acp_nvim.chat.markdown.interpreted")()

local emphasis = require("acp_nvim.chat.markdown.emphasis")
local spans = require("acp_nvim.chat.markdown.spans")

local M = {}

local RAW = "@markup.raw.markdown_inline"
local LABEL = "@markup.link.label.markdown_inline"
local URL = "@markup.link.url.markdown_inline"
local ESCAPE = "@string.escape.markdown_inline"
local LINK_BYTES = 500 -- of the target of a link

---@class acp.InlineBudget
---@field marks integer that are still read; what comes after is plain

---@class acp.Inline a paragraph that is being read
---@field text string its lines, joined by newlines
---@field starts integer[] offset in `text` where each line begins, from 1
---@field row integer of its first line
---@field columns integer[] byte column of each line where its text begins
---@field rows table<integer, acp.Span[]>
---@field brackets { [1]: integer, [2]: boolean }[] open ones: where, whether of an image
---@field runs acp.Run[] of `*`, `_` and `~`
---@field unclosed table<integer, true> lengths of backtick runs that nothing closes

---Colours a range that may go over several lines.
---@param self acp.Inline
---@param from integer first byte, from 1
---@param to integer last byte
---@param group? string
---@param conceal? string
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

---@type table<string, fun(self: acp.Inline, at: integer): integer?> first byte -> reads what begins there; gives where it ends
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

---@param self acp.Inline
---@param at integer
---@return integer
local function delimiter(self, at)
  local run = emphasis.run(self.text, at)
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

---@param text string
---@param at integer of the opening parenthesis
---@return integer? last byte of the target
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

---@param self acp.Inline
---@param at integer
---@return integer
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

---@param text string
---@param from integer
---@return integer
local function next_url(text, from)
  return text:find("https?://", from) or math.huge
end

---@param text string
---@param from integer
---@return integer
local function next_special(text, from)
  return text:find("[\\`*_~!%[%]<]", from) or math.huge
end

---@param self acp.Inline
---@param budget acp.InlineBudget
local function scan(self, budget)
  local text, at = self.text, 1
  local url, special = next_url(text, 1), next_special(text, 1)
  while math.min(url, special) < math.huge and budget.marks > 0 do
    budget.marks = budget.marks - 1
    if url < special then
      at = bare_url(self, url)
    else
      at = read[text:sub(special, special)](self, special) or special + 1
    end
    -- only what was passed is looked for again: else the time would grow with the square
    url = url < at and next_url(text, at) or url
    special = special < at and next_special(text, at) or special
  end
end

---@param rows table<integer, acp.Span[]> gets the colours
---@param row integer of the first line
---@param lines string[] without what makes them part of a list or a quote
---@param columns integer[] byte column where each of them begins
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
  emphasis.pair(self.runs, function(from, to, group, conceal)
    add(self, from, to, group, conceal)
  end)
end

return M
