-- The one timer that turns what shows that a turn runs; it ticks only while somebody sees it.
local guarded = require("acp_nvim.host.guarded")

local M = {}

local SPINNER_MS = 250 -- between two ticks: that something goes on is seen at a glance
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
  timer:start(SPINNER_MS, SPINNER_MS, function()
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
