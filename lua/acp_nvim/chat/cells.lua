-- Texts of others made fit for one line of a few cells.
local M = {}

---@param text any
---@return string without line ends and control characters
function M.plain(text)
  return type(text) == "string" and vim.trim((text:gsub("%c+", " "))) or ""
end

---@param text string
---@param cells integer
---@return string as much of it as fits; where something is missing it ends with "…"
function M.cut(text, cells)
  if vim.api.nvim_strwidth(text) <= cells then
    return text
  end
  local count = math.min(vim.fn.strchars(text, true), math.max(cells - 1, 0))
  local short = vim.fn.strcharpart(text, 0, count, true)
  while count > 0 and vim.api.nvim_strwidth(short) > cells - 1 do
    count = count - 1
    short = vim.fn.strcharpart(text, 0, count, true)
  end
  return cells > 0 and short .. "…" or ""
end

return M
