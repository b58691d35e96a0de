-- Runs tasks between the user's keys, a few milliseconds at a time.
local log = require("acp_nvim.kernel.log")

local M = {}

local SLICE_NS = 2e6 -- after which no further task begins before the next pause: the longest tasks take as long again
local PAUSE_MS = 5 -- between slices, for keys and redraws

---@type fun()[]
local tasks = {}
local next_task = 1
local is_scheduled = false

local schedule

local function run_slice()
  is_scheduled = false
  local begun = vim.uv.hrtime()
  while tasks[next_task] and vim.uv.hrtime() - begun < SLICE_NS do
    local task = tasks[next_task]
    next_task = next_task + 1
    local ok, err = pcall(task)
    if not ok then
      log.write("a task in idle time failed: " .. tostring(err))
    end
  end
  if tasks[next_task] then
    schedule()
  else
    tasks, next_task = {}, 1
  end
end

function schedule()
  if not is_scheduled then
    is_scheduled = true
    vim.defer_fn(run_slice, PAUSE_MS)
  end
end

---Schedules a task, which runs after those scheduled before.
---@param task fun() takes at most a few milliseconds
function M.run(task)
  tasks[#tasks + 1] = task
  schedule()
end

return M
