-- Updates the sessions after the host has ended: chats, prompts and queues stay, and the next prompt starts a new host.
local autocmds = require("acp_nvim.kernel.autocmds")
local calls = require("acp_nvim.transcript.calls")
local end_turn = require("acp_nvim.sessions.turn_end")
local float = require("acp_nvim.permission.float")
local follow = require("acp_nvim.follow")
local forms = require("acp_nvim.forms")
local message = require("acp_nvim.kernel.message")
local permission = require("acp_nvim.permission")
local plans = require("acp_nvim.transcript.plans")
local prompt = require("acp_nvim.prompt.buffer")
local queue = require("acp_nvim.prompt.queue")
local sending = require("acp_nvim.prompt.sending")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

---Cancels the permission requests of a session.
function M.abandon_permissions(session)
  for _, pending in ipairs(permission.abandon(session)) do
    autocmds.fire("AcpPermissionDone", { session = session.key, id = pending.request.id, outcome = "cancelled" })
  end
end

---Ends the questions of a session that is closed.
function M.abandon_questions(session)
  for _, id in ipairs(forms.abandon("cancelled", session.key)) do
    local data = { session = session.key, id = id, action = "cancel", why = "cancelled" }
    autocmds.fire("AcpElicitationDone", data)
  end
end

---@param words string
---@param last string[]
local function fail_session(session, words, last)
  M.abandon_permissions(session)
  local text = words
  local back, count = queue.lose_host(session), #queue.prompts(session)
  if #back > 0 then
    prompt.restore(session, back)
    text = text .. "\nWhat the agent had not seen yet is back in the prompt."
  end
  if count > 0 then
    text = text .. "\nQueued prompts are kept, and are sent with your next prompt."
  end
  calls.end_open_calls(session)
  sending.note(session, "error", text .. (#last > 0 and "\n" .. table.concat(last, "\n") or ""))
  local status = vim.tbl_extend("force", session.status, { state = "failed", pending_permissions = 0, queue = count })
  status.activity, status.turn_started = nil, nil
  session.status, session.decisions = status, nil
  plans.end_turn(session)
  winbar.update(session)
end

---Ends the turn that ran, as the host would have done if its agent had ended. Listeners see the new state.
local function end_open_turn(session)
  if session.open_turn then
    session.status.stop_reason = "error"
    end_turn(session, "error", session.open_turn.background)
  end
end

---@param words string why the host ended
---@param code integer its exit code
---@param last string[] the last lines of its stderr
function M.fail_sessions(words, code, last)
  message.news(words)
  permission.forget()
  float.forget()
  follow.host_ended()
  for _, session in ipairs(sessions.all()) do
    session.status.checks = nil
    local is_concerned = session.status.state ~= "stopped" or #queue.unsent(session) > 0
    if session.host and not session.kept and is_concerned then
      fail_session(session, words, last)
    end
  end
  transcript.flush()
  vim.iter(sessions.all()):each(end_open_turn)
  autocmds.fire("AcpError", { text = words, code = code })
end

return M
