-- Keeps in mind which prompts the host has taken up, so that the others can be put back if it dies.
local drafts = require("acp_nvim.prompt.drafts")
local states = require("acp_nvim.states")

local M = {}

---@param session acp.Session
---@return boolean whether what is shown now is not sent yet: it waits for the agent, or for its turn
local function is_next(session)
  return not states.is_busy(session.status.state)
end

---A prompt is in the transcript now.
---@param session acp.Session
---@param text string
function M.text(session, text)
  if text == "" then
    return
  end
  for index, unseen in ipairs(session.unseen) do
    -- a long text comes in pieces; the names of what was attached follow it
    if vim.startswith(unseen, text) or vim.startswith(text, unseen) then
      table.remove(session.unseen, index)
      session.sent_context[unseen] = nil
      session.said = is_next(session) and unseen or nil
      drafts.changed(session)
      return
    end
  end
end

---The turn of what was shown last has begun.
---@param session acp.Session
function M.begun(session)
  session.said = nil
end

---The host has ended: what was shown, and not sent, is still to be sent.
---@param session acp.Session
function M.take_back(session)
  table.insert(session.unseen, 1, session.said)
  session.said = nil
end

---@param session acp.Session with a new status
function M.status(session)
  local is_done = session.status.state == "idle" and (session.status.queue or 0) == 0
  if is_done and #session.unseen > 0 then
    session.unseen, session.sent_context = {}, {}
    drafts.changed(session)
  end
end

return M
