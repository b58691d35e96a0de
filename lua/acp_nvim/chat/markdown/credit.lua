-- Says when there is time to parse code: a screen at once when it was quiet, a small part of the time while text comes in.
require("acp_nvim.chat.markdown.interpreted")()

local M = {}

local CODE_CREDIT_NS = 10e6 -- of code that is parsed at once after a pause: about a screen, within a frame
local CODE_SHARE = 0.5 -- of the time for code, while nothing streams: scrolling fast
local CODE_SHARE_STREAMING = 0.0025 -- the same while text comes in: the editor has other things to do
local STREAMING_NS = 200e6 -- without new text until nothing streams
local CODE_WAIT_MS = 50 -- until code that had to wait is tried again

local left = CODE_CREDIT_NS -- negative: to be waited for
local counted = 0 -- when `left` was right
local streamed = -math.huge -- when text came in
---@type table<"time"|"quiet", fun()[]> who waits for what
local waiting = { time = {}, quiet = {} }
---@type table<"time"|"quiet", boolean>
local timers = {}

---@return number ns that there are now
local function now_left()
  local now = vim.uv.hrtime()
  local share = now - streamed < STREAMING_NS and CODE_SHARE_STREAMING or CODE_SHARE
  left = math.min(CODE_CREDIT_NS, left + (now - counted) * share)
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
  return vim.uv.hrtime() - streamed >= STREAMING_NS
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
    return has, -left / (M.quiet() and CODE_SHARE or CODE_SHARE_STREAMING)
  end,
  quiet = function()
    return M.quiet(), streamed + STREAMING_NS - vim.uv.hrtime()
  end,
}

---@param what "time"|"quiet"
---@param ms integer
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

---Calls `run` when there is time again, or when it is quiet.
---@param what "time"|"quiet"
---@param run fun()
function M.wait(what, run)
  table.insert(waiting[what], run)
  try_later(what, CODE_WAIT_MS)
end

return M
