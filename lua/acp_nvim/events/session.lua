-- Handlers of the events of one session, by event type.
local autocmds = require("acp_nvim.kernel.autocmds")
local lazy = require("acp_nvim.lazy")
local buffers = require("acp_nvim.buffers")
local calls = require("acp_nvim.transcript.calls")
local candidates = lazy("acp_nvim.prompt.complete.candidates")
local chat_buffer = require("acp_nvim.chat.buffer")
local config = require("acp_nvim.config")
local details = require("acp_nvim.actions.targets.details")
local drafts = require("acp_nvim.prompt.drafts")
local end_turn = require("acp_nvim.sessions.turn_end")
local export = require("acp_nvim.sessions.export")
local external = require("acp_nvim.kernel.external")
local fit = require("acp_nvim.chat.windows.fit")
local follow = require("acp_nvim.follow")
local forms = require("acp_nvim.forms")
local idle = require("acp_nvim.kernel.idle")
local kept_sessions = require("acp_nvim.sessions.kept")
local message = require("acp_nvim.kernel.message")
local notice = require("acp_nvim.transcript.blocks.notice")
local notify = require("acp_nvim.sessions.notify")
local options = require("acp_nvim.options")
local permission = require("acp_nvim.permission")
local plans = require("acp_nvim.transcript.plans")
local preview = require("acp_nvim.permission.preview")
local problems = lazy("acp_nvim.problems")
local prompt = require("acp_nvim.prompt.buffer")
local queue = require("acp_nvim.prompt.queue")
local queue_buffer = require("acp_nvim.prompt.queue_buffer")
local states = require("acp_nvim.host.states")
local subagents = lazy("acp_nvim.events.subagents")
local summary = require("acp_nvim.transcript.blocks.summary")
local targets = require("acp_nvim.actions.targets")
local terminals = require("acp_nvim.terminals")
local transcript = require("acp_nvim.transcript")
local turn_progress = require("acp_nvim.chat.turn_progress")
local unread = require("acp_nvim.chat.unread")
local welcome = lazy("acp_nvim.chat.welcome")
local winbar = require("acp_nvim.chat.winbar")

---@param server acp.McpServer
---@return boolean it is the one of this editor
local function is_own(server)
  return server.calls ~= nil
end

---@param call acp.ToolCall
---@param block integer
local function fire_tool_call(session, call, block)
  if session.kept or not autocmds.is_heard("AcpToolCall") then
    return
  end
  local size, endings = 0, ""
  for _, item in ipairs(call.content or {}) do
    size = size
      + #(item.text or "")
      + #(item.old_text or "")
      + #(item.new_text or "")
      + #(item.output or "")
      + #(item.tail or "")
      + 1
    endings = ("%s %s %s"):format(endings, item.exit_code or item.signal or "", item.lines or "")
  end
  -- a redraw repeats calls that listeners have already received
  local state = table.concat({ call.status or "", call.kind or "", size, endings, call.id, call.title or "" }, "\0")
  if session.calls[block] ~= state then -- agents use ids again
    session.calls[block] = state
    autocmds.fire("AcpToolCall", { session = session.key, call = call })
  end
end

---Says in a chat that nothing was sent from what can be done there.
local function greet(session)
  if session.is_new then
    idle.run(function()
      welcome.show(session)
    end)
  end
end

---Counts unread messages. Messages of a conversation that is replayed are not new.
---@param event acp.Event of type append or replace
local function count_unread(session, event)
  if session.parent then
    return -- the chat of its parent shows that it works
  elseif session.recalling then
    session.heard = math.max(session.heard or 0, event.block)
  else
    unread.message(session, event.block, event.kind)
  end
end

