-- Colours a segment of markdown: headings, lists, quotes, tables, rules, and the paragraphs in them.
require("acp_nvim.chat.markdown.interpreted")()

local inline = require("acp_nvim.chat.markdown.inline")
local limits = require("acp_nvim.limits")
local spans = require("acp_nvim.chat.markdown.spans")
local tables = require("acp_nvim.chat.markdown.tables")

local LIST = "@markup.list.markdown"
local QUOTE = "@markup.quote.markdown"
local RAW = "@markup.raw.block.markdown"
local RULE = "@punctuation.special.markdown"
local TASKS = {
  [" "] = { "@markup.list.unchecked.markdown", "☐" },
  x = { "@markup.list.checked.markdown", "☑" },
}
local DEPTH = 12 -- quotes and lists within each other: what is deeper is shown as text

---@class acp.Structure a segment that is being read
---@field rows table<integer, acp.Span[]>
---@field lines string[] of the paragraph that goes on
---@field columns integer[] where its lines begin
---@field first integer row of its first line
---@field budget acp.InlineBudget
---@field list boolean a list goes on
---@field table boolean a table goes on
---@field blank boolean the last line was blank

---@param self acp.Structure
local function end_paragraph(self)
  if #self.lines > 0 then
    inline.colour(self.rows, self.first, self.lines, self.columns, self.budget)
    self.lines, self.columns = {}, {}
  end
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer byte where the text begins, from 1
local function add_to_paragraph(self, row, line, at)
  if #self.lines == 0 then
    self.first = row
  end
  self.lines[#self.lines + 1] = line:sub(at)
  self.columns[#self.columns + 1] = at - 1
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@return integer at behind the marks of quotes
local function quotes(self, row, line, at)
  local first = at
  for _ = 1, DEPTH do
    local mark = line:match("^ ? ? ?()>", at)
    if not mark then
      break
    end
    spans.add(self.rows, row, mark - 1, mark, RULE, "▎", 101)
    at = mark + (line:byte(mark + 1) == 32 and 2 or 1)
  end
  if at > first then
    spans.add(self.rows, row, first - 1, #line, QUOTE, nil, 90)
  end
  return at
end

---@param line string
---@param at integer
---@return boolean
local function is_rule(line, at)
  local char = line:match("^ ? ? ?([-*_])", at)
  return char ~= nil and line:sub(at):gsub("%s", ""):find("^" .. ("%" .. char):rep(3) .. "%" .. char .. "*$") ~= nil
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@return integer at behind the box of a task
local function task(self, row, line, at)
  local sign, to = line:match("^%[([ xX])%]()%s", at)
  if not sign then
    return at
  end
  local look = TASKS[sign:lower()]
  spans.add(self.rows, row, at - 1, to - 1, look[1], look[2])
  return to
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@return integer at behind the marks of items
local function items(self, row, line, at)
  for _ = 1, DEPTH do
    local mark, to, text = line:match("^%s*()[-+*]()%s+()", at)
    local bullet = mark ~= nil
    if not mark then
      mark, to, text = line:match("^%s*()%d%d?%d?%d?%d?%d?%d?%d?%d?[.)]()%s+()", at)
    end
    if not mark or is_rule(line, at) then
      break
    end
    end_paragraph(self)
    self.list = true
    at = task(self, row, line, text)
    if at > text then -- the box is mark enough
      spans.add(self.rows, row, mark - 1, text - 1, LIST, "")
    else
      spans.add(self.rows, row, mark - 1, to - 1, LIST, bullet and "•" or nil)
    end
  end
  return at
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@return boolean
local function heading(self, row, line, at)
  local marks, text = line:match("^ ? ? ?(#+)%s+()", at)
  if not marks then
    marks, text = line:match("^ ? ? ?(#+)()$", at)
  end
  if not marks or #marks > 6 then
    return false
  end
  end_paragraph(self)
  spans.add(self.rows, row, at - 1, #line, ("@markup.heading.%d.markdown"):format(#marks), nil, 95)
  inline.colour(self.rows, row, { line:sub(text) }, { text - 1 }, self.budget)
  return true
end

---A line of `=` or `-` makes a heading of the paragraph above it.
---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@return boolean
local function underline(self, row, line, at)
  local marks = line:match("^ ? ? ?(===+)%s*$", at) or line:match("^ ? ? ?(%-%-%-+)%s*$", at)
  if not marks or #self.lines == 0 or self.list then
    return false
  end
  local group = marks:byte() == 61 and "@markup.heading.1.markdown" or "@markup.heading.2.markdown"
  for index, text in ipairs(self.lines) do
    local column = self.columns[index]
    spans.add(self.rows, self.first + index - 1, column, column + #text, group, nil, 95)
  end
  end_paragraph(self)
  spans.add(self.rows, row, at - 1, #line, group)
  return true
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@return boolean
local function rule(self, row, line, at)
  if not is_rule(line, at) then
    return false
  end
  end_paragraph(self)
  self.list = false
  for column = at, math.min(#line, limits.rule_columns) do
    spans.add(self.rows, row, column - 1, column, RULE, "─")
  end
  spans.go_on(self.rows, row, #line, "─", RULE)
  return true
end

---@param self acp.Structure
---@param row integer
---@param line string
---@param at integer
---@param next_line? string
---@return boolean
local function in_table(self, row, line, at, next_line)
  if not line:find("|", at, true) then
    return false
  end
  local header = not self.table and next_line ~= nil and tables.is_delimiter(next_line)
  if not header and not self.table then
    return false
  end
  end_paragraph(self)
  self.table = true
  tables.colour(self.rows, row, line, at, header, self.budget)
  return true
end

---@param self acp.Structure
---@param row integer
---@param line string
---@return boolean
local function raw(self, row, line)
  if line:find("^%s*```") or line:find("^%s*~~~") then -- what `cut` did not take for a fence: an incomplete one
    local marks = line:match("^%s*[`~]+()")
    spans.add(self.rows, row, 0, marks - 1, RAW)
    if marks <= #line then
      spans.add(self.rows, row, marks - 1, #line, "@label.markdown")
    end
    return true
  elseif self.blank and not self.list and line:find("^    ") then
    spans.add(self.rows, row, 0, #line, RAW)
    return true
  end
  return false
end

---Whether a line is nothing but words, by its first byte.
---@param line string
---@return boolean
local function is_plain(line)
  local first = line:byte()
  return first ~= nil and (first >= 128 or (first >= 97 and first <= 122) or (first >= 65 and first <= 90))
end

---@param self acp.Structure
---@param row integer from 1
---@param line string
---@param next_line? string
local function colour_line(self, row, line, next_line)
  if is_plain(line) and not line:find("|", 1, true) then
    self.list = self.list and not self.blank
    self.blank, self.table = false, false
    return add_to_paragraph(self, row, line, 1)
  elseif not line:find("%S") then
    end_paragraph(self)
    self.blank, self.table = true, false
    return
  end
  if raw(self, row, line) then
    end_paragraph(self)
    return -- `blank` stays: an indented block goes on
  end
  if self.blank and line:find("^%S") then
    self.list = false
  end
  self.blank = false
  local at = quotes(self, row, line, 1)
  if underline(self, row, line, at) or rule(self, row, line, at) then
    return
  end
  at = items(self, row, line, at)
  if heading(self, row, line, at) then
    return
  elseif in_table(self, row, line, at, next_line) then
    return
  end
  self.table = false
  add_to_paragraph(self, row, line, at)
end

---@param lines string[] of the segment, each at most `limits.inline_bytes` long
---@param inside? "list"|"table" what goes on in the first
---@return table<integer, acp.Span[]> rows from 1
return function(lines, inside)
  local self = { rows = {}, lines = {}, columns = {}, first = 1, blank = inside == nil }
  self.budget = { marks = limits.inline_marks }
  self.list, self.table = inside == "list", inside == "table"
  for row, line in ipairs(lines) do
    colour_line(self, row, line, lines[row + 1])
  end
  end_paragraph(self)
  return self.rows
end
