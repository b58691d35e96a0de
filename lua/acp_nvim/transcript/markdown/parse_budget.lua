-- Limits the time for parsing code: a screen at once after a pause, a small share of the time while text arrives.
require("acp_nvim.transcript.markdown.interpreted")()

local M = {}

local CODE_CREDIT_NS = 10e6 -- nanoseconds for parsing at once after a pause: about a screen, within a frame
local CODE_SHARE = 0.5 -- share of the time while no text arrives, as in fast scrolling
local CODE_SHARE_STREAMING = 0.0025 -- share of the time while text arrives
local STREAMING_NS = 200e6 -- nanoseconds without new text after which no text counts as arriving
local CODE_WAIT_MS = 50 -- before waiting code is tried again

local left = CODE_CREDIT_NS -- in nanoseconds; negative after an overrun
local counted = 0 -- when `left` was updated
local streamed = -math.huge -- when text arrived last
---@type table<"time"|"quiet", fun()[]> callbacks by the condition they wait for
local waiting = { time = {}, quiet = {} }
---@type table<"time"|"quiet", boolean>
local timers = {}

---@return boolean no text has arrived for a while
function M.is_quiet()
  return vim.uv.hrtime() - streamed >= STREAMING_NS
end

---@return boolean some time is left now
function M.is_available()
  local now = vim.uv.hrtime()
  left = math.min(CODE_CREDIT_NS, left + (now - counted) * (M.is_quiet() and CODE_SHARE or CODE_SHARE_STREAMING))
  counted = now
  return left > 0
end

---Notes that text has arrived.
function M.streaming()
  M.is_available() -- counts the time until now
  streamed = counted
end

---@param ns number nanoseconds spent
function M.spend(ns)
  left = left - ns
end

---@type table<"time"|"quiet", fun(): boolean, number> whether it holds, else after how many nanoseconds it may
local conditions = {
  time = function()
    local has = M.is_available()
    return has, -left / (M.is_quiet() and CODE_SHARE or CODE_SHARE_STREAMING)
  end,
  quiet = function()
    return M.is_quiet(), streamed + STREAMING_NS - vim.uv.hrtime()
  end,
}

local function try_later(what, ms)
  if timers[what] then
    return
  end
  timers[what] = true
  vim.defer_fn(function()
    timers[what] = false
    local now, rest = conditions[what]()
    if not now then
      return try_later(what, math.min(math.max(math.ceil(rest / 1e6), CODE_WAIT_MS), CODE_WAIT_MS * 10))
    end
    local due = waiting[what]
    waiting[what] = {}
    for _, run in ipairs(due) do
      run()
    end
  end, ms)
end

---Calls `run` once there is time again, or once no text arrives.
---@param what "time"|"quiet"
---@param run fun()
function M.wait(what, run)
  table.insert(waiting[what], run)
  try_later(what, CODE_WAIT_MS)
end

return M
