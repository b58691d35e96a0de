-- Bounds line and column numbers that come from agents, programs and texts: they may be any number, or none at all.
local M = {}

---@param number any 1-based
---@param most integer at least 1
---@return integer from 1 to `most`; 1 for what is not a number
function M.within(number, most)
  local value = tonumber(number)
  return value and value > 1 and math.floor(math.min(value, most)) or 1 -- NaN is not greater than 1
end

---@param bufnr integer loaded
---@param line any 1-based
---@param col? any 1-based byte
---@return integer line of the buffer, 1-based
---@return integer col byte of that line, 0-based
function M.in_buffer(bufnr, line, col)
  local row = M.within(line, vim.api.nvim_buf_line_count(bufnr))
  local text = vim.api.nvim_buf_get_lines(bufnr, row - 1, row, true)[1]
  return row, M.within(col, #text + 1) - 1
end

return M
