-- Formats texts for one line of limited width.
local characters = require("acp_nvim.render.characters")

local M = {}

---@return string with a blank in place of control characters and line ends, and hidden characters made visible; ""
---for anything but a string
function M.plain(text)
  return type(text) == "string" and characters.text(vim.trim((text:gsub("%c+", " ")))) or ""
end

---@return string with commas between thousands
function M.count(count)
  return (tostring(count):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

---@return string as much of it as fits; ends with "…" when cut
function M.cut(text, cells)
  if vim.api.nvim_strwidth(text) <= cells then
    return text
  end
  return cells > 0 and vim.fn.printf("%.*S…", cells - 1, text) or ""
end

return M
