-- Keeps the permission requests that wait for an answer, of all sessions. Each request is answered once.
local Lines = require("acp_nvim.render.lines")
local answer_keys = require("acp_nvim.permission.answer_keys")
local block = require("acp_nvim.permission.request")
local calls = require("acp_nvim.transcript.calls")
local chat_visibility = require("acp_nvim.permission.chat_visibility")
local fit = require("acp_nvim.chat.windows.fit")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.kernel.message")
local previews = require("acp_nvim.review.previews")
local reader = require("acp_nvim.permission.reader")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.host.sessions")
local tail = require("acp_nvim.render.tail")
local transcript = require("acp_nvim.transcript")
local visibility = require("acp_nvim.permission.visibility")

local M = {}

---@type table<integer, acp.Pending> by request id
local pending = {}
---@type table<integer, "asked"|"done"> by request id: the last event that was announced; a redraw sends events again
local announced = {}
---@type table<integer, integer> by session: when one of its requests was withdrawn last, in nanoseconds
local withdrawn = {}
---@type fun() called when the waiting requests, or what is known of them, have changed
local on_change = function() end
---@type table<integer, acp.Session> whose requests have changed since the last `flush`
local changed = {}

local REASONS =
  { withdrawn = "withdrawn by the agent", cancelled = "cancelled", agent_gone = "cancelled: the agent is gone" }

---@param options acp.Option[]
---@param event { outcome: string, name?: string, option_id?: string, why?: string }
---@return string outcome in words, behind a mark; an option of an unknown kind counts neither as yes nor as no
local function outcome_words(options, event)
  if event.outcome ~= "selected" then
    return "– " .. (REASONS[event.why] or tostring(event.outcome))
  end
  local mark = "→ "
  for _, option in ipairs(options) do
    if option.option_id == event.option_id then
      local kind = tostring(option.kind)
      mark = vim.startswith(kind, "reject") and "✗ " or vim.startswith(kind, "allow") and "✓ " or "→ "
      break
    end
  end
  return mark .. Lines.one_line(event.name or event.option_id or "answered")
end

---@param session? acp.Session
---@return acp.Pending[] that still wait for the user, oldest first
function M.waiting(session)
  local list = vim.tbl_filter(function(one)
    return not one.answered and (not session or one.session == session.key)
  end, vim.tbl_values(pending))
  table.sort(list, function(a, b)
    return a.request.id < b.request.id
  end)
  return list
end

---@param one acp.Pending
---@param option_id? string that was chosen
---@param is_answered? boolean by the user
local function close_views(one, option_id, is_answered)
  local id = one.request.id
  visibility.forget(id)
  chat_visibility.forget(id)
  reader.over(id, is_answered)
  previews.done(
    id,
    vim.iter(one.request.options):any(function(option)
      return option.option_id == option_id and vim.startswith(tostring(option.kind), "allow")
    end)
  )
end

