-- Fires the User autocommands; a faulty one of the user's never breaks the caller.
local message = require("acp_nvim.message")

local M = {}

---@param pattern string
---@param data table
function M.fire(pattern, data)
  local ok, err = pcall(vim.api.nvim_exec_autocmds, "User", { pattern = pattern, data = data, modeline = false })
  if not ok then
    message.news(("an autocommand for User %s failed: %s"):format(pattern, err))
  end
end

return M
