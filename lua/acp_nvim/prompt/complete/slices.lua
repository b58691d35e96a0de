-- Does long work in short slices: the editor has its turn in between.

local M = {}

local SLICE_NS = 3e6 -- of a search for files before the editor has its turn again

---@param step fun(): boolean does a little, far less than a millisecond; true: that was all
function M.run(step)
  local function go_on()
    local until_ns = vim.uv.hrtime() + SLICE_NS
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
