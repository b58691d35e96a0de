-- The timer that animates the symbol of a running turn; it runs only while the symbol is visible.
local guarded = require("acp_nvim.kernel.guarded")

local M = {}

local SPINNER_MS = 250 -- between two ticks: fast enough to show that work goes on
local FRAMES = { "◐", "◓", "◑", "◒" }

local frame = 0
---@type uv.uv_timer_t?
local timer
local is_due = false

---@return string current symbol
function M.frame()
  return FRAMES[frame % #FRAMES + 1]
end

---@return boolean whether the timer runs
function M.turns()
  return timer ~= nil
end

---Starts the timer, which runs until `draw` returns false.
---@param draw fun(): boolean
function M.run(draw)
  if timer then
    return
  end
  timer = assert(vim.uv.new_timer())
  timer:start(SPINNER_MS, SPINNER_MS, function()
    if is_due then -- Neovim is busy: queue one tick only
      return
    end
    is_due = true
    vim.schedule(function()
      is_due = false
      frame = frame + 1
      local is_visible = false
      guarded(function()
        is_visible = draw()
      end)
      if timer and not is_visible then
        timer:stop()
        timer:close()
        timer = nil
      end
    end)
  end)
end

return M
