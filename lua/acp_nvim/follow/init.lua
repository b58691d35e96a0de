-- Follows the agent: shows where it works in a code window, without taking the focus or moving the user's cursor.
local config = require("acp_nvim.config")
local cost = require("acp_nvim.follow.cost")
local guarded = require("acp_nvim.kernel.guarded")
local jump = require("acp_nvim.follow.jump")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.kernel.log")
local lookup = require("acp_nvim.buffers.lookup")
local sessions = require("acp_nvim.host.sessions")
local sign = require("acp_nvim.follow.sign")
local user = require("acp_nvim.follow.user")
local window = require("acp_nvim.follow.window")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@type boolean? state set by :AcpFollow, which takes precedence over the option
local override
---@type boolean the user has moved in the follow window
local paused = false
---@type table<integer, acp.Event> latest location of each session that `refresh` has not processed
local unshown = {}
---@type table<integer, acp.Event> latest location of each session with a running turn
local latest = {}
---@type table<integer, true> sessions with a running turn
local running = {}
---@type acp.Event? next location to show in the window
local waiting
---@type uv.uv_timer_t active while the next update has to wait
local throttle = assert(vim.uv.new_timer())
---@type uv.uv_timer_t active after a location that was slow to show
local cooldown = assert(vim.uv.new_timer())

---@return "auto"|boolean
local function enabled()
  if override ~= nil then
    return override
  end
  return config.get().follow.enabled
end

local function is_active()
  local is_on = enabled()
  if is_on == "auto" then
    is_on = sessions.of_buffer(api.nvim_get_current_buf()) ~= nil
  end
  return is_on and not paused
end

---@return "on"|"off"|"paused"
function M.state()
  return not enabled() and "off" or paused and "paused" or "on"
end

local function pause()
  paused = true
  window.show(nil, "paused")
end

local function show(location)
  local bufnr = lookup.find(location.path)
  local win = window.find(bufnr)
  if not win then
    return
  end
  bufnr = bufnr or jump.load(location.path)
  -- reading a file runs autocommands of others
  if not bufnr or not api.nvim_win_is_valid(win) or window.find(bufnr) ~= win then
    return
  end
  if not user.has_left(win) then
    jump.remember(win)
  end
  jump.show(win, bufnr, location.line)
  window.show(win)
  user.leave(win, pause)
end

local try

---Shows the next location later if this one was slow, for example because of syntax highlighting.
---@param ms number processor time that it took
local function cool_down(ms)
  cooldown:start(math.floor(ms / limits.follow_share), 0, vim.schedule_wrap(try))
end

function try()
  if cooldown:is_active() then
    return
  end
  if waiting and M.state() == "on" and not user.is_idle() then
    user.when_idle(try) -- also waits for the command-line window to close
    return
  end
  local location = waiting
  waiting = nil
  if location and is_active() then
    cost.measure(function()
      local ok, err = pcall(show, location)
      if not ok then
        log.write(("%s could not be shown: %s"):format(location.path, err))
      end
    end, cool_down)
  end
end

local function update(location)
  unshown[location.session] = nil
  latest[location.session] = location
  sign.set(location.session, location, not running[location.session])
  local current = sessions.current()
  if current and current.key == location.session then
    waiting = location -- follow only the agent of the current session
  end
end

---Shows the first location at once, then at most ten a second.
function M.refresh()
  if next(unshown) == nil or throttle:is_active() then
    return
  end
  throttle:start(limits.follow_pause_ms, 0, vim.schedule_wrap(M.refresh))
  for _, location in pairs(unshown) do
    guarded(update, location)
  end
  try()
end

---@param location acp.Event which `refresh` will show
function M.set_location(location)
  if sessions.get(location.session) then
    unshown[location.session] = location
  end
end

---@param key integer of the session
---@param is_subagent? boolean the turn was not begun by the user
function M.turn_began(key, is_subagent)
  unshown[key], latest[key], running[key] = nil, nil, true
  sign.clear(key)
  if not is_subagent and config.get().follow.resume == "turn" then
    paused = false
  end
end

---@param key integer of the session
function M.turn_ended(key)
  if unshown[key] then
    update(unshown[key])
    try()
  end
  latest[key], running[key] = nil, nil
  sign.over(key)
  window.show(nil)
end

---Ends the turns of all agents, since the host has ended.
function M.host_ended()
  for _, key in ipairs(sign.sessions()) do
    M.turn_ended(key)
  end
end

---Shows the present location of the agent.
local function resume()
  local current = sessions.current()
  cooldown:stop()
  paused = false
  waiting = current and latest[current.key]
  try()
end

---@param to? boolean nil: resume if paused, else toggle
---@return boolean on
function M.set(to)
  local was = M.state()
  if to then
    override = true
  elseif to == false or was == "on" then
    override = false
  elseif was == "off" then
    override = config.get().follow.enabled == false or nil
  end
  M.watch()
  if override == false then
    user.forget()
    window.show(nil)
  else
    resume()
  end
  return override ~= false
end

---Makes the current window the follow window; if it is that already, lets the plugin choose one again.
---@return string? problem
---@return boolean? chosen
function M.here()
  local win = api.nvim_get_current_win()
  local to = window.chosen() ~= win and win or nil
  local problem = window.choose(to)
  if problem then
    return problem
  end
  user.forget()
  if to and M.state() ~= "on" then
    M.set()
  end
  return nil, to ~= nil
end

---Starts to record which code window was used last.
M.watch = windows.watch

return M