---@type table<string, fun(session: acp.Session, event: acp.Event)>
return {
  status = function(session, event)
    session.status, session.recalling = event.status, nil
    session.last_session_id = event.status.session_id or session.last_session_id
    session.agent = event.status.agent or session.agent
    session.cwd = event.status.worktree and event.status.cwd or session.cwd
    buffers.set_roots(session.key, event.status.directories or {}, event.status.watched)
    if not states.is_busy(event.status.state) then
      plans.end_turn(session)
    end
    winbar.update(session)
    turn_progress.changed(session)
    if session.suggestion then
      prompt.refresh(session)
    end
  end,
  append = function(session, event)
    transcript.append(session, event.block, event.kind, event.text)
    count_unread(session, event)
  end,
  replace = function(session, event)
    transcript.replace(session, event.block, event.kind, event.text)
    count_unread(session, event)
  end,
  tool_call = function(session, event)
    session.call_blocks[event.call.id] = math.max(event.block, session.call_blocks[event.call.id] or 0)
    calls.show(session, event)
    fire_tool_call(session, event.call, event.block)
  end,
  plan = plans.show,
  subagent_forgotten = function(_, event)
    subagents.forgotten(event.subagent)
  end,
  subagent = function(session, event)
    subagents.changed(session, event)
  end,
  permission = function(session, event)
    if permission.asked(session, event.block, event.request) then
      autocmds.fire("AcpPermissionRequest", { session = session.key, request = event.request })
      notify.permission(session, event.request)
    end
  end,
  permission_done = function(session, event)
    if permission.done(session, event) then
      local data = { session = session.key, id = event.id, outcome = event.outcome, option_id = event.option_id }
      data.why = event.why
      autocmds.fire("AcpPermissionDone", data)
    end
  end,
  permission_auto = function(session, event)
    if permission.automatic(session, event) then
      autocmds.fire("AcpPermissionDone", {
        session = session.key,
        id = event.request.id,
        outcome = "selected",
        option_id = event.option_id,
        rule = event.rule,
        source = event.source,
      })
    end
  end,
  preview = function(_, event)
    preview.received(event)
  end,
  preview_done = function(_, event)
    preview.done(event)
  end,
  notice = function(session, event)
    transcript.draw(session, event.block, "notice", notice(event.level, event.text))
  end,
  summary = function(session, event)
    transcript.draw(session, event.block, "summary", summary(event, session.cwd))
  end,
  terminal_output = terminals.output,
  session_ready = function(session, event)
    session.agent = event.agent or session.agent
    session.status.session_id = event.session_id
    autocmds.fire("AcpSessionReady", { session = session.key, session_id = event.session_id, agent = event.agent })
    greet(session)
  end,
  turn_start = function(session, event)
    if session.is_new then
      welcome.clear(session)
    end
    plans.end_turn(session)
    follow.turn_began(session.key)
    local is_wanted = config.get().after_turn.diagnostics or vim.iter(session.status.mcp or {}):any(is_own)
    if is_wanted and not (event.of_checks and problems.is_marked(session.key)) then
      problems.mark(session.key) -- while the agent mends what a turn has broken, that stays new
    end
    prompt.suggest(session, "")
    session.open_turn = { background = event.background == true }
    turn_progress.began(session)
    autocmds.fire("AcpTurnStart", { session = session.key, background = event.background == true })
  end,
  turn_end = function(session, event)
    end_turn(session, event.stop_reason, event.background == true, event.empty)
  end,
  commands = function(session, event)
    session.commands = event.commands
    if session.on_commands then
      candidates.commands_came(session)
    end
  end,
  prompt_suggestion = function(session, event)
    prompt.suggest(session, event.text)
  end,
  reset = function(session, event)
    transcript.reset(session)
    session.call_blocks = {} -- all calls come again, perhaps in other blocks
    calls.clear(session)
    plans.reset(session)
    chat_buffer.restore_earlier(session, event.after)
    if session.status.session_id then
      greet(session) -- in a new buffer, after :bwipeout of the other
    end
  end,
  call_details = function(session, event)
    details.show(session, event, targets.open_written)
  end,
  call_media = function(_, event)
    if event.path then
      external.file(event.path)
    else
      message.news("this media cannot be opened: " .. (event.problem or ":AcpLog may say why"), vim.log.levels.WARN)
    end
  end,
  config = options.received,
  elicitation = function(session, event)
    if forms.asked(session, event) then
      autocmds.fire("AcpElicitation", { session = session.key, request = event.request })
      notify.question(session, event.request)
    end
  end,
  elicitation_done = function(session, event)
    if forms.done(session, event) then
      local data = { session = session.key, id = event.id, action = event.action, why = event.why }
      autocmds.fire("AcpElicitationDone", data)
    end
  end,
  elicitation_complete = function(_, event)
    forms.complete(event)
  end,
  elicitation_checked = function(_, event)
    forms.checked(event)
  end,
  queue = function(session, event)
    session.queue = { held = event.held, prompts = event.prompts or {} }
    queue.show(session)
    drafts.changed(session)
    fit.soon() -- the prompt window grows by the lines of the queue
    queue_buffer.refresh(session)
  end,
  decisions = function(session, event)
    session.decisions = event.words ~= "" and event.words or nil
    winbar.update(session)
  end,
  queue_late = function(session, event)
    for _, queued in ipairs(event.prompts or {}) do
      prompt.put_back(session, queued.text)
    end
    message.warn(
      "a queued prompt that you edited was sent or removed before: your text is in the prompt's buffer again"
    )
  end,
  prompts_taken = function(session, event)
    queue.taken(session, event.ids, event.revisions)
    drafts.changed(session)
  end,
  permission_kept = permission.kept,
  transcript_shown = kept_sessions.received,
  exported = export.received,
}
