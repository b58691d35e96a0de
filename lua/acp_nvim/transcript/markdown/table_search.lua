-- Finds the tables in a part of a chat.
require("acp_nvim.transcript.markdown.interpreted")()

local cut = require("acp_nvim.transcript.markdown.cut")
local layout = require("acp_nvim.transcript.markdown.table_layout")
local rows = require("acp_nvim.transcript.markdown.table_rows")

local M = {}

local api = vim.api
local BYTES = 16 * 1024 -- of a table that is shown in columns: laid out in some 40 ms; the rest is shown as written
local CELLS = 400 -- of such a table, for the same reason
M.ROWS = 200 -- of such a table

---@class acp.FoundTable
---@field first integer row in the buffer
---@field lines string[]
---@field columns integer
---@field base? string group of all text

---Whether a row of a block may belong to a table: it has a bar and is no code.
local function may_be_row(block, line, offset)
  if not line or not line:find("|", 1, true) or #line > BYTES then
    return false
  end
  local kind = cut.segment(block.cut, cut.at(block.cut, offset)).kind
  return not (kind and kind.code) and not line:find("^%s*```") and not line:find("^%s*~~~")
end

---Whether a header that is indented like code belongs to a list.
---@param above string[] lines above it
local function is_in_list(header, above, index)
  if not header:find("^    ") then
    return true
  end
  for at = index - 1, 1, -1 do
    local line = above[at]
    if line:find("^%s*[-+*]%s") or line:find("^%s*%d+[.)]%s") then
      return true
    elseif line:find("^%S") then
      return false
    end
  end
  return false
end

---@param lines string[] of a block, from a row that may be within a table
---@param index integer of a possible header
---@param is_row fun(index: integer): boolean
---@return integer? last index of the table's last line
---@return integer? columns
local function table_at(lines, index, is_row)
  local below = lines[index + 1]
  if not is_row(index) or not is_row(index + 1) or not rows.is_delimiter(below) or rows.is_delimiter(lines[index]) then
    return nil
  end
  local columns = is_in_list(lines[index], lines, index) and layout.columns(lines[index], below)
  local bytes, last = #lines[index] + #below, index + 1
  if not columns or bytes > BYTES then
    return nil
  end
  local most = math.min(M.ROWS, math.floor(CELLS / math.max(columns, 1)))
  while is_row(last + 1) and last - index < most and bytes + #lines[last + 1] <= BYTES do
    last = last + 1
    bytes = bytes + #lines[last]
  end
  return last, columns
end

---Finds the tables of a block that have a row between two rows of the buffer.
---@param begins integer row of the block
---@param ends integer row of the block
---@param first integer row
---@param last integer row
---@param is_open boolean its last line may go on
---@return acp.FoundTable[]
function M.find(bufnr, block, begins, ends, first, last, is_open)
  local found = {}
  local from = math.max(begins, first - M.ROWS)
  local lines = api.nvim_buf_get_lines(bufnr, from, math.min(ends - (is_open and 1 or 0), last + M.ROWS) + 1, false)
  local function is_row(index)
    return may_be_row(block, lines[index], from + index - 1 - begins)
  end
  local index = math.max(math.min(first - from + 1, #lines), 1)
  while index > 1 and is_row(index) do
    index = index - 1
  end
  while index < #lines and from + index - 1 <= last do
    local final, columns = table_at(lines, index, is_row)
    if final then
      local is_thought = block.kind == "thought"
      if not (is_thought and from + index - 1 == begins) then -- a fold would not hide it
        local base = is_thought and "AcpThought" or nil
        local written = vim.list_slice(lines, index, final)
        found[#found + 1] = { first = from + index - 1, lines = written, columns = columns, base = base }
      end
      while is_row(final + 1) do -- what is beyond the limits
        final = final + 1
      end
      index = final
    end
    index = index + 1
  end
  return found
end

return M
