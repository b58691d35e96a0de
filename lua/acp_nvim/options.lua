-- What can be switched in sessions: modes, models and other options of their agents. The host knows; this asks it.
local cells = require("acp_nvim.chat.cells")
local config = require("acp_nvim.config")
local message = require("acp_nvim.message")
local requests = require("acp_nvim.host.requests")

local M = {}

---@type table<integer, fun()[]> what is to be done when the options of a session are told, by its key
local waiting = {}
---@type table<integer, table<string, string|boolean>> what was asked for here, by session and option
local asked = {}

---@param options acp.ConfigOption[]
---@param what string an id, else a category, else a name
---@return acp.ConfigOption?
function M.find(options, what)
  local word = what:lower()
  for _, fits in ipairs({
    function(option)
      return option.id == what
    end,
    function(option)
      return option.category == what
    end,
    function(option)
      return option.name:lower() == word or option.id:lower() == word
    end,
  }) do
    local found = vim.iter(options):find(fits)
    if found then
      return found
    end
  end
end

---@param option acp.ConfigOption
---@return string|boolean|nil what it is, or is about to be
function M.wanted(option)
  if option.changing ~= nil then
    return option.changing
  end
  return option.current
end

---@param option acp.ConfigOption
---@param value string|boolean|nil
---@return string as the agent calls it
function M.name_of(option, value)
  if type(value) == "boolean" then
    return value and "on" or "off"
  end
  for _, one in ipairs(option.values or {}) do
    if one.value == value then
      return cells.plain(one.name)
    end
  end
  return value ~= nil and cells.plain(tostring(value)) or "?"
end

---@param session acp.Session
---@return boolean
local function is_seen(session)
  return session.bufnr ~= nil and #vim.fn.win_findbuf(session.bufnr) > 0
end

---Who has asked for it elsewhere hears that it is done; what fails is told by the host.
---@param session acp.Session
local function tell_done(session)
  for id, value in pairs(asked[session.key] or {}) do
    local option = M.find(session.options, id)
    if option and option.changing == nil then
      asked[session.key][id] = nil
      if option.current == value and not is_seen(session) then
        local who = cells.plain(session.agent or "the agent")
        message.info(("%s: %s is %s"):format(who, cells.plain(option.name), M.name_of(option, value)))
      end
    end
  end
end

---@param session acp.Session
---@param event acp.Event of type config
function M.told(session, event)
  session.options = event.options or {}
  tell_done(session)
  local runs = waiting[session.key] or {}
  waiting[session.key] = nil
  for _, run in ipairs(runs) do
    vim.schedule(run) -- a question must not keep the host waiting
  end
end

---@param session acp.Session
---@return boolean
local function is_running(session)
  return session.status.state ~= "stopped" and session.status.state ~= "failed"
end

---Does it with the options of the session; its agent is started for them when nobody has told any yet.
---@param session acp.Session
---@param run fun(options: acp.ConfigOption[])
function M.with_options(session, run)
  if session.options then
    return run(session.options)
  elseif not requests.open(session, true) then
    return
  end
  local win, mode = vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode
  message.info(("%s is asked what can be set"):format(cells.plain(session.agent or "the agent")))
  waiting[session.key] = { -- who asks again asks for something else
    function()
      if vim.api.nvim_get_current_win() == win and vim.api.nvim_get_mode().mode == mode then
        run(session.options)
      else
        message.info("what can be set is known now: :AcpConfig")
      end
    end,
  }
end

---@param option acp.ConfigOption
---@param words string|boolean
---@return string|boolean|nil value nil where only the host can tell
local function value_meant(option, words)
  if type(words) == "boolean" then
    return words
  elseif option.kind == "boolean" then
    return ({ on = true, off = false })[words]
  end
  for _, one in ipairs(option.values or {}) do
    if one.value == words or one.name == words then
      return one.value
    end
  end
end

---@param session acp.Session its agent is started if need be
---@param what string of an option
---@param value string|boolean
---@param keep? boolean new sessions of the agent are to begin with it; else the user's options say it
---@return boolean sent
function M.set(session, what, value, keep)
  if not is_running(session) and not requests.open(session, true) then
    return false
  end
  keep = keep or config.get().config.keep
  local option = M.find(session.options or {}, what)
  local meant = option and value_meant(option, value)
  if meant ~= nil then
    option.changing = meant -- another key may come before the host has said so
    asked[session.key] = asked[session.key] or {}
    asked[session.key][option.id] = meant
  end
  return requests.send(session, "config_set", { option = what, value = value, keep = keep })
end

---The next value in the agent's order; of what is on or off, the other one.
---@param session acp.Session
---@param what string of an option
---@param keep? boolean
function M.next(session, what, keep)
  M.with_options(session, function(options)
    local option = M.find(options, what)
    if option and option.kind == "boolean" then
      return M.set(session, option.id, not M.wanted(option), keep)
    elseif not option or #(option.values or {}) == 0 then
      return message.info(("%s offers no %s to choose"):format(cells.plain(session.agent or "the agent"), what))
    end
    local at = 0
    for index, one in ipairs(option.values) do
      at = one.value == M.wanted(option) and index or at
    end
    M.set(session, option.id, option.values[at % #option.values + 1].value, keep)
  end)
end

---@param session acp.Session whose agent's new sessions are to begin as the agent likes
---@return boolean sent
function M.forget(session)
  return (is_running(session) or requests.open(session, true)) and requests.send(session, "config_forget")
end

return M
