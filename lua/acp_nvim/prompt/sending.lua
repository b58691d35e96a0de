-- Introduces sessions to the host when they are first needed there, and sends their prompts.
local agents = require("acp_nvim.config.agents")
local chat_buffer = require("acp_nvim.chat.buffer")
local drafts = require("acp_nvim.prompt.drafts")
local lazy = require("acp_nvim.lazy")
local history = lazy("acp_nvim.prompt.history")
local host = require("acp_nvim.host")
local notice = lazy("acp_nvim.transcript.blocks.notice")
local outside = lazy("acp_nvim.prompt.outside")
local plans = require("acp_nvim.transcript.plans")
local queue = require("acp_nvim.prompt.queue")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")
local welcome = lazy("acp_nvim.chat.welcome")
local watching = require("acp_nvim.buffers.watching")

require("acp_nvim.buffers.pending") -- records what the user has half typed, from the first session on

local M = {}

local NEW_HOST = "The host was started again."
local NEW_SESSION = NEW_HOST .. " The agent begins a new session: it does not know what is above."
local AWAITED = "The Python environment has to be built first. Prompts that you send now wait for it."

---@param level "info"|"warn"|"error"
function M.note(session, level, text)
  transcript.draw(session, transcript.own_block(), "notice", notice(level, text))
  transcript.flush()
end

---Sends a message with which the host opens the session.
---@param method "open"|"resume"
---@param agent? string
---@param more? table fields that only this message has
---@return boolean sent
local function send_session(session, method, agent, more)
  watching.set_roots(session.key, { vim.uv.fs_realpath(session.cwd) }) -- before the agent starts
  local params = {
    session = session.key,
    agent = agent,
    cwd = session.cwd,
    additional_directories = session.additional_directories,
    returned = #session.returned > 0 and session.returned or nil,
  }
  return host.send(method, vim.tbl_extend("force", params, more or {}))
end

---@return string? agent nil: the demo agent, for want of any other, which the host explains
local function agent_of(session)
  local is_fallback = session.agent == "demo" and not session.named and agents.is_last_resort()
  return not is_fallback and session.agent or nil
end

---@return boolean sent
local function send_open(session)
  return send_session(session, "open", agent_of(session))
end

---Resumes the session in a new host. The chat already shows the conversation.
---@return boolean sent
local function send_resume(session)
  local more = { session_id = session.last_session_id, how = "go_on", shown = true }
  return send_session(session, "resume", session.agent, more)
end

---@param again? boolean restart an agent that has ended
---@return boolean known the running host knows the session
local function introduce(session, again)
  if session.parent then
    return false -- the host knows it from the agent
  elseif not host.ensure() then
    return false
  elseif session.host == host.channel() then
    local state = session.status.state
    return not (again and (state == "stopped" or state == "failed")) or send_open(session)
  end
  local is_another = session.host ~= nil
  if is_another then
    transcript.forget_blocks(session)
    plans.reset(session)
    session.heard, session.call_blocks, session.calls = nil, {}, {}
    if host.was_started(session.host) then
      M.note(session, "warn", session.last_session_id and NEW_HOST or NEW_SESSION)
    end
    chat_buffer.save_text(session)
  end
  if host.is_awaited() then
    M.note(session, "info", AWAITED)
  end
  session.host, session.recalling = host.channel(), nil
  local sent = is_another and session.last_session_id and send_resume(session) or send_open(session)
  local waiting = sent and is_another and queue.to_hand_over(session)
  if waiting then
    host.send("queue_set", waiting)
  end
  return sent
end

M.open = introduce

---Starts a session with settings that `open` does not have.
---@param settings acp.message.Resume without `session`, `agent` and `cwd`
---@return boolean sent
function M.begin(session, settings)
  session.additional_directories = settings.additional_directories
  session.recalling = true
  session.host = host.channel()
  return send_session(session, "resume", agent_of(session), settings)
end

---@param context? acp.ContextItem[]
---@return integer? id of the prompt that was sent; nil when no host runs
function M.prompt(session, text, context)
  sessions.touch(session)
  if not introduce(session) then
    return nil
  end
  local id = queue.new_id()
  if not host.send("prompt", { session = session.key, id = id, text = text, context = context or {} }) then
    return nil
  end
  queue.keep(session, { id = id, text = text, context = context })
  welcome.clear(session)
  if host.is_awaited() then
    session.status.queue = #session.outbox
  end
  history.add(session, text)
  drafts.changed(session)
  if context and #context > 0 then
    outside.tell(session, context)
  end
  return id
end

---Sends the prompts that were held in the queue.
---@return boolean sent false when no host runs
function M.release(session)
  return introduce(session, true) and host.send("steer", { session = session.key })
end

---@param prompts acp.OutgoingPrompt[] the new queue, in this order; `context` is added to what is attached already
---@param known integer[] ids of the prompts that the user saw
---@return boolean sent
function M.queue_set(session, prompts, known)
  if session.kept or not introduce(session) then
    return false
  end
  local revision = vim.uv.hrtime()
  if not host.send("queue_set", { session = session.key, prompts = prompts, known = known, revision = revision }) then
    return false
  end
  for _, prompt in ipairs(queue.set(session, prompts, known, revision)) do
    history.add(session, prompt.text)
  end
  drafts.changed(session)
  return true
end

return M
