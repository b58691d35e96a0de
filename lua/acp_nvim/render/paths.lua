-- Formats paths for the chat.
local characters = require("acp_nvim.render.characters")

local M = {}

---Puts a text on one line without cutting it, so that a name cannot hide its end.
function M.whole_line(text)
  return (characters.text(tostring(text or "")):gsub("\n", "^J"))
end

---@return string on one line; relative to the session's directory if it is below it
function M.short(path, cwd)
  local line = M.whole_line(path)
  if cwd and vim.startswith(line, cwd .. "/") then
    return line:sub(#cwd + 2)
  end
  return line
end

return M
