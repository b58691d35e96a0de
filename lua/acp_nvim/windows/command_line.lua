-- Neovim opens and leaves no window while the command-line window has the focus.
local message = require("acp_nvim.message")

local M = {}

---@return boolean it is so, which the user, who wants a window, is told
function M.refuses()
  local is_there = vim.fn.getcmdwintype() ~= ""
  if is_there then
    message.error("leave the command-line window first (:q)")
  end
  return is_there
end

return M
