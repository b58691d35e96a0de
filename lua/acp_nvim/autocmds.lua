-- Fires the User autocommands; a faulty one of the user's never breaks the caller.
local message = require("acp_nvim.message")

local M = {}

---@type { pattern: string, data: table }[] what is being fired, innermost last: they may nest
local firing = {}

---@type table<string, string> by pattern, what its autocommands failed with: told once, not for each event of a flood
local told = {}

---Vim script's own `:try`: an exception that leaves an autocommand would silence all that follow.
local GUARDED = [[
let g:acp_nvim_thrown = ""
try
  call v:lua.require'acp_nvim.autocmds'.run()
catch
  let g:acp_nvim_thrown = v:exception
endtry]]

---@type table<string, boolean>? patterns that somebody listens to; nil when it is not known now
local heard
local keeps = false -- that is kept in mind: nobody else runs meanwhile

---@return table<string, boolean>
local function listeners()
  local found = {}
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ event = "User" })) do
    found[autocmd.pattern:find("[^%w_]") and "*" or autocmd.pattern] = true
  end
  return found
end

---A batch of events begins or ends; in it nothing but these autocommands can add others.
---@param is boolean
function M.batch(is)
  heard, keeps = nil, is
end

---@param pattern string
---@return boolean somebody listens
function M.is_heard(pattern)
  local found = heard or listeners()
  heard = keeps and found or nil
  return found[pattern] or found["*"] or false
end

---Only for this module.
function M.run()
  local one = firing[#firing]
  vim.api.nvim_exec_autocmds("User", { pattern = one.pattern, data = one.data, modeline = false })
end

---@param pattern string
---@param data table
function M.fire(pattern, data)
  if not M.is_heard(pattern) then
    return
  end
  heard = nil -- who is called may begin to listen
  table.insert(firing, { pattern = pattern, data = data })
  local ok, err = pcall(vim.api.nvim_exec2, GUARDED, {})
  table.remove(firing)
  local thrown = ok and vim.g.acp_nvim_thrown or err
  if thrown ~= "" and told[pattern] ~= thrown then
    told[pattern] = thrown
    message.news(("an autocommand for User %s failed: %s"):format(pattern, thrown))
  end
end

return M
