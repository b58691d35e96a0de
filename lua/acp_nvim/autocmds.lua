-- Fires the User autocommands; a faulty one of the user's never breaks the caller.
local message = require("acp_nvim.message")

local M = {}

---@type { pattern: string, data: table }[] what is being fired, innermost last: they may nest
local firing = {}

---Vim script's own `:try`: an exception that leaves an autocommand would silence all that follow.
local GUARDED = [[
let g:acp_nvim_thrown = ""
try
  call v:lua.require'acp_nvim.autocmds'.run()
catch
  let g:acp_nvim_thrown = v:exception
endtry]]

---Only for this module.
function M.run()
  local one = firing[#firing]
  vim.api.nvim_exec_autocmds("User", { pattern = one.pattern, data = one.data, modeline = false })
end

---@param pattern string
---@param data table
function M.fire(pattern, data)
  if vim.fn.exists("#User") == 0 then
    return
  end
  table.insert(firing, { pattern = pattern, data = data })
  local ok, err = pcall(vim.api.nvim_exec2, GUARDED, {})
  table.remove(firing)
  local thrown = ok and vim.g.acp_nvim_thrown or err
  if thrown ~= "" then
    message.news(("an autocommand for User %s failed: %s"):format(pattern, thrown))
  end
end

return M
