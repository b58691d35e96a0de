-- Classifies the states of a session, and names them.
local M = {}

---@param state? string of `acp.Status`
---@return boolean a turn runs, started by a prompt or by the agent, and does not wait for the user
function M.is_working(state)
  return state == "running" or state == "background"
end

---@param state? string of `acp.Status`
---@return boolean a turn runs or a request waits for the user
function M.is_busy(state)
  return M.is_working(state) or state == "waiting"
end

local IDLE = { cancelled = "cancelled", refusal = "refused" }

---@param status acp.Status
---@return string what the session does, or waits for
local function activity(status)
  if status.sign_in then
    return status.sign_in == "running" and "signing in" or "asks you to sign in"
  elseif status.state == "waiting" or (status.pending_permissions or 0) + (status.pending_elicitations or 0) > 0 then
    return "asks you"
  elseif M.is_working(status.state) then
    return "working"
  elseif status.state == "idle" then
    return status.stop_reason and (IDLE[status.stop_reason] or "done") or "ready"
  end
  return status.asleep and "asleep" or tostring(status.state)
end

---@param session acp.Session
---@return string[] its state in words, for a list of sessions
function M.words(session)
  local status, words = session.status, { activity(session.status) }
  local review = status.review and status.review.files or 0
  for text, count in
    vim.spairs({
      ["%d queued"] = status.queue or 0,
      ["%d unread"] = session.unread or 0,
      ["to review: %d"] = review,
    })
  do
    words[#words + 1] = count > 0 and text:format(count) or nil
  end
  return words
end

return M
