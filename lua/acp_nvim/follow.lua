-- Follows the agent: shows in a code window where it works; never takes the focus, never moves the user.
local config = require("acp_nvim.config")
local cost = require("acp_nvim.follow.cost")
local guarded = require("acp_nvim.host.guarded")
local jump = require("acp_nvim.follow.jump")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.log")
local lookup = require("acp_nvim.buffers.lookup")
local moment = require("acp_nvim.follow.moment")
local sessions = require("acp_nvim.sessions")
local sign = require("acp_nvim.follow.sign")
local user = require("acp_nvim.follow.user")
local window = require("acp_nvim.follow.window")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@type boolean? what :AcpFollow said
local override
---@type boolean the user has moved in the window that follows
local paused = false
---@type table<integer, acp.Event> the last location of each session that is not shown yet
local news = {}
---@type table<integer, acp.Event> where the agents were last, while their turns run
local last = {}
---@type table<integer, true> sessions with a turn that runs
local running = {}
---@type acp.Event? that waits to be shown in the window
local waiting
---@type uv.uv_timer_t running while nothing more may be shown
local timer = assert(vim.uv.new_timer())
---@type uv.uv_timer_t running after a place that took long
local rest = assert(vim.uv.new_timer())

---@return "auto"|boolean
local function enabled()
  if override ~= nil then
    return override
  end
  return config.get().follow.enabled
end

---@return boolean
local function wanted()
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

---@param location acp.Event
local function show(location)
  local bufnr = lookup.find(location.path)
  local win = window.find(bufnr)
  if not win then
    return
  end
  bufnr = bufnr or jump.load(location.path)
  -- what reads a file runs autocommands of others
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

---Files whose colours take long are shown less often.
---@param ms number that a place took
local function rest_after(ms)
  rest:start(math.floor(ms / limits.follow_share), 0, vim.schedule_wrap(try))
end

function try()
  if rest:is_active() then
    return
  end
  if waiting and M.state() == "on" and not moment.is_quiet() then
    moment.when_quiet(try) -- also when the command-line window has the focus, which is not for long
    return
  end
  local location = waiting
  waiting = nil
  if location and wanted() then
    cost.measure(function()
      local ok, err = pcall(show, location)
      if not ok then
        log.write(("%s could not be shown: %s"):format(location.path, err))
      end
    end, rest_after)
  end
end

---@param location acp.Event
local function place(location)
  news[location.session] = nil
  last[location.session] = location
  sign.set(location.session, location, not running[location.session])
  local current = sessions.current()
  if current and current.key == location.session then
    waiting = location -- several agents at once: that one whom the user talks to
  end
end

---The first of many is shown at once, then ten a second.
function M.refresh()
  if next(news) == nil or timer:is_active() then
    return
  end
  timer:start(limits.follow_pause_ms, 0, vim.schedule_wrap(M.refresh))
  for _, location in pairs(news) do
    guarded(place, location)
  end
  try()
end

---@param location acp.Event to be shown by `refresh`
function M.told(location)
  if sessions.get(location.session) then
    news[location.session] = location
  end
end

---@param key integer of the session
function M.turn_began(key)
  news[key], last[key], running[key] = nil, nil, true
  sign.clear(key)
  if config.get().follow.resume == "turn" then
    paused = false
  end
end

---@param key integer of the session
function M.turn_ended(key)
  if news[key] then
    place(news[key])
    try()
  end
  last[key], running[key] = nil, nil
  sign.over(key)
  window.show(nil)
end

---The host is gone, and all agents with it.
function M.lost()
  for _, key in ipairs(sign.sessions()) do
    M.turn_ended(key)
  end
end

---Shows where the agent is now.
local function resume()
  local current = sessions.current()
  rest:stop()
  paused = false
  waiting = current and last[current.key]
  try()
end

---@param to? boolean nil: goes on where it was paused, else the other way round
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

---The current window is to show where the agent is; or no more, if it was.
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

---Begins to notice which code window is used.
M.watch = windows.watch

return M
