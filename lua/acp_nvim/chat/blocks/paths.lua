-- Says where a file is, as briefly as the session's directory allows.
local characters = require("acp_nvim.chat.blocks.characters")

local M = {}

---All of a text on one line, for names that must not hide their end.
---@param text any
---@return string
function M.whole_line(text)
  return (characters.text(tostring(text or "")):gsub("\n", "^J"))
end

---@param path any
---@param cwd? string
---@return string on one line; from the session's directory, when it is below it
function M.short(path, cwd)
  local line = M.whole_line(path)
  if cwd and vim.startswith(line, cwd .. "/") then
    return line:sub(#cwd + 2)
  end
  return line
end

return M
