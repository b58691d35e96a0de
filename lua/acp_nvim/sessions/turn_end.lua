-- Ends a turn in the editor, as its host says, or because the host has ended.
local autocmds = require("acp_nvim.kernel.autocmds")
local follow = require("acp_nvim.follow")
local loading = require("acp_nvim.review.files.loading")
local notify = require("acp_nvim.sessions.notify")
local plans = require("acp_nvim.transcript.plans")
local preview_view = require("acp_nvim.review.previews.view")
local progress = require("acp_nvim.progress.review")
local turn_progress = require("acp_nvim.chat.turn_progress")
local unread = require("acp_nvim.chat.unread")

---@param session acp.Session
---@param stop_reason string
---@param background boolean
---@param empty? boolean the agent has said and done nothing, which is no news
return function(session, stop_reason, background, empty)
  session.open_turn = nil
  turn_progress.ended(session, stop_reason)
  plans.end_turn(session)
  if not empty then
    unread.turn_ended(session)
    notify.turn_end(session, stop_reason)
  end
  follow.turn_ended(session.key)
  loading.turn_ended()
  preview_view.turn_ended(session.key)
  local data = { session = session.key, stop_reason = stop_reason, background = background }
  data.collecting = progress.is_collecting(session.key)
  autocmds.fire("AcpTurnEnd", data)
end
