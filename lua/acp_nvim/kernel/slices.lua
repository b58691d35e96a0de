-- Runs long tasks in short slices, so that the editor stays responsive.

local M = {}

local SLICE_NS = 3e6 -- of a task before the editor can handle events

---@param step fun(): boolean one step of far less than a millisecond; returns true when the task is done
function M.run(step)
  local function go_on()
    local until_ns = vim.uv.hrtime() + SLICE_NS
    repeat
      if step() then
        return
      end
    until vim.uv.hrtime() > until_ns
    vim.defer_fn(go_on, 1) -- a timer, not vim.schedule: pending keys are handled first
  end
  go_on()
end

return M
