-- What a person does with sessions: joins the registry, the buffers, the windows and the host.
local agents = require("acp_nvim.agents")
local autocmds = require("acp_nvim.autocmds")
local buffers = require("acp_nvim.buffers")
local chat_buffer = require("acp_nvim.chat.buffer")
local context = require("acp_nvim.prompt.context")
local follow = require("acp_nvim.follow")
local highlights = require("acp_nvim.highlights")
local host = require("acp_nvim.host")
local lost = require("acp_nvim.host.exit")
local keys = require("acp_nvim.chat.keys")
local mentions = require("acp_nvim.prompt.mentions")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local permission = require("acp_nvim.permission")
local prompt = require("acp_nvim.prompt.buffer")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.sessions")
local windows = require("acp_nvim.chat.windows")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

---@param session acp.Session
---@param bufnr integer
local function dress_prompt(session, bufnr)
  keys.attach_prompt(session)
  named.on_read(bufnr, function()
    if not session.prompt_bufnr then
      prompt.adopt(session, bufnr)
      dress_prompt(session, bufnr)
      winbar.update(session)
    end
  end)
end

---@param session acp.Session with an empty chat
local function refill(session)
  if not requests.redraw(session) then
    chat_buffer.put_back(session)
  end
  session.last_text = nil
end

---@param session acp.Session
---@param bufnr integer
local function dress_chat(session, bufnr)
  keys.attach_chat(session)
  named.on_read(bufnr, function()
    if not session.bufnr then
      chat_buffer.adopt(session, bufnr)
      dress_chat(session, bufnr)
      refill(session)
      winbar.update(session)
    end
  end)
end

---@param session acp.Session
local function ensure_buffers(session)
  highlights.define()
  if chat_buffer.ensure(session) then
    dress_chat(session, session.bufnr)
    refill(session)
  end
  if prompt.ensure(session) then
    dress_prompt(session, session.prompt_bufnr)
  end
end

---Nothing is shown of that session any more, and nobody finds it.
---@param session acp.Session
function M.forget(session)
  windows.close(session)
  for _, one in ipairs(permission.abandon(session)) do
    autocmds.fire("AcpPermissionDone", { session = session.key, id = one.request.id, outcome = "cancelled" })
  end
  sessions.remove(session)
  for _, bufnr in pairs({ session.bufnr or false, session.prompt_bufnr or false }) do
    if bufnr and vim.api.nvim_buf_is_valid(bufnr) then
      pcall(vim.api.nvim_buf_delete, bufnr, { force = true })
    end
  end
  buffers.set_roots(session.key, {})
end

---@param agent? string
---@return acp.Session? nil when the host cannot run
---@return string? problem
local function new_session(agent)
  if not host.ensure() then
    return nil, "the host cannot run"
  end
  local session = sessions.new(agent or agents.default(), vim.fn.getcwd())
  session.named = agent ~= nil
  ensure_buffers(session)
  requests.open(session)
  return session
end

---@param agent? string
---@param fresh? boolean a new session, whatever there is
---@return acp.Session?
---@return string? problem
function M.session(agent, fresh)
  local problem = agent and agents.problem(agent)
  if problem then
    return nil, problem
  end
  local session = not fresh and sessions.usable(agent) or nil
  if not session then
    return new_session(agent)
  end
  ensure_buffers(session)
  return session
end

---@param problem? string said already when it is the host's
local function say(problem)
  if problem and problem ~= "the host cannot run" then
    message.error(problem)
  end
end

---Opens the chat, and goes to its prompt.
---@param agent? string
---@param fresh? boolean
---@return acp.Session? nil when there is none, or its prompt cannot be shown
function M.chat(agent, fresh)
  local session, problem = M.session(agent, fresh)
  if not session then
    say(problem)
    return nil
  end
  follow.watch()
  sessions.touch(session)
  requests.open(session, true)
  return windows.focus_prompt(session) and session or nil
end

