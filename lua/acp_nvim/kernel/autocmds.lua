-- Fires autocommands, those of users by the event User, and contains errors in the user's handlers. Registers autocommands of one buffer.
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")

local M = {}

---@type { event: string, pattern: string, data: table }[] events being fired, the innermost last: they may nest
local firing = {}

---@type table<string, string> the last reported error of each pattern: the same error is not reported again
local reported = {}

---Catches in Vim script: after an exception that leaves an autocommand, Neovim skips the autocommands that follow.
local GUARDED = [[
let g:acp_nvim_thrown = ""
try
  call v:lua.require'acp_nvim.kernel.autocmds'.run()
catch
  let g:acp_nvim_thrown = v:exception
endtry]]

---@type table<string, boolean>? cached patterns of the existing User autocommands
local cached
local is_batch = false -- the cache stays valid within a batch: no other code runs meanwhile

---@return table<string, boolean>
local function listeners()
  local found = {}
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ event = "User" })) do
    found[autocmd.pattern:find("[^%w_]") and "*" or autocmd.pattern] = true
  end
  return found
end

---Begins or ends a batch of events.
---@param begins boolean
function M.batch(begins)
  cached, is_batch = nil, begins
end

---@param pattern string
---@return boolean an autocommand exists for the event
function M.is_heard(pattern)
  local found = cached or listeners()
  cached = is_batch and found or nil
  return found[pattern] or found["*"] or false
end

---Runs the autocommands of the innermost event. Only for `GUARDED`, which cannot pass arguments.
function M.run()
  local event = firing[#firing]
  vim.api.nvim_exec_autocmds(event.event, { pattern = event.pattern, data = event.data, modeline = false })
end

local function fire(event, pattern, data)
  cached = nil -- the handlers may create autocommands
  table.insert(firing, { event = event, pattern = pattern, data = data })
  local ok, err = pcall(vim.api.nvim_exec2, GUARDED, {})
  table.remove(firing)
  local thrown = ok and vim.g.acp_nvim_thrown or err
  if thrown ~= "" and reported[pattern] ~= thrown then
    reported[pattern] = thrown
    message.news(("an autocommand for %s %s failed: %s"):format(event, pattern, thrown))
  end
end

---@param pattern string
---@param data table
function M.fire(pattern, data)
  if M.is_heard(pattern) then
    fire("User", pattern, data)
  end
end

---@param event string of Neovim; nothing happens where this Neovim does not have it
---@param pattern string
---@param data table
function M.fire_event(event, pattern, data)
  if vim.fn.exists("##" .. event) == 1 and #vim.api.nvim_get_autocmds({ event = event }) > 0 then
    fire(event, pattern, data)
  end
end

---Replaces the autocommands that a group has in a buffer.
---@param group string its name
---@param handlers table<string, fun(bufnr: integer)> by events, separated by blanks
function M.on_buffer(group, bufnr, handlers)
  local id = vim.api.nvim_create_augroup(group, { clear = false })
  vim.api.nvim_clear_autocmds({ group = id, buffer = bufnr })
  for events, run in pairs(handlers) do
    vim.api.nvim_create_autocmd(vim.split(events, " "), {
      group = id,
      buffer = bufnr,
      callback = function()
        run(bufnr)
      end,
    })
  end
end

return M
