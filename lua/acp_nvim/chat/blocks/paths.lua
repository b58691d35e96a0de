-- Says where a file is, as briefly as the session's directory allows.
local Lines = require("acp_nvim.chat.blocks.lines")

local M = {}

---@param path any
---@param cwd? string
---@return string on one line; from the session's directory, when it is below it
function M.short(path, cwd)
  local line = Lines.one_line(path)
  if cwd and vim.startswith(line, cwd .. "/") then
    return line:sub(#cwd + 2)
  end
  return line
end

return M
