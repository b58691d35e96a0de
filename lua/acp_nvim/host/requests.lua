-- Says to the host what is wanted of a session, and tells it the session first when it does not know it.
local buffers = require("acp_nvim.buffers")
local chat_buffer = require("acp_nvim.chat.buffer")
local drafts = require("acp_nvim.prompt.drafts")
local history = require("acp_nvim.prompt.history")
local host = require("acp_nvim.host")
local notice = require("acp_nvim.chat.blocks.notice")
local plans = require("acp_nvim.chat.plans")
local queue = require("acp_nvim.prompt.queue")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local NEW_HOST = "The host was started again."
local NEW_SESSION = NEW_HOST .. " The agent begins a new session: it does not know what is above."

---@param session acp.Session
---@param level "info"|"warn"|"error"
---@param text string
function M.note(session, level, text)
  transcript.draw(session, transcript.own_block(), "notice", notice(level, text))
  transcript.flush()
end

---@param session acp.Session
---@return integer[]? ids of prompts that hosts had not taken when they ended
local function returned(session)
  return #session.returned > 0 and session.returned or nil
end

---@param session acp.Session
---@return boolean sent
local function send_open(session)
  -- the host explains why it is the demo agent when nobody asked for it
  local agent = (session.named or session.agent ~= "demo") and session.agent or nil
  buffers.set_roots(session.key, { vim.uv.fs_realpath(session.cwd) }) -- before the agent can do anything
  return host.send("open", {
    session = session.key,
    agent = agent,
    cwd = session.cwd,
    additional_directories = session.additional_directories,
    returned = returned(session),
  })
end

---Another host takes the session up: the chat shows already what was said in it.
---@param session acp.Session
---@return boolean sent
local function send_go_on(session)
  buffers.set_roots(session.key, { vim.uv.fs_realpath(session.cwd) })
  return host.send("resume", {
    session = session.key,
    agent = session.agent,
    cwd = session.cwd,
    session_id = session.last_session_id,
    how = "go_on",
    additional_directories = session.additional_directories,
    returned = returned(session),
    shown = true,
  })
end

---@param session acp.Session
---@param again? boolean an agent that has ended is started again
---@return boolean known to the host that runs now
local function introduced(session, again)
  if not host.ensure() then
    return false
  elseif session.host == host.channel() then
    local state = session.status.state
    return not (again and (state == "stopped" or state == "failed")) or send_open(session)
  end
  local is_another = session.host ~= nil
  if is_another then
    transcript.forget_blocks(session)
    plans.forget(session)
    session.heard, session.call_blocks, session.calls = nil, {}, {}
    M.note(session, "warn", session.last_session_id and NEW_HOST or NEW_SESSION)
    chat_buffer.keep(session)
  end
  session.host, session.recalling = host.channel(), nil
  local sent = is_another and session.last_session_id and send_go_on(session) or send_open(session)
  local waiting = sent and is_another and queue.to_hand_over(session)
  if waiting then
    host.send("queue_set", waiting)
  end
  return sent
end

M.open = introduced

---Begins a session that is more than a new one.
---@param session acp.Session
---@param beginning acp.SessionBeginning
---@return boolean sent
function M.begin(session, beginning)
  session.additional_directories = beginning.additional_directories
  session.recalling = true
  session.host = host.channel()
  buffers.set_roots(session.key, { vim.uv.fs_realpath(session.cwd) })
  local params = { session = session.key, agent = session.named and session.agent or nil, cwd = session.cwd }
  return host.send("resume", vim.tbl_extend("error", params, beginning))
end

---The host has named this session itself.
---@param session acp.Session
function M.known(session)
  session.host = host.channel()
end

---@param session acp.Session
---@param text string
---@param context? acp.ContextItem[]
---@return integer? id of the prompt, which was handed over; nil when no host runs
function M.prompt(session, text, context)
  sessions.touch(session)
  if not introduced(session) then
    return nil
  end
  local id = queue.new_id()
  if not host.send("prompt", { session = session.key, id = id, text = text, context = context or {} }) then
    return nil
  end
  queue.keep(session, { id = id, text = text, context = context })
  history.add(session, text)
  drafts.changed(session)
  return id
end

---Sends a message about a session; of the rest of them each has a function of its own here.
---@param session acp.Session
---@param method string
---@param params? table
---@return boolean sent false when the running host does not know the session
function M.send(session, method, params)
  if not host.channel() or session.host ~= host.channel() then
    return false
  end
  return host.send(method, vim.tbl_extend("force", params or {}, { session = session.key }))
end

---@param session acp.Session
---@return boolean sent
function M.redraw(session)
  if session.kept then
    return host.send("transcript_open", { session = session.key, id = session.kept })
  end
  return M.send(session, "redraw", { after = session.before_host and true or nil })
end

---@param session acp.Session
---@param prompts acp.OutgoingPrompt[] what is to wait, in this order; `context` is what comes along, too
---@param known integer[] ids of those that the user saw
---@return boolean sent
function M.queue_set(session, prompts, known)
  if session.kept or not introduced(session) then
    return false
  end
  local revision = vim.uv.hrtime()
  if not host.send("queue_set", { session = session.key, prompts = prompts, known = known, revision = revision }) then
    return false
  end
  for _, one in ipairs(queue.set(session, prompts, known, revision)) do
    history.add(session, one.text)
  end
  drafts.changed(session)
  return true
end

---@param session acp.Session
---@param block integer of a tool call, of which everything is to be told
---@return boolean sent
function M.call_details(session, block)
  if session.kept then
    return host.send("transcript_call", { session = session.key, id = session.kept, block = block })
  end
  return M.send(session, "call_details", { block = block })
end

---@param id integer of a permission
---@param option_id string
---@return boolean sent
function M.answer(id, option_id)
  return host.send("answer", { id = id, option_id = option_id })
end

return M
