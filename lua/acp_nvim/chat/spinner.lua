-- The one timer that turns what shows that a turn runs; it ticks only while somebody sees it.
local guarded = require("acp_nvim.guarded")
local limits = require("acp_nvim.limits")

local M = {}

local FRAMES = { "◐", "◓", "◑", "◒" }

local frame = 0
---@type uv.uv_timer_t?
local timer
local is_due = false

---@return string what to show now
function M.frame()
  return FRAMES[frame % #FRAMES + 1]
end

---@return boolean
function M.turns()
  return timer ~= nil
end

local function stop()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

---Turns until `draw` says that nobody sees it.
---@param draw fun(): boolean
function M.run(draw)
  if timer then
    return
  end
  timer = assert(vim.uv.new_timer())
  timer:start(limits.spinner_ms, limits.spinner_ms, function()
    if is_due then -- Neovim is busy: one tick waits for it, not all of them
      return
    end
    is_due = true
    vim.schedule(function()
      is_due = false
      frame = frame + 1
      local goes_on = false
      guarded(function()
        goes_on = draw()
      end)
      if timer and not goes_on then
        stop()
      end
    end)
  end)
end

return M
