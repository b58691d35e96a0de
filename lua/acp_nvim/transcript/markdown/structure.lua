-- Highlights a segment of markdown: headings, lists, quotes, tables, rules and paragraphs.
require("acp_nvim.transcript.markdown.interpreted")()

local inline = require("acp_nvim.transcript.markdown.inline")
local limits = require("acp_nvim.limits")
local spans = require("acp_nvim.transcript.markdown.spans")
local table_rows = require("acp_nvim.transcript.markdown.table_rows")

-- Marks of emphasis, code and links read in a segment: twenty lines full of them, within a few milliseconds
local INLINE_MARKS = 300
local DEPTH = 12 -- of nested quotes and lists: deeper marks are shown as text
local LIST = "@markup.list.markdown"
local QUOTE = "@markup.quote.markdown"
local RAW = "@markup.raw.block.markdown"
local RULE = "@punctuation.special.markdown"
local TABLE_HEADER = "@markup.heading.markdown"
local TABLE_LINES = { ["|"] = "│", ["-"] = "─" }
local TASKS = {
  [" "] = { "@markup.list.unchecked.markdown", "☐" },
  x = { "@markup.list.checked.markdown", "☑" },
}

---Reader of one segment, line by line.
---@class acp.Structure
---@field rows table<integer, acp.Span[]>
---@field row integer of the current line, from 1
---@field line string
---@field at integer byte in the line where the text after its marks begins
---@field next_line? string
---@field paragraph string[] lines of the current paragraph
---@field columns integer[] first columns of these lines
---@field first integer row of its first line
---@field budget acp.InlineBudget
---@field list boolean a list may continue
---@field table boolean a table may continue
---@field table_columns? integer cells of its header, if it is in this segment
---@field blank boolean the last line was blank
local Structure = {}
Structure.__index = Structure

---@param from integer byte column of the line
---@param to integer byte column
---@param conceal? string
---@param priority? integer
function Structure:add(from, to, group, conceal, priority)
  spans.add(self.rows, self.row, from, to, group, conceal, priority)
end

function Structure:end_paragraph()
  if #self.paragraph > 0 then
    inline.colour(self.rows, self.first, self.paragraph, self.columns, self.budget)
    self.paragraph, self.columns = {}, {}
  end
end

