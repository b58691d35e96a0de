-- Texts of others made fit for one line of a few cells.
local M = {}

---@param text any
---@return string without line ends and control characters
function M.plain(text)
  return type(text) == "string" and vim.trim((text:gsub("%c+", " "))) or ""
end

---@param count integer
---@return string with commas between thousands
function M.count(count)
  return (tostring(count):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

---@param text string
---@param cells integer
---@return string as much of it as fits; where something is missing it ends with "…"
function M.cut(text, cells)
  if vim.api.nvim_strwidth(text) <= cells then
    return text
  end
  return cells > 0 and vim.fn.printf("%.*S…", cells - 1, text) or ""
end

return M
