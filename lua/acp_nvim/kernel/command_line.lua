-- Checks for the command-line window: Neovim opens and leaves no windows while it has the focus.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")

local M = {}

---@return boolean the command-line window has the focus; since Neovim 0.13 others may have it while it is open
function M.has_focus()
  return vim.fn.getcmdwintype() ~= "" and vim.fn.win_gettype() == "command"
end

---@return boolean the command-line window has the focus; the user was told to leave it
function M.refuses()
  local has_focus = M.has_focus()
  if has_focus then
    message.error("leave the command-line window first (:q)")
  end
  return has_focus
end

return M
