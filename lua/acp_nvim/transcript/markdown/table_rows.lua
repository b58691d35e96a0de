-- Reads the rows of a table: its delimiter, and where its cells are.
require("acp_nvim.transcript.markdown.interpreted")()

local M = {}

local TABLE_CELLS = 100 -- of one row of a table; the rest is plain
local BAR, BACKSLASH = 124, 92

---Whether a line is the delimiter below a table's header.
function M.is_delimiter(line)
  return line:find("|", 1, true) ~= nil and line:find("^[%s>]*|?%s*:?%-+:?%s*[|:%-%s]*$") ~= nil
end

---Returns the byte after the code span that begins with a run of backticks, or after the run if none ends it.
---@param unclosed table<integer, true> lengths of runs that no run ends
local function after_code(line, at, unclosed)
  local _, last = line:find("^`+", at)
  local length, from = last - at + 1, last + 1
  while not unclosed[length] do
    local first, final = line:find("`+", from)
    if not first then
      unclosed[length] = true
    elseif final - first + 1 == length then
      return final + 1
    else
      from = final + 1
    end
  end
  return last + 1
end

---@param from integer first byte of the row
---@param is_code_whole boolean bars within code are text
---@return integer[] bars bytes
local function find_bars(line, from, is_code_whole)
  local bars, unclosed, special = {}, {}, is_code_whole and "[|\\`]" or "[|\\]"
  local at = line:find(special, from)
  while at and #bars <= TABLE_CELLS do
    local byte = line:byte(at)
    if byte == BAR then
      bars[#bars + 1] = at
      at = at + 1
    else
      at = byte == BACKSLASH and at + 2 or after_code(line, at, unclosed)
    end
    at = line:find(special, at)
  end
  return bars
end

---@param from integer first byte of the row
---@param bars integer[]
---@return integer[][] cells first and last byte of each, with the blanks around its text
local function between(line, from, bars)
  local cells, first = {}, from
  for index = 1, #bars + 1 do
    local last = (bars[index] or #line + 1) - 1
    local is_outside = index == 1 or index == #bars + 1 -- the bars at both ends of a row are optional
    if not is_outside or line:sub(first, last):find("%S") then
      cells[#cells + 1] = { first, last }
    end
    first = last + 2
  end
  return cells
end

---Finds the cells of a row. A bar within a code span is text, as people mean it, unless the row has as many cells as the
---header only if such bars separate cells, as GitHub reads it.
---@param from integer first byte of the row
---@param columns? integer cells of the header
---@return integer[][] cells first and last byte of each
---@return integer[] bars bytes
function M.cells(line, from, columns)
  local bars = find_bars(line, from, true)
  local cells = between(line, from, bars)
  if columns and #cells ~= columns and line:find("`", from, true) then
    local all = find_bars(line, from, false)
    local split = between(line, from, all)
    if #split == columns then
      return split, all
    end
  end
  return cells, bars
end

return M
