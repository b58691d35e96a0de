-- Handlers of the events that belong to no single session, by event type.
local actions = require("acp_nvim.review.files.actions")
local autocmds = require("acp_nvim.kernel.autocmds")
local buffers = require("acp_nvim.buffers")
local client = require("acp_nvim.sessions.client")
local follow = require("acp_nvim.follow")
local lazy = require("acp_nvim.lazy")
local loading = require("acp_nvim.review.files.loading")
local login = require("acp_nvim.login")
local message = require("acp_nvim.kernel.message")
local permission_rules = require("acp_nvim.permission.rules")
local progress = require("acp_nvim.progress.review")
local restore = require("acp_nvim.review.files.restore")
local review_files = require("acp_nvim.review.files")
local session_question = require("acp_nvim.host.question")

---@type table<string, fun(event: acp.Event)>
return {
  ready = client.ready,
  error = function(event)
    message.news(event.text)
    autocmds.fire("AcpError", { text = event.text, code = event.code, agent = event.agent, session = event.session })
  end,
  file_changed = function(event)
    autocmds.fire("AcpFileChanged", {
      session = event.session,
      path = event.path,
      by = event.by,
      why = event.why,
      tool_call = event.tool_call,
      operation = event.operation,
      added = event.added,
      removed = event.removed,
    })
  end,
  checkpoints = restore.checkpoints,
  project_servers = lazy.fn("acp_nvim.mcp.trust", "ask"),
  restore_plan = restore.planned,
  restored = restore.restored,
  judged = actions.judged,
  permission_rules = permission_rules.received,
  files_maybe_changed = buffers.refresh,
  location = follow.set_location,
  agents_known = session_question.answer,
  sessions_listed = session_question.answer,
  session_done = session_question.answer,
  worktree_seen = session_question.answer,
  providers_listed = session_question.answer,
  review = review_files.received,
  review_loaded = loading.received,
  review_collecting = loading.collecting,
  review_progress = function(event)
    progress.received(event)
    if event.session and event.is_over then
      autocmds.fire("AcpTurnChanges", { session = event.session })
    end
  end,
  sign_in = login.wanted,
  sign_in_terminal = login.terminal,
  sign_in_done = login.done,
}
