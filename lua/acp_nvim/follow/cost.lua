-- Measures the processor time for showing a location, including the next redraw, which may have to parse a file.
-- Elapsed time would count the load of other processes.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.cost")

---@type fun(ms: number)? called after the next redraw
local on_redraw
local spent, began = 0, 0

---@return number ms of processor time that Neovim has used so far
local function used()
  local usage = assert(vim.uv.getrusage())
  local user, system = usage.utime, usage.stime
  return (user.sec + system.sec) * 1000 + (user.usec + system.usec) / 1000
end

api.nvim_set_decoration_provider(NS, {
  on_start = function()
    if on_redraw then
      began = used()
    end
    return on_redraw ~= nil
  end,
  on_end = function()
    local callback = on_redraw
    on_redraw = nil
    if callback then
      callback(spent + used() - began)
    end
  end,
})

---@param done fun(ms: number) called after the redraw, where nothing may be changed
function M.measure(run, done)
  local from = used()
  run()
  spent, on_redraw = used() - from, done
end

return M
