-- What becomes of events about what waits to be sent, and about kept conversations.
local drafts = require("acp_nvim.prompt.drafts")
local export = require("acp_nvim.sessions.export")
local fit = require("acp_nvim.chat.windows.fit")
local kept_sessions = require("acp_nvim.sessions.kept")
local message = require("acp_nvim.message")
local permission = require("acp_nvim.permission")
local prompt = require("acp_nvim.prompt.buffer")
local queue = require("acp_nvim.prompt.queue")
local queue_buffer = require("acp_nvim.prompt.queue_buffer")

---@param session acp.Session
---@param event acp.Event
local function late(session, event)
  for _, one in ipairs(event.prompts or {}) do
    prompt.put_back(session, one.text)
  end
  message.warn("what you edited in the queue was sent, or removed, before: your version is back in the prompt")
end

---@type table<string, fun(session: acp.Session, event: acp.Event)>
return {
  queue = function(session, event)
    session.queue = { held = event.held, prompts = event.prompts or {} }
    queue.show(session)
    drafts.changed(session)
    fit.soon() -- the prompt has room for it
    queue_buffer.refresh(session)
  end,
  queue_late = late,
  prompts_taken = function(session, event)
    queue.taken(session, event.ids, event.revisions)
    drafts.changed(session)
  end,
  permission_kept = permission.kept,
  transcript_shown = kept_sessions.told,
  exported = export.told,
}