---Goes to the prompt of a session that is open.
---@param session acp.Session
function M.show(session)
  ensure_buffers(session)
  sessions.touch(session)
  windows.focus_prompt(session)
end

---@class acp.SessionBeginning what the message `resume` says, see doc/development/contract.md
---@field session_id? string
---@field how? "load"|"resume"|"fork"|"go_on"
---@field transcript? string
---@field source? integer
---@field additional_directories? string[]
---@field worktree? string

---Begins a session that is more than a new one: with something before it, in a worktree, with more directories.
---@param agent? string
---@param cwd string
---@param beginning acp.SessionBeginning
---@param title? string
---@return acp.Session? nil when it cannot be begun: that is said
function M.begin(agent, cwd, beginning, title)
  local problem = agent and agents.problem(agent)
  if problem then
    message.error(problem)
    return nil
  elseif not host.ensure() then
    return nil
  end
  local session = sessions.new(agent or agents.default(), cwd)
  session.named = agent ~= nil
  session.status.title = title
  ensure_buffers(session)
  if beginning.worktree == "" then
    beginning.worktree = os.date("%Y%m%d-%H%M%S") --[[@as string]] -- a name that nobody else has
  end
  requests.begin(session, beginning)
  M.show(session)
  return session
end

---@param session acp.Session
---@param text string
---@param items acp.ContextItem[]
---@return boolean sent it will be, unless what it mentions cannot be attached: that is said
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
    sent = not problem and requests.prompt(session, text, vim.list_extend(items, more)) ~= nil
  end)
  return sent
end

---@param given? table[]
---@param cwd string
---@return acp.ContextItem[]? items
---@return string? problem
local function completed(given, cwd)
  local items = {}
  for _, one in ipairs(given or {}) do
    local item, problem = context.completed(one, cwd)
    if not item then
      return nil, problem
    end
    table.insert(items, item)
  end
  return items
end

---Sends a text without touching a window.
---@param text string
---@param opts? { agent?: string, session_id?: string|integer, context?: acp.ContextItem[], mentions?: boolean }
---@return boolean sent
---@return string? problem
function M.prompt(text, opts)
  opts = opts or {}
  local session, problem
  if opts.session_id then
    session = sessions.find(opts.session_id)
    problem = not session and ("there is no session %s"):format(opts.session_id) or nil
  else
    session, problem = M.session(opts.agent)
  end
  if not session then
    say(problem)
    return false, problem
  end
  ensure_buffers(session)
  follow.watch()
  local items, wrong = completed(opts.context, session.cwd)
  if not items then
    return false, wrong
  elseif opts.mentions then
    return send_with_mentions(session, text, items)
  end
  return requests.prompt(session, text, items) ~= nil
end

---@param entry { session: integer, agent: string, cwd: string }
---@return acp.Session? nil when it was here before
local function adopted(entry)
  local session = sessions.get(entry.session)
  if session and session.host == host.channel() then
    return nil
  end
  session = session or sessions.add(entry.session, entry.agent, entry.cwd)
  requests.known(session)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local theirs = vim.api.nvim_buf_is_loaded(bufnr) and vim.b[bufnr].acp_nvim_session == session.key
    if theirs and vim.bo[bufnr].filetype == "acp_chat" and not session.bufnr then
      chat_buffer.adopt(session, bufnr)
      dress_chat(session, bufnr)
    elseif theirs and vim.bo[bufnr].filetype == "acp_prompt" and not session.prompt_bufnr then
      prompt.adopt(session, bufnr)
      dress_prompt(session, bufnr)
    end
  end
  return session
end

---The host is there: take up the sessions that it has, when these modules are new to it.
---@param event acp.Event
function M.ready(event)
  host.check_version(event.version)
  for _, entry in ipairs(event.sessions or {}) do
    local session = adopted(entry)
    if session and session.bufnr then
      requests.redraw(session)
    end
  end
end

lost.watch()

return M
