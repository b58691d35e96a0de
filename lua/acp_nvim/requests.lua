-- Says to the host what is wanted of a session, and tells it the session first when it does not know it.
local buffers = require("acp_nvim.buffers")
local chat_buffer = require("acp_nvim.chat.buffer")
local drafts = require("acp_nvim.prompt.drafts")
local history = require("acp_nvim.prompt.history")
local host = require("acp_nvim.host")
local kept_queue = require("acp_nvim.prompt.kept_queue")
local notice = require("acp_nvim.chat.blocks.notice")
local plans = require("acp_nvim.chat.plans")
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
---@return boolean sent
local function send_open(session)
  -- the host explains why it is the demo agent when nobody asked for it
  local agent = (session.named or session.agent ~= "demo") and session.agent or nil
  buffers.set_roots(session.key, { vim.uv.fs_realpath(session.cwd) }) -- before the agent can do anything
  local more = session.additional_directories
  local params = { session = session.key, agent = agent, cwd = session.cwd, additional_directories = more }
  return host.send("open", params)
end

---Another host takes the session up: the chat shows already what was said in it.
---@param session acp.Session
---@return boolean sent
local function send_go_on(session)
  buffers.set_roots(session.key, { vim.uv.fs_realpath(session.cwd) })
  return host.send("take_up", {
    session = session.key,
    agent = session.agent,
    cwd = session.cwd,
    session_id = session.last_session_id,
    how = "go_on",
    additional_directories = session.additional_directories,
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
  if sent and is_another and next(session.chosen or {}) then
    host.send("config_held", { session = session.key, values = session.chosen })
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
  return host.send("take_up", vim.tbl_extend("error", params, beginning))
end

---The host has named this session itself.
---@param session acp.Session
function M.known(session)
  session.host = host.channel()
end

---@param session acp.Session
---@param text string
---@param context? acp.ContextItem[]
---@return boolean handed_over
function M.prompt(session, text, context)
  sessions.touch(session)
  if not introduced(session) then
    return false
  end
  kept_queue.hand_over(session)
  local params = { session = session.key, text = text, context = context or {} }
  if not host.send("prompt", params) then
    return false
  end
  table.insert(session.unseen, text)
  session.sent_context[text] = context
  history.add(session, text)
  drafts.changed(session)
  return true
end

---@param method string
---@param session acp.Session
---@param params table
---@return boolean sent false when the running host does not know the session
local function about(method, session, params)
  if not host.channel() or session.host ~= host.channel() then
    return false
  end
  params.session = session.key
  return host.send(method, params)
end

---@param session acp.Session
---@param force boolean
---@return boolean sent
function M.cancel(session, force)
  return about("cancel", session, { force = force })
end

---@param session acp.Session
---@return boolean sent
function M.stop(session)
  return about("stop", session, {})
end

---@param session acp.Session
---@return boolean sent
function M.redraw(session)
  if session.kept then
    return host.send("transcript_open", { session = session.key, id = session.kept })
  end
  return about("redraw", session, { after = session.before_host and true or nil })
end

---@param session acp.Session
---@param prompts { id?: integer, text: string }[] what is to wait, in this order
---@param known integer[] ids of those that the user saw
---@return boolean sent
function M.queue_set(session, prompts, known)
  if kept_queue.set(session, prompts) then
    return true
  end
  kept_queue.changed(session, prompts)
  return about("queue_set", session, { prompts = prompts, known = known })
end

---Sends a prompt that waits into the turn that runs.
---@param session acp.Session
---@param id? integer of it; the first
---@param newest? boolean the last
---@return boolean sent
function M.steer(session, id, newest)
  return about("steer", session, { id = id, newest = newest or false })
end

---@param session acp.Session
---@param params table
---@return boolean sent
function M.export(session, params)
  return about("export", session, params)
end

---@param method "terminal_open"|"terminal_close"
---@param session acp.Session
---@param number integer
---@return boolean sent
function M.terminal(method, session, number)
  return about(method, session, { terminal = number })
end

---@param session acp.Session
---@param block integer of a tool call, of which everything is to be told
---@return boolean sent
function M.call_details(session, block)
  if session.kept then
    return host.send("transcript_call", { session = session.key, id = session.kept, block = block })
  end
  return about("call_details", session, { block = block })
end

---@param session acp.Session
---@param block integer of a tool call
---@param place integer of the picture or sound that is to be in a file
---@return boolean sent
function M.call_media(session, block, place)
  local directory = vim.fs.joinpath(vim.fn.stdpath("cache") --[[@as string]], "acp_nvim", "media")
  return about("call_media", session, { block = block, place = place, directory = directory })
end

---@param session acp.Session
---@param option string an id, a category or a name
---@param value string|boolean
---@param keep boolean new sessions of the agent are to begin with it, too
---@return boolean sent
function M.config_set(session, option, value, keep)
  return about("config_set", session, { option = option, value = value, keep = keep })
end

---@param session acp.Session
---@return boolean sent
function M.config_forget(session)
  return about("config_forget", session, {})
end

---@param id integer of a permission
---@param option_id string
---@return boolean sent
function M.answer(id, option_id)
  return host.send("answer", { id = id, option_id = option_id })
end

return M
