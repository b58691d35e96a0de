-- Opens, shows and closes sessions: connects their buffers, windows and requests to the host.
local agents = require("acp_nvim.config.agents")
local chat_buffer = require("acp_nvim.chat.buffer")
local code_windows = require("acp_nvim.windows.open")
local lazy = require("acp_nvim.lazy")
local context = lazy("acp_nvim.mentions.context")
local highlights = require("acp_nvim.kernel.highlights")
local host = require("acp_nvim.host")
local host_exit = lazy("acp_nvim.sessions.ended")
local keys = require("acp_nvim.actions")
local mentions = require("acp_nvim.mentions")
local message = lazy("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local names = require("acp_nvim.names")
local prompt = require("acp_nvim.prompt.buffer")
local requests = require("acp_nvim.host.requests")
local sending = require("acp_nvim.prompt.sending")
local root = require("acp_nvim.sessions.root")
local sessions = require("acp_nvim.host.sessions")
local switch = require("acp_nvim.windows.switch")
local turn_progress = require("acp_nvim.chat.turn_progress")
local watching = require("acp_nvim.buffers.watching")
local windows = require("acp_nvim.chat.windows")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local function attach_prompt(session, bufnr)
  keys.attach_prompt(session)
  named.on_read(bufnr, function()
    if not session.prompt_bufnr then
      prompt.adopt(session, bufnr)
      attach_prompt(session, bufnr)
      winbar.update(session)
    end
  end)
end

---@param session acp.Session with an empty chat
local function refill(session)
  if not requests.redraw(session) then
    chat_buffer.restore_text(session)
  end
  session.last_text = nil
end

local function attach_chat(session, bufnr)
  keys.attach_chat(session)
  named.on_read(bufnr, function()
    if not session.bufnr then
      chat_buffer.adopt(session, bufnr)
      attach_chat(session, bufnr)
      refill(session)
      winbar.update(session)
    end
  end)
end

local function ensure_buffers(session)
  highlights.define()
  if chat_buffer.ensure(session) then
    attach_chat(session, session.bufnr)
    refill(session)
  end
  if prompt.ensure(session) then
    attach_prompt(session, session.prompt_bufnr)
  end
end

---Closes the windows and buffers of a session, and removes it from the registry.
function M.forget(session)
  for _, child in ipairs(sessions.children(session)) do
    M.forget(child)
  end
  windows.close(session)
  host_exit.abandon_permissions(session)
  host_exit.abandon_questions(session)
  turn_progress.forget(session)
  sessions.remove(session)
  for _, bufnr in pairs({ session.bufnr or false, session.prompt_bufnr or false }) do
    if bufnr and vim.api.nvim_buf_is_valid(bufnr) then
      switch.delete(bufnr)
    end
  end
  watching.set_roots(session.key, {})
end

local HOST_PROBLEM = "the host cannot run" -- host/init.lua has shown the reason

---@param agent? string
---@param title? string
---@return acp.Session?
---@return string? problem
local function add_session(agent, cwd, title)
  if not host.ensure() then
    return nil, HOST_PROBLEM
  end
  local session = sessions.new(agent or agents.default(), cwd)
  session.named = agent ~= nil
  session.status.title = title
  ensure_buffers(session)
  return session
end

---Says that the session works elsewhere, once for each directory.
---@param here string directory where a new session would work
local function tell_place(session, here)
  if not sessions.is_near(session, here) and session.told_place ~= here then
    session.told_place = here
    local words = "this session works in %s (:AcpChat! starts one in %s)"
    message.info(words:format(names.below_home(session.cwd), names.below_home(here)))
  end
end

---@param agent? string
---@param fresh? boolean create a session even if one could be used
---@return acp.Session?
---@return string? problem
function M.session(agent, fresh)
  local problem = agent and agents.problem(agent)
  if problem then
    return nil, problem
  end
  local directory = root.directory()
  local session = not fresh and sessions.usable(agent, directory) or nil
  if session then
    tell_place(session, directory)
    ensure_buffers(session)
    return session
  end
  session, problem = add_session(agent, directory)
  if session then
    session.is_new = true
    sending.open(session)
  end
  return session, problem
end

---@param problem? string
local function show_problem(problem)
  if problem and problem ~= HOST_PROBLEM then
    message.error(problem)
  end
end

---As `session`, but shows the problem.
---@param agent? string
---@param fresh? boolean
---@return acp.Session?
function M.session_or_problem(agent, fresh)
  local session, problem = M.session(agent, fresh)
  if not session then
    show_problem(problem)
  end
  return session
end

---Lets the user choose an agent if a new session is needed and several agents are possible.
---@param fresh boolean an existing session will not do
---@param go fun(agent: string?) called with the agent of the new session if the user had to choose one
function M.with_agent(fresh, go)
  if not fresh and sessions.usable() then
    go(nil)
  else
    agents.choose(go)
  end
end

---Opens the chat and moves to its prompt.
---@param agent? string
---@param fresh? boolean
---@return acp.Session? nil when it cannot be opened or its prompt cannot be shown
function M.chat(agent, fresh)
  local session = M.session_or_problem(agent, fresh)
  if not session then
    return nil
  end
  code_windows.watch()
  sessions.touch(session)
  sending.open(session, true)
  return windows.focus_prompt(session) and session or nil
end

---Moves to the prompt of an open session.
function M.show(session)
  ensure_buffers(session)
  sessions.touch(session)
  windows.focus_prompt(session)
end

---Starts a session from an earlier conversation, in a worktree, or with more directories.
---@param agent? string
---@param settings acp.message.Resume without `session`, `agent` and `cwd`
---@param title? string
---@return acp.Session? nil when it cannot be started; the user has seen why
function M.begin(agent, cwd, settings, title)
  local problem = agent and agents.problem(agent)
  local session
  if not problem then
    session, problem = add_session(agent, cwd, title)
  end
  if not session then
    show_problem(problem)
    return nil
  end
  if settings.worktree == "" then
    settings.worktree = os.date("%Y%m%d-%H%M%S") --[[@as string]]
  end
  sending.begin(session, settings)
  M.show(session)
  return session
end

---@param items acp.ContextItem[]
---@return boolean sent false when a mention cannot be attached, which the user has seen
local function send_with_mentions(session, text, items)
  local sent = true
  mentions.resolve(session, text, function(more, problem)
    if problem then
      prompt.put_back(session, text)
      for _, item in ipairs(items) do
        prompt.attach(session, item)
      end
      message.error(problem .. " (the prompt is in its buffer)")
    end
    sent = not problem and sending.prompt(session, text, context.add(items, more)) ~= nil
  end)
  return sent
end

---@param given? table[]
---@return acp.ContextItem[]? items
---@return string? problem
local function completed(given, cwd)
  local items = {}
  for _, fields in ipairs(given or {}) do
    local item, problem = context.completed(fields, cwd)
    if not item then
      return nil, problem
    end
    table.insert(items, item)
  end
  return items
end

---Sends a prompt without opening or changing a window.
---@param opts? { agent?: string, session_id?: string|integer, context?: acp.ContextItem[], mentions?: boolean }
---@return boolean sent
---@return string? problem
---@return acp.Session? session that it was sent to
function M.prompt(text, opts)
  opts = opts or {}
  local session, problem
  if opts.session_id then
    session = sessions.find(opts.session_id)
    problem = not session and ("there is no session %s"):format(opts.session_id) or nil
    if session and session.parent then
      return false, "a subagent takes no prompts: its agent gives it work"
    end
  else
    session, problem = M.session(opts.agent)
  end
  if not session then
    show_problem(problem)
    return false, problem
  end
  ensure_buffers(session)
  code_windows.watch()
  local items, wrong = completed(opts.context, session.cwd)
  if not items then
    return false, wrong
  elseif vim.trim(text) == "" and #items == 0 then
    return false, "the prompt is empty"
  elseif opts.mentions then
    return send_with_mentions(session, text, items), nil, session
  end
  return sending.prompt(session, text, items) ~= nil, nil, session
end

---@param entry { session: integer, agent: string, cwd: string }
---@return acp.Session? nil when this Lua knows it already
local function adopt(entry)
  local session = sessions.get(entry.session)
  if session and session.host == host.channel() then
    return nil
  end
  session = session or sessions.add(entry.session, entry.agent, entry.cwd)
  session.host = host.channel()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local theirs = vim.api.nvim_buf_is_loaded(bufnr) and vim.b[bufnr].acp_nvim_session == session.key
    if theirs and vim.bo[bufnr].filetype == "acp_chat" and not session.bufnr then
      chat_buffer.adopt(session, bufnr)
      attach_chat(session, bufnr)
    elseif theirs and vim.bo[bufnr].filetype == "acp_prompt" and not session.prompt_bufnr then
      prompt.adopt(session, bufnr)
      attach_prompt(session, bufnr)
    end
  end
  return session
end

---Handles the first event of a host: adopts its sessions if the Lua modules were reloaded.
function M.ready(event)
  host.check_version(event.version)
  for _, entry in ipairs(event.sessions or {}) do
    local session = adopt(entry)
    if session and session.bufnr then
      requests.redraw(session)
    end
  end
end

host.on_exit_last(lazy.fn("acp_nvim.sessions.ended", "fail_sessions"))

return M
