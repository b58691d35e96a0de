-- Reads and sets the config options of sessions: modes, models and other options of their agents.
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local requests = require("acp_nvim.host.requests")
local sending = require("acp_nvim.prompt.sending")

local M = {}

---@type table<integer, fun()> by the session's key: called when its options are known
local waiting = {}
---@type table<integer, table<string, string|boolean>> values that were requested here, by session and option
local requested = {}

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

---@param value string|boolean|nil
---@return string name of the value
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

---Takes the options of a session. Shows a message for values that were set while the chat is hidden.
---@param event acp.Event of type config
function M.received(session, event)
  session.options = event.options or {}
  local is_hidden = session.bufnr == nil or #vim.fn.win_findbuf(session.bufnr) == 0
  for id, value in pairs(requested[session.key] or {}) do
    local option = M.find(session.options, id)
    if option and option.changing == nil then
      requested[session.key][id] = nil
      if option.current == value and is_hidden then -- the host reports failures
        local agent = cells.plain(session.agent or "the agent")
        message.info(("%s: %s is %s"):format(agent, cells.plain(option.name), M.name_of(option, value)))
      end
    end
  end
  local run = waiting[session.key]
  waiting[session.key] = nil
  if run then
    vim.schedule(run) -- a dialog would make the host wait
  end
end

---@return boolean the agent runs, or was started
local function ensure_agent(session)
  local state = session.status.state
  return state ~= "stopped" and state ~= "failed" or sending.open(session, true)
end

---Calls `run` with the options of the session. Starts its agent when they are not known.
---@param run fun(options: acp.ConfigOption[])
function M.with_options(session, run)
  if session.options then
    return run(session.options)
  elseif not sending.open(session, true) then
    return
  end
  local on_answer = late.wait()
  message.info(("asking %s for its options"):format(cells.plain(session.agent or "the agent")))
  waiting[session.key] = function() -- replaces that of an earlier command
    on_answer(function()
      run(session.options)
    end, "the agent has sent its options: type :AcpConfig again")
  end
end

---@param words string|boolean
---@return string|boolean|nil value nil when it is unknown here
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

---Sets an option. Starts the agent if it does not run.
---@param what string id, category or name of the option
---@param value string|boolean
---@param keep? boolean also for new sessions of the agent; nil: as configured
---@return boolean sent
function M.set(session, what, value, keep)
  if not ensure_agent(session) then
    return false
  end
  keep = keep or config.get().config.keep
  local option = M.find(session.options or {}, what)
  local meant = option and value_meant(option, value)
  if meant ~= nil then
    option.changing = meant -- another key may come before the host's answer
    requested[session.key] = requested[session.key] or {}
    requested[session.key][option.id] = meant
  end
  return requests.send(session, "config_set", { option = what, value = value, keep = keep })
end

---Sets the next value in the agent's order, or toggles a boolean.
---@param what string id, category or name of the option
---@param keep? boolean
function M.next(session, what, keep)
  M.with_options(session, function(options)
    local option = M.find(options, what)
    local current = option and option.current
    if option and option.changing ~= nil then
      current = option.changing
    end
    if option and option.kind == "boolean" then
      return M.set(session, option.id, not current, keep)
    elseif not option or #(option.values or {}) == 0 then
      return message.info(("%s offers no %s to choose"):format(cells.plain(session.agent or "the agent"), what))
    end
    local at = 0
    for index, one in ipairs(option.values) do
      at = one.value == current and index or at
    end
    M.set(session, option.id, option.values[at % #option.values + 1].value, keep)
  end)
end

---Forgets the values that are kept for new sessions of the agent.
---@return boolean sent
function M.forget(session)
  return ensure_agent(session) and requests.send(session, "config_forget")
end

return M
