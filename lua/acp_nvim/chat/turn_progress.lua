-- Tells Neovim that a turn runs: by the event Progress, and by the option 'busy' of the chat's buffer.
local busy = require("acp_nvim.chat.busy")
local cells = require("acp_nvim.render.cells")
local event = require("acp_nvim.progress.event")
local plans = require("acp_nvim.transcript.plans")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.host.sessions")
local states = require("acp_nvim.host.states")
local status_parts = require("acp_nvim.chat.winbar.status_parts")

local M = {}

local STATUSES = { end_turn = "success", cancelled = "cancel" } -- all others have failed

local function id_of(session)
  return "turn." .. session.key
end

---Tells what the agent does, and how much of its plan it has done.
function M.changed(session)
  if not session.open_turn or session.parent then
    return
  end
  local done, total = status_parts.plan(session)
  event.goes_on(id_of(session), {
    title = cells.plain(sessions.name(session)),
    text = states.is_busy(session.status.state) and status_parts.activity(session.status) or "working",
    done = done,
    total = total,
    session = session.key,
  })
end

function M.began(session)
  busy(session)
  M.changed(session)
end

---@param stop_reason string
function M.ended(session, stop_reason)
  busy(session)
  event.ended(id_of(session), STATUSES[stop_reason] or "failed")
end

---The session is closed.
function M.forget(session)
  event.ended(id_of(session), "cancel")
end

plans.on_change(M.changed)

event.on_cancel(function(key)
  local session = sessions.get(key)
  if session then
    requests.send(session, "cancel")
  end
end)

return M
