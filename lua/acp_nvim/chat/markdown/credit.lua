-- Says when there is time to parse code: a screen at once when it was quiet, a small part of the time while text comes in.
require("acp_nvim.chat.markdown.interpreted")()

local limits = require("acp_nvim.limits")

local M = {}

local left = limits.code_credit_ns -- negative: to be waited for
local counted = 0 -- when `left` was right
local streamed = -math.huge -- when text came in
---@type table<"time"|"quiet", fun()[]> who waits for what
local waiting = { time = {}, quiet = {} }
---@type table<"time"|"quiet", boolean>
local timers = {}

---@return number ns that there are now
local function now_left()
  local now = vim.uv.hrtime()
  local share = now - streamed < limits.streaming_ns and limits.code_share_streaming or limits.code_share
  left = math.min(limits.code_credit_ns, left + (now - counted) * share)
  counted = now
  return left
end

---Text came in: the time is needed for it.
function M.streaming()
  now_left()
  streamed = counted
end

---@return boolean no text has come in for a while
function M.quiet()
  return vim.uv.hrtime() - streamed >= limits.streaming_ns
end

---@return boolean
function M.has()
  return now_left() > 0
end

---@param ns number that were used
function M.spend(ns)
  left = left - ns
end

---@type table<"time"|"quiet", fun(): boolean, number> whether it is so, and else in how many ns it may be
local conditions = {
  time = function()
    local has = M.has()
    return has, -left / (M.quiet() and limits.code_share or limits.code_share_streaming)
  end,
  quiet = function()
    return M.quiet(), streamed + limits.streaming_ns - vim.uv.hrtime()
  end,
}

---@param what "time"|"quiet"
local function try(what)
  local now, rest = conditions[what]()
  if not now then
    timers[what] = true
    local ms = math.ceil(rest / 1e6)
    vim.defer_fn(function()
      timers[what] = false
      try(what)
    end, math.min(math.max(ms, limits.code_wait_ms), limits.code_wait_ms * 10))
    return
  end
  local due = waiting[what]
  waiting[what] = {}
  for _, run in ipairs(due) do
    run()
  end
end

---Calls `run` when there is time again, or when it is quiet.
---@param what "time"|"quiet"
---@param run fun()
function M.wait(what, run)
  table.insert(waiting[what], run)
  if not timers[what] then
    timers[what] = true
    vim.defer_fn(function()
      timers[what] = false
      try(what)
    end, limits.code_wait_ms)
  end
end

return M
