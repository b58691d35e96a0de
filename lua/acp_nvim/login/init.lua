-- Signs in to agents and out: the commands, the choice of a method, and the result.
local Lines = require("acp_nvim.render.lines")
local agents = require("acp_nvim.config.agents")
local autocmds = require("acp_nvim.kernel.autocmds")
local characters = require("acp_nvim.render.characters")
local choice = require("acp_nvim.login.choice")
local command_line_window = require("acp_nvim.kernel.command_line")
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local sessions = require("acp_nvim.host.sessions")
local terminal = require("acp_nvim.login.terminal")
local unread = require("acp_nvim.chat.unread")

local M = {}

---@type table<string, acp.SignInMethod[]> methods by agent name
local known = {}
---@type table<string, { method?: string, on_answer: acp.OnAnswer }> sign-ins that the user has started, by agent name
local asked = {}
---@type table<string, acp.OnAnswer> by the agent name of a sign-in that has begun: opens its terminal
local begun = {}

---Begins with a method, after asking for the variables that it needs.
local function begin(need, method)
  local function send(values)
    begun[need.agent] = late.wait()
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
  if choice.asks(method) then
    choice.variables(need.agent, method, send)
  else
    send()
  end
end

local function choose(need)
  if #need.methods == 0 then
    return message.warn(need.hint or "the agent does not tell how to sign in: its documentation may")
  end
  choice.open(need, function(method)
    begin(need, method)
  end)
end

---@param methods acp.SignInMethod[]
local function ids(methods)
  return vim.tbl_map(function(one)
    return one.id
  end, methods)
end

---Continues a sign-in that the user has started with a command.
---@param word? string id or name of a method
---@param on_answer acp.OnAnswer
local function resume(need, word, on_answer)
  local method = word and vim.iter(need.methods):find(function(one)
    return one.id == word or one.name == word
  end)
  if method and not choice.asks(method) then
    begin(need, method)
  elseif word and not method then
    local known = table.concat(ids(need.methods), ", ")
    message.error(("%s has no sign-in method %q (it has: %s)"):format(need.agent, word, known))
  else
    on_answer(function()
      if method then
        begin(need, method)
      else
        choose(need)
      end
    end, ("%s has sent its sign-in methods: type :AcpLogin again"):format(need.agent))
  end
end

---@param event acp.Event of type sign_in
function M.wanted(event)
  local need = event --[[@as acp.SignInNeed]]
  known[need.agent] = need.methods
  if need.asked then
    local started = asked[need.agent]
    asked[need.agent] = nil
    return started and vim.schedule(function()
      resume(need, started.method, started.on_answer)
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
  if session and #need.methods > 0 then
    late.when_idle(
      function()
        choose(need)
      end,
      nil,
      function()
        return choice.is_welcome(session)
      end
    )
  end
end

---@param event acp.Event of type sign_in_terminal
function M.terminal(event)
  local ok, enter = pcall(terminal.open, event)
  local on_answer = begun[event.agent] or late.wait()
  begun[event.agent] = nil
  if not ok then
    host.send("login_ended", { attempt = event.attempt, problem = Lines.one_line(tostring(enter)) })
  else
    on_answer(enter, ("sign in to %s in the terminal below"):format(event.agent))
  end
end

---@param event acp.Event of type sign_in_done
function M.done(event)
  terminal.over(event.attempt, event.outcome)
  asked[event.agent] = nil
  local is_seen = vim.iter(sessions.all()):any(function(session) -- in a chat, which shows the same text
    return session.agent == event.agent and unread.is_seen(session)
  end)
  if not is_seen then
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

---@return string directory of the current session, if it is of this agent, else of Neovim
local function directory(agent)
  local session = sessions.current()
  return session and session.agent == agent and session.cwd or vim.fn.getcwd()
end

---Starts a sign-in.
---@param method? string id or name
function M.ask(agent, method)
  if host.ensure() then
    asked[agent] = { method = method, on_answer = late.wait() }
    host.send("login_methods", { agent = agent, cwd = directory(agent) })
  end
end

---@return string[]
function M.complete(lead, line)
  local words = vim.split(line, "%s+", { trimempty = true })
  local given = #words - 1 - (lead ~= "" and 1 or 0)
  local candidates = {}
  if given == 0 then
    candidates = agents.names()
  elseif given == 1 and words[1]:find("Login", 1, true) then
    candidates = ids(known[words[2]] or {})
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead) and characters.is_visible(word)
  end, candidates)
end

---@return string? agent the named one, or the one that is meant; nil after a message when it cannot be started
local function agent_of(name)
  local session = sessions.current()
  local waiting = sessions.nearest(function(one)
    return one.status.sign_in ~= nil
  end)
  local here = session and session.status.sign_in and session
  local agent = name or (here or waiting or session or {}).agent or agents.default()
  local problem = agents.problem(agent)
  if problem then
    message.error(problem)
    return nil
  end
  return agent
end

---Implements :AcpLogin.
function M.login(args)
  local name, method = unpack(vim.split(args.args, "%s+", { trimempty = true }))
  local agent = not command_line_window.refuses() and agent_of(name)
  if not agent then
    return
  elseif not args.bang then
    M.ask(agent, method)
  elseif host.channel() then
    host.send("login_cancel", { agent = agent })
  end
end

---Implements :AcpLogout.
function M.logout(args)
  local agent = agent_of(args.args ~= "" and args.args or nil)
  if agent and host.ensure() then
    host.send("logout", { agent = agent, cwd = directory(agent) })
  end
end

host.on_exit(function()
  asked, begun = {}, {}
end)

return M
