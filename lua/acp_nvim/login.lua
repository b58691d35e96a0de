-- Signing in to agents: who wants it, the choice of a way, and what came of it.
local Lines = require("acp_nvim.chat.blocks.lines")
local autocmds = require("acp_nvim.autocmds")
local choice = require("acp_nvim.login.choice")
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")
local terminal = require("acp_nvim.login.terminal")
local unread = require("acp_nvim.chat.unread")
local variables = require("acp_nvim.login.variables")

local M = {}

---@type table<string, acp.SignInMethod[]> the ways that an agent has named, by its name
local known = {}
---@type table<string, { method?: string }> what the user has asked for, by the agent's name, until it is answered
local asked = {}

---@param need acp.SignInNeed
---@param method acp.SignInMethod
---@param values? table<string, string>
local function begin(need, method, values)
  local current = sessions.current()
  local is_here = current and current.agent == need.agent
  host.send("login", {
    agent = need.agent,
    cwd = need.cwd,
    method = method.id,
    session = need.session or is_here and current.key or nil,
    values = values,
  })
end

---@param need acp.SignInNeed
---@param method acp.SignInMethod
local function with(need, method)
  if method.kind ~= "env_var" and method.kind ~= "api_key" then
    return begin(need, method)
  end
  variables.ask(need.agent, method, function(values)
    begin(need, method, values)
  end)
end

---@param need acp.SignInNeed
local function choose(need)
  if #need.methods == 0 then
    return message.warn(need.hint or "the agent does not say how to sign in")
  end
  choice.open(need, function(method)
    with(need, method)
  end)
end

---@param methods acp.SignInMethod[]
---@param word string
---@return acp.SignInMethod?
local function named(methods, word)
  return vim.iter(methods):find(function(one)
    return one.id == word or one.name == word
  end)
end

---The user has asked for it.
---@param need acp.SignInNeed
---@param word? string the method that they have named
local function go(need, word)
  local method = word and named(need.methods, word)
  if method then
    with(need, method)
  elseif word then
    local ids = vim.tbl_map(function(one)
      return one.id
    end, need.methods)
    message.error(("%s names no way to sign in %q (but: %s)"):format(need.agent, word, table.concat(ids, ", ")))
  elseif choice.is_possible() then
    choose(need)
  else
    message.news(("the ways to sign in to %s are there: :AcpLogin again"):format(need.agent), vim.log.levels.INFO)
  end
end

---@param event acp.Event of type sign_in
function M.wanted(event)
  local need = event --[[@as acp.SignInNeed]]
  known[need.agent] = need.methods
  local wish = asked[need.agent]
  if need.asked then
    asked[need.agent] = nil
    return vim.schedule(function()
      go(need, wish and wish.method)
    end)
  end
  local session = sessions.get(need.session)
  autocmds.fire("AcpSignIn", {
    agent = need.agent,
    session = need.session,
    outcome = "needed",
    text = need.reason,
    methods = vim.deepcopy(need.methods),
  })
  vim.schedule(function()
    vim.schedule(function() -- after the words about it
      if session and #need.methods > 0 and choice.is_welcome(session) then
        choose(need)
      end
    end)
  end)
end

---@param event acp.Event of type sign_in_terminal
function M.terminal(event)
  local ok, problem = pcall(terminal.open, event)
  if not ok then
    host.send("login_ended", { attempt = event.attempt, problem = Lines.one_line(tostring(problem)) })
  end
end

---@param agent string
---@return boolean somebody sees a chat with it, where the same is said
local function is_seen(agent)
  return vim.iter(sessions.all()):any(function(session)
    return session.agent == agent and unread.is_seen(session)
  end)
end

---@param event acp.Event of type sign_in_done
function M.done(event)
  terminal.over(event.attempt, event.outcome)
  asked[event.agent] = nil
  if not is_seen(event.agent) then
    local level = event.outcome == "failed" and vim.log.levels.ERROR or vim.log.levels.INFO
    message.news(event.text, level)
  end
  autocmds.fire("AcpSignIn", {
    agent = event.agent,
    outcome = event.outcome,
    text = event.text,
    method = event.method,
  })
end

---@param agent string
---@return string[] ids of the ways that it has named in this Neovim
function M.methods(agent)
  return vim.tbl_map(function(one)
    return one.id
  end, known[agent] or {})
end

---@param agent string
---@return string directory where it works for the session that the user is in, or would
local function directory(agent)
  local session = sessions.current()
  return session and session.agent == agent and session.cwd or vim.fn.getcwd()
end

---@param agent string
---@param method? string
function M.ask(agent, method)
  if host.ensure() then
    asked[agent] = { method = method }
    host.send("login_methods", { agent = agent, cwd = directory(agent) })
  end
end

---@param agent string
function M.cancel(agent)
  if host.channel() then
    host.send("login_cancel", { agent = agent })
  end
end

---@param agent string
function M.out(agent)
  if host.ensure() then
    host.send("logout", { agent = agent, cwd = directory(agent) })
  end
end

host.on_exit(function()
  asked = {}
end)

return M
