-- Says when there is time to parse code: a screen at once when it was quiet, a small part of the time while text comes in.
local limits = require("acp_nvim.limits")

local M = {}

local left = limits.code_credit_ns -- negative: to be waited for
local counted = 0 -- when `left` was right
local streamed = -math.huge -- when text came in
local waiting = {} ---@type fun()[]
local timer ---@type uv.uv_timer_t?

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

---@return boolean
function M.has()
  return now_left() > 0
end

---@param ns number that were used
function M.spend(ns)
  left = left - ns
end

---Calls `run` when there is time again.
---@param run fun()
function M.wait(run)
  waiting[#waiting + 1] = run
  if timer then
    return
  end
  local ms = math.ceil(math.max(-left, 0) / limits.code_share_streaming / 1e6)
  timer = vim.defer_fn(function()
    local due = waiting
    waiting, timer = {}, nil
    for _, one in ipairs(due) do
      one()
    end
  end, math.min(math.max(ms, limits.code_wait_ms), limits.code_wait_ms * 10))
end

return M
