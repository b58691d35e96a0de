-- Does long work in short slices: the editor has its turn in between.
local limits = require("acp_nvim.limits")

local M = {}

---@param step fun(): boolean does a little, far less than a millisecond; true: that was all
function M.run(step)
  local function go_on()
    local until_ns = vim.uv.hrtime() + limits.slice_ns
    repeat
      if step() then
        return
      end
    until vim.uv.hrtime() > until_ns
    vim.defer_fn(go_on, 1) -- a timer and not a scheduled function: keys come before it
  end
  go_on()
end

return M
