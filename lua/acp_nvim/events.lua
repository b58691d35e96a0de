-- Applies what the host tells; one bad event never keeps the others from being seen.
local autocmds = require("acp_nvim.autocmds")
local buffers = require("acp_nvim.buffers")
local client = require("acp_nvim.client")
local float = require("acp_nvim.permission.float")
local follow = require("acp_nvim.follow")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.log")
local message = require("acp_nvim.message")
local notice = require("acp_nvim.chat.blocks.notice")
local permission = require("acp_nvim.permission")
local permission_rules = require("acp_nvim.permission.rules")
local plans = require("acp_nvim.chat.plans")
local preview = require("acp_nvim.review.preview")
local prompt_seen = require("acp_nvim.prompt.seen")
local review_watch = require("acp_nvim.review.watch")
local restore = require("acp_nvim.review.restore")
local review_keys = require("acp_nvim.review.keys")
local review_list = require("acp_nvim.review.list")
local sessions = require("acp_nvim.sessions")
local summary = require("acp_nvim.chat.blocks.summary")
local terminals = require("acp_nvim.terminals")
local tool_call = require("acp_nvim.chat.blocks.tool_call")
local transcript = require("acp_nvim.chat.transcript")
local winbar = require("acp_nvim.chat.winbar")
local windows = require("acp_nvim.chat.windows")

local M = {}

---@type acp.Event[] batches that met a text lock
local backlog = {}
local reported = false
---@type table<string, true> types of events that were passed over
local unknown = {}

---@param session acp.Session
---@param event acp.Event
local function ask(session, event)
  local new = permission.asked(session, event.block, event.request)
  if not new then
    return
  end
  autocmds.fire("AcpPermissionRequest", { session = session.key, request = event.request })
  if not windows.visible(session) and not float.shows(event.request.id) then
    local title = (event.request.title or ""):match("^[^\r\n]*")
    local words = ("%s asks you (:AcpChat): %s"):format(session.agent or "the agent", title)
    message.news(words, vim.log.levels.WARN)
  end
end

---@param session acp.Session
---@param call acp.ToolCall
local function tell_tool_call(session, call)
  local size, endings = 0, ""
  for _, item in ipairs(call.content or {}) do
    size = size + #(item.text or "") + #(item.old_text or "") + #(item.new_text or "") + #(item.output or "") + 1
    endings = endings .. tostring(item.exit_code or item.signal or "")
  end
  -- a redraw repeats what listeners have heard
  local state = table.concat({ call.status or "", call.kind or "", size, endings, call.title or "" }, "\0")
  if session.calls[call.id] ~= state then
    session.calls[call.id] = state
    autocmds.fire("AcpToolCall", { session = session.key, call = call })
  end
end

---@type table<string, fun(session: acp.Session, event: acp.Event)>
local of_session = {
  status = function(session, event)
    session.status = event.status
    session.agent = event.status.agent or session.agent
    buffers.set_roots(session.key, event.status.directories or {})
    prompt_seen.status(session)
    winbar.update(session)
  end,
  append = function(session, event)
    transcript.append(session, event.block, event.kind, event.text)
    if event.kind == "user" then
      prompt_seen.text(session, event.text)
    end
  end,
  replace = function(session, event)
    if event.kind == "user" and not transcript.row(session, event.block) then
      prompt_seen.text(session, event.text)
    end
    transcript.replace(session, event.block, event.kind, event.text)
  end,
  tool_call = function(session, event)
    session.call_blocks[event.call.id] = event.block
    transcript.draw(session, event.block, "tool_call", tool_call(event.call, session.cwd))
    tell_tool_call(session, event.call)
  end,
  plan = plans.show,
  permission = ask,
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
    preview.told(event)
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
  end,
  turn_start = function(session)
    follow.turn_began(session.key)
    autocmds.fire("AcpTurnStart", { session = session.key })
  end,
  turn_end = function(session, event)
    follow.turn_ended(session.key)
    autocmds.fire("AcpTurnEnd", { session = session.key, stop_reason = event.stop_reason })
  end,
  commands = function(session, event)
    session.commands = event.commands
  end,
  reset = function(session)
    transcript.reset(session)
    plans.forget(session)
  end,
}

---@type table<string, fun(event: acp.Event)>
local of_all = {
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
      operation = event.operation,
      added = event.added,
      removed = event.removed,
    })
  end,
  checkpoints = restore.checkpoints,
  restore_plan = restore.planned,
  restored = restore.restored,
  permission_rules = permission_rules.told,
  files_maybe_changed = buffers.refresh,
  location = follow.told,
  review = review_watch.told,
}

---A newer host may have more to say than this Neovim has loaded.
---@param type any
local function pass_over(type)
  local word = tostring(type)
  if not unknown[word] and vim.tbl_count(unknown) < limits.event_types then
    unknown[word] = true
    log.write(("events of the type %q are passed over: this version does not know them"):format(word))
  end
end

---@param event acp.Event
local function apply_one(event)
  local handle = of_all[event.type]
  if handle then
    return handle(event)
  end
  local session = event.session and sessions.get(event.session)
  local handle_session = of_session[event.type]
  if not handle_session then
    pass_over(event.type)
  elseif session then
    handle_session(session, event)
  end
end

---@param value any
---@return any value without vim.NIL
local function plain(value)
  if type(value) ~= "table" then
    return value ~= vim.NIL and value or nil
  end
  for key, item in pairs(value) do
    if item == vim.NIL then
      value[key] = nil
    elseif type(item) == "table" then
      plain(item)
    end
  end
  return value
end

---@param run fun(...)
---@param ... any
local function guarded(run, ...)
  local ok, err = xpcall(run, debug.traceback, ...)
  if not ok then
    log.write("an event failed: " .. err)
    if not reported then
      reported = true
      message.news("something could not be shown, the rest goes on: " .. err)
    end
  end
end

---@param batch acp.Event[]
local function apply_all(batch)
  for _, event in ipairs(batch) do
    plain(event)
    guarded(apply_one, event)
  end
  guarded(transcript.flush)
  guarded(review_keys.refresh)
  guarded(follow.refresh)
end

---@return boolean the editor is where no text may be changed
local function is_locked()
  local _, err = pcall(vim.api.nvim_buf_set_lines, -1, 0, 0, true, {}) -- fails either way
  return tostring(err):find("E565", 1, true) ~= nil
end

local function retry()
  vim.defer_fn(function()
    local batch = backlog
    backlog = {}
    M.apply(batch)
  end, limits.textlock_retry_ms)
end

float.watch()
review_keys.watch()
review_list.watch()

---@param batch acp.Event[]
function M.apply(batch)
  local waits = #backlog > 0
  if waits or is_locked() then
    vim.list_extend(backlog, batch)
    if not waits then
      retry()
    end
    return
  end
  apply_all(batch)
end

return M
