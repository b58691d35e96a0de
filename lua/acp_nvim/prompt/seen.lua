-- Keeps in mind which prompts the host has taken up, so that the others can be put back if it dies.
local drafts = require("acp_nvim.prompt.drafts")

local M = {}

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
      drafts.changed(session)
      return
    end
  end
end

---@param session acp.Session with a new status
function M.status(session)
  local is_done = session.status.state == "idle" and (session.status.queue or 0) == 0
  if is_done and #session.unseen > 0 then
    session.unseen = {}
    drafts.changed(session)
  end
end

return M
