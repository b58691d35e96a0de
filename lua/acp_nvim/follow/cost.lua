-- Measures what a place costs the editor: to show it, and the next drawing of the screen, which may have to parse a file.
-- In processor time: on a machine with other work the clock would say that a small file takes seconds.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.cost")

---@type fun(ms: number)? who waits for the drawing
local told
local spent, began = 0, 0

---@return number ms of processor time that Neovim has used
local function used()
  local usage = assert(vim.uv.getrusage())
  local user, system = usage.utime, usage.stime
  return (user.sec + system.sec) * 1000 + (user.usec + system.usec) / 1000
end

api.nvim_set_decoration_provider(NS, {
  on_start = function()
    if told then
      began = used()
    end
    return told ~= nil
  end,
  on_end = function()
    local tell = told
    told = nil
    if tell then
      tell(spent + used() - began)
    end
  end,
})

---@param run fun()
---@param tell fun(ms: number) called when the screen was drawn, from where nothing may be changed
function M.measure(run, tell)
  local from = used()
  run()
  spent, told = used() - from, tell
end

return M
