-- Colours the rows of a table.
require("acp_nvim.chat.markdown.interpreted")()

local inline = require("acp_nvim.chat.markdown.inline")
local limits = require("acp_nvim.limits")
local spans = require("acp_nvim.chat.markdown.spans")

local M = {}

local HEADER = "@markup.heading.markdown"
local RULE = "@punctuation.special.markdown"
local LINES = { ["|"] = "│", ["-"] = "─" }

---@param line string
---@return boolean
function M.is_delimiter(line)
  return line:find("|", 1, true) ~= nil and line:find("^[%s>]*|?%s*:?%-+:?%s*[|:%-%s]*$") ~= nil
end

---@param rows table<integer, acp.Span[]>
---@param row integer
---@param line string
---@param at integer byte where it begins
local function delimiter(rows, row, line, at)
  for column = at, math.min(#line, limits.rule_columns) do
    local look = LINES[line:sub(column, column)]
    if look then
      spans.add(rows, row, column - 1, column, RULE, look)
    end
  end
end

---Colours a cell. No mark is hidden in it: its column would no longer stand below the others.
---@param rows table<integer, acp.Span[]>
---@param row integer
---@param cell string
---@param column integer byte
---@param budget acp.InlineBudget
local function colour_cell(rows, row, cell, column, budget)
  local before = rows[row] and #rows[row] or 0
  inline.colour(rows, row, { cell }, { column }, budget)
  for index = before + 1, rows[row] and #rows[row] or 0 do
    rows[row][index][2].conceal = nil
  end
end

---@param rows table<integer, acp.Span[]>
---@param row integer
---@param line string
---@param at integer byte where it begins
---@param header boolean
---@param budget acp.InlineBudget
function M.colour(rows, row, line, at, header, budget)
  if M.is_delimiter(line:sub(at)) then
    return delimiter(rows, row, line, at)
  end
  local from, cells = at, 0
  while from and cells < limits.table_cells do
    cells = cells + 1
    local bar = line:find("|", from, true)
    while bar and line:byte(bar - 1) == 92 do -- written as `\|`
      bar = line:find("|", bar + 1, true)
    end
    local to = (bar or #line + 1) - 1
    if to >= from then
      if header then
        spans.add(rows, row, from - 1, to, HEADER, nil, 95)
      end
      colour_cell(rows, row, line:sub(from, to), from - 1, budget)
    end
    if bar then
      spans.add(rows, row, bar - 1, bar, RULE, "│")
    end
    from = bar and bar + 1
  end
end

return M