---Updates the keys of a chat, and its windows if it asks now, or does not any more.
local function refresh_keys(session)
  local waiting = M.waiting(session)
  answer_keys.refresh(session, waiting, M.press)
  if session.asks ~= (#waiting > 0) then
    session.asks = #waiting > 0
    fit.soon()
  end
end

---Notes that the requests of a session have changed: keys and listeners are updated at the end of the batch, or soon.
local function note(session)
  if not next(changed) then
    vim.schedule(M.flush)
  end
  changed[session.key] = session
end

---Updates the keys and the listener for all changes since the last call.
function M.flush()
  local sessions_changed = changed
  changed = {}
  for _, session in pairs(sessions_changed) do
    refresh_keys(session)
  end
  if next(sessions_changed) then
    on_change()
  end
end

---Draws a request. While it waits, a tool call right above that says no more than its command is hidden: the command would
---be there twice.
---@param one acp.Pending
---@param outcome? string
local function draw(one, outcome)
  local session = sessions.get(one.session)
  if not session then
    return
  end
  local request = one.request
  local width, win = nil, nil
  if session.bufnr then
    width, win = tail.width(session.bufnr)
  end
  one.width = width or one.width
  one.call_block = one.call_block or session.call_blocks[request.tool_call_id] -- a later call may have the same id
  local call = one.call_block == one.block - 1 and transcript.block(session, one.block - 1) or nil
  local display = {
    letters = answer_keys.letters(request),
    outcome = outcome,
    above = call and call.rendered and transcript.lines(session, call) or nil,
    cwd = session.cwd,
    files = #previews.of_request(request.id),
    width = one.width,
    height = win and vim.fn.getwininfo(win)[1].height, -- without its 'winbar'
  }
  local is_covered = not outcome
    and display.above ~= nil
    and calls.is_plain(call, request.kind)
    and block.covers(request, call.call.title, call.title_lines, display)
  if is_covered then
    display.above = nil
  end
  local rendered = block.render(request, display)
  rendered.call_block = one.call_block
  if not outcome and not one.answered then
    chat_visibility.show(one, rendered, display.above or {})
  end
  transcript.draw(session, one.block, "permission", rendered)
  if call and call.call then
    calls.cover(session, call, is_covered)
  end
  fit.soon()
end

---Ends a request. Unless the user answered it here, another request takes its place under the keys.
---@param one acp.Pending
---@param outcome string
---@param option_id? string that was chosen
local function close(one, outcome, option_id)
  pending[one.request.id] = nil
  if not one.answered then
    withdrawn[one.session] = vim.uv.hrtime()
  end
  close_views(one, option_id, one.answered)
  draw(one, outcome)
end

---@param id integer block
---@return boolean new false when it is only drawn again
function M.asked(session, id, request)
  local known = pending[request.id]
  -- a redraw sends a closed request again, and closes it after that
  local is_over = announced[request.id] == "done" or (known and known.answered)
  local one = { session = session.key, block = id, request = request, answered = is_over }
  if known and vim.deep_equal(known.request, request) then
    one.came = known.came
  else
    one.came = vim.uv.hrtime()
    visibility.forget(request.id) -- another request was seen
  end
  pending[request.id] = one
  reader.refresh(one)
  draw(one)
  note(session)
  local new = announced[request.id] == nil
  announced[request.id] = announced[request.id] or "asked"
  return new
end

---@param event acp.Event of type permission_done
---@return boolean new false when it was announced before, or the request is unknown
function M.done(session, event)
  local one = pending[event.id]
  if not one then
    return false
  end
  close(one, outcome_words(one.request.options, event), event.outcome == "selected" and event.option_id or nil)
  note(session)
  local new = announced[event.id] == "asked"
  announced[event.id] = "done"
  return new
end

---Shows a request that a rule has answered.
---@param event acp.Event of type permission_auto
---@return boolean new false when it is only drawn again
function M.automatic(session, event)
  local options = vim.list_extend({ { option_id = event.option_id, kind = event.kind } }, event.request.options or {})
  local outcome = outcome_words(options, vim.tbl_extend("error", event, { outcome = "selected" }))
  transcript.draw(session, event.block, "permission", block.automatic(event, outcome))
  local new = announced[event.request.id] == nil
  announced[event.request.id] = "done"
  return new
end

---Shows a request of a kept conversation: it cannot be answered, and its id is of another Neovim.
---@param event acp.Event of type permission_kept
function M.kept(session, event)
  local outcome = event.outcome and outcome_words(event.request.options or {}, event) or "– not answered"
  local words = event.rule and ("%s, by the rule %s"):format(outcome, Lines.one_line(event.rule)) or outcome
  local rendered = block.render(event.request, { letters = {}, outcome = words, cwd = session.cwd, files = 0 })
  transcript.draw(session, event.block, "permission", rendered)
end

---Forgets what was announced: a new host numbers its requests from 1 again.
function M.forget()
  announced = {}
end

---Cancels all requests of a session whose host has ended.
---@return acp.Pending[] that were open
function M.abandon(session)
  local open = vim.tbl_filter(function(one)
    return one.session == session.key
  end, vim.tbl_values(pending))
  for _, one in ipairs(open) do
    close(one, "– cancelled")
  end
  refresh_keys(session)
  on_change()
  return open
end

---@param id integer of a request
---@return acp.Pending? nil when it is closed
function M.get(id)
  return pending[id]
end

---@param listener fun() called when the waiting requests, or what is known of them, have changed
function M.on_change(listener)
  on_change = listener
end

---@return { id: integer, session: integer, title: string, kind: string, options: acp.Option[] }[]
function M.list()
  return vim.tbl_map(function(one)
    local request = one.request
    return {
      id = request.id,
      session = one.session,
      title = request.title,
      kind = request.kind,
      options = vim.deepcopy(request.options),
    }
  end, M.waiting())
end

---@param option_id string
---@return boolean answered
---@return string? problem
function M.answer(id, option_id)
  local one = pending[id]
  if not one or one.answered then
    return false, ("no permission %s waits for an answer"):format(tostring(id))
  end
  for _, option in ipairs(one.request.options) do
    if option.option_id == option_id then
      one.answered = requests.answer(id, option_id)
      if one.answered then
        close_views(one, option_id, true)
      end
      refresh_keys(sessions.get(one.session))
      on_change()
      return one.answered, not one.answered and "the host could not be reached" or nil
    end
  end
  local words = ("permission %d has no option %q"):format(id, tostring(option_id))
  return false, one.request.left_out and words .. ": " .. block.rejects_only(one.request) or words
end

---Answers for a key. An option that allows is sent only when the whole request has been on the screen, else the request
---is shown; it is not sent right after the request came or took the place of another one.
---@param option_id string
---@param read? table<string, true> files whose changes were read in these
---@return boolean answered
---@return string? problem
function M.press(id, option_id, read)
  local one = pending[id]
  if not one or one.answered or answer_keys.rejects(one.request, option_id) then
    return M.answer(id, option_id)
  end
  local since = math.max(one.came, withdrawn[one.session] or 0)
  if vim.uv.hrtime() - since < limits.answer_pause_ms * 1e6 then
    message.news("this request has just appeared: look at it, then press the key again", vim.log.levels.WARN)
    return false
  elseif visibility.is_whole(id, read) then
    return M.answer(id, option_id)
  end
  reader.show(one, M.press, option_id)
  return false
end

---@param call acp.Block
---@return integer? id of the request for whose command the call may be hidden, or a part of which is in it
local function request_of_call(session, call)
  for id, one in pairs(call.call and pending or {}) do
    if one.request.command and one.session == session.key and one.call_block == call.id then
      return id
    end
  end
  return chat_visibility.request_of_call(session, call.id)
end

-- A part of a request may be in the tool call above it, which has changed.
transcript.on_changes(function(session, blocks)
  for changed_block in pairs(blocks) do
    local id = request_of_call(session, changed_block)
    if id then
      vim.schedule(function() -- the chat is being written now
        if pending[id] and not pending[id].answered then
          draw(pending[id])
          transcript.flush()
        end
      end)
    end
  end
end)

---Draws the waiting requests of chats whose windows have another width now: it decides the rows of the options.
local function fit_options()
  for _, one in ipairs(M.waiting()) do
    local session = sessions.get(one.session)
    local width = session and session.bufnr and tail.width(session.bufnr)
    if width and width ~= one.width then
      draw(one)
      transcript.flush()
    end
  end
end

vim.api.nvim_create_autocmd({ "WinResized", "BufWinEnter" }, {
  group = vim.api.nvim_create_augroup("acp_nvim.permission.width", {}),
  callback = function()
    if next(pending) then
      vim.schedule(fit_options) -- when the window has its size
    end
  end,
})

previews.on_change(function(id)
  local one = pending[id]
  local session = one and sessions.get(one.session)
  if session then
    draw(one)
    note(session)
  end
end)

return M
