-- Checks for the command-line window: Neovim opens and leaves no windows while it has the focus.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.message")

local M = {}

---@return boolean the command-line window has the focus; the user was told to leave it
function M.refuses()
  local is_there = vim.fn.getcmdwintype() ~= ""
  if is_there then
    message.error("leave the command-line window first (:q)")
  end
  return is_there
end

return M