function Structure:add_to_paragraph()
  if #self.paragraph == 0 then
    self.first = self.row
  end
  self.paragraph[#self.paragraph + 1] = self.line:sub(self.at)
  self.columns[#self.columns + 1] = self.at - 1
end

---Reads quote marks.
function Structure:quotes()
  local line, first = self.line, self.at
  for _ = 1, DEPTH do
    local mark = line:match("^ ? ? ?()>", self.at)
    if not mark then
      break
    end
    self:add(mark - 1, mark, RULE, "▎", 101)
    self.at = mark + (line:byte(mark + 1) == 32 and 2 or 1)
  end
  if self.at > first then
    self:add(first - 1, #line, QUOTE, nil, 90)
  end
end

---Whether the rest of the line is a rule.
function Structure:is_rule()
  local char = self.line:match("^ ? ? ?([-*_])", self.at)
  local rest = char and self.line:sub(self.at):gsub("%s", "")
  return rest ~= nil and rest:find("^" .. ("%" .. char):rep(3) .. "%" .. char .. "*$") ~= nil
end

---Reads list marks, and the checkbox of a task.
function Structure:items()
  local line = self.line
  for _ = 1, DEPTH do
    local mark, to, text = line:match("^%s*()[-+*]()%s+()", self.at)
    local bullet = mark and "•"
    if not mark then
      mark, to, text = line:match("^%s*()%d%d?%d?%d?%d?%d?%d?%d?%d?[.)]()%s+()", self.at)
    end
    if not mark or self:is_rule() then
      break
    end
    self:end_paragraph()
    self.list, self.at = true, text
    local sign, behind = line:match("^%[([ xX])%]()%s", text)
    if sign then -- the checkbox replaces the list mark
      local group, box = unpack(TASKS[sign:lower()])
      self:add(text - 1, behind - 1, group, box)
      self:add(mark - 1, text - 1, LIST, "")
      self.at = behind
    else
      self:add(mark - 1, to - 1, LIST, bullet)
    end
  end
end

---@return boolean the line is a heading
function Structure:heading()
  local line, at = self.line, self.at
  local marks, text = line:match("^ ? ? ?(#+)%s+()", at)
  if not marks then
    marks, text = line:match("^ ? ? ?(#+)()$", at)
  end
  if not marks or #marks > 6 then
    return false
  end
  self:end_paragraph()
  self:add(at - 1, #line, ("@markup.heading.%d.markdown"):format(#marks), nil, 95)
  inline.colour(self.rows, self.row, { line:sub(text) }, { text - 1 }, self.budget)
  return true
end

---@return boolean the line underlines a heading above it with `=` or `-`
function Structure:underline()
  local line, at = self.line, self.at
  local marks = line:match("^ ? ? ?(===+)%s*$", at) or line:match("^ ? ? ?(%-%-%-+)%s*$", at)
  if not marks or #self.paragraph == 0 or self.list then
    return false
  end
  local group = marks:byte() == 61 and "@markup.heading.1.markdown" or "@markup.heading.2.markdown"
  for index, text in ipairs(self.paragraph) do
    local column = self.columns[index]
    spans.add(self.rows, self.first + index - 1, column, column + #text, group, nil, 95)
  end
  self:end_paragraph()
  self:add(at - 1, #line, group)
  return true
end

---@return boolean the line is a rule
function Structure:rule()
  if not self:is_rule() then
    return false
  end
  self:end_paragraph()
  self.list = false
  for column = self.at, math.min(#self.line, limits.rule_columns) do
    self:add(column - 1, column, RULE, "─")
  end
  spans.fill_line(self.rows, self.row, #self.line, "─", RULE)
  return true
end

---Highlights a cell without concealing marks, which would break the alignment of the columns.
---@param from integer byte
---@param to integer byte
function Structure:cell(from, to)
  local before = self.rows[self.row] and #self.rows[self.row] or 0
  inline.colour(self.rows, self.row, { self.line:sub(from, to) }, { from - 1 }, self.budget)
  for index = before + 1, self.rows[self.row] and #self.rows[self.row] or 0 do
    self.rows[self.row][index][2].conceal = nil
  end
end

function Structure:cells(header)
  local cells, bars = table_rows.cells(self.line, self.at, self.table_columns)
  for _, cell in ipairs(cells) do
    if header then
      self:add(cell[1] - 1, cell[2], TABLE_HEADER, nil, 95)
    end
    self:cell(cell[1], cell[2])
  end
  for _, bar in ipairs(bars) do
    self:add(bar - 1, bar, RULE, "│")
  end
end

---@return boolean the line is part of a table
function Structure:in_table()
  local line, at = self.line, self.at
  if not line:find("|", at, true) then
    return false
  end
  local header = not self.table and self.next_line ~= nil and table_rows.is_delimiter(self.next_line)
  if not header and not self.table then
    return false
  end
  self:end_paragraph()
  if header then
    self.table_columns = #table_rows.cells(self.next_line, self.next_line:match("^[%s>]*()"))
  end
  self.table = true
  if not table_rows.is_delimiter(line:sub(at)) then
    self:cells(header)
    return true
  end
  for column = at, math.min(#line, limits.rule_columns) do
    local char = TABLE_LINES[line:sub(column, column)]
    if char then
      self:add(column - 1, column, RULE, char)
    end
  end
  return true
end

---@return boolean the line is raw text
function Structure:raw()
  local line = self.line
  if line:find("^%s*```") or line:find("^%s*~~~") then -- not a fence for `cut`, thus incomplete
    local marks = line:match("^%s*[`~]+()")
    self:add(0, marks - 1, RAW)
    if marks <= #line then
      self:add(marks - 1, #line, "@label.markdown")
    end
    return true
  elseif self.blank and not self.list and line:find("^    ") then
    self:add(0, #line, RAW)
    return true
  end
  return false
end

---Whether a line begins with a letter, and thus with no mark.
local function is_plain(line)
  local first = line:byte()
  return first ~= nil and (first >= 128 or (first >= 97 and first <= 122) or (first >= 65 and first <= 90))
end

---Reads the current line.
function Structure:read()
  local line = self.line
  if is_plain(line) and not line:find("|", 1, true) then
    self.list = self.list and not self.blank
    self.blank, self.table = false, false
    return self:add_to_paragraph()
  elseif not line:find("%S") then
    self:end_paragraph()
    self.blank, self.table = true, false
    return
  end
  if self:raw() then
    self:end_paragraph()
    return -- `blank` is kept: an indented block may continue
  end
  if self.blank and line:find("^%S") then
    self.list = false
  end
  self.blank = false
  self:quotes()
  if self:underline() or self:rule() then
    return
  end
  self:items()
  if not self:heading() and not self:in_table() then
    self.table = false
    self:add_to_paragraph()
  end
end

---@param lines string[] of the segment, each at most `limits.inline_bytes` long
---@param inside? "list"|"table" construct that continues in the first line
---@return table<integer, acp.Span[]> rows from 1
return function(lines, inside)
  local self = setmetatable({ rows = {}, paragraph = {}, columns = {}, first = 1, blank = inside == nil }, Structure)
  self.budget = { marks = INLINE_MARKS }
  self.list, self.table = inside == "list", inside == "table"
  for row, line in ipairs(lines) do
    self.row, self.line, self.at, self.next_line = row, line, 1, lines[row + 1]
    self:read()
  end
  self:end_paragraph()
  return self.rows
end
