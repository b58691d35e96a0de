-- The permissions that wait for an answer, of all sessions; each is answered once.
local Lines = require("acp_nvim.chat.blocks.lines")
local answer_keys = require("acp_nvim.chat.answer_keys")
local block = require("acp_nvim.chat.blocks.permission")
local chat_sight = require("acp_nvim.permission.chat_sight")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")
local previews = require("acp_nvim.review.previews")
local reader = require("acp_nvim.permission.reader")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.sessions")
local sight = require("acp_nvim.permission.sight")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---@type table<integer, acp.Pending> by the request's id
local pending = {}
---@type table<integer, "asked"|"done"> what was told of each request, for a redraw tells it again
local heard = {}
---@type table<integer, integer> by session: when one of its requests was withdrawn last, in nanoseconds
local withdrawn = {}
---@type fun() called when other requests wait, or what is known of them has changed
local on_change = function() end
---@type table<integer, acp.Session> whose requests are others since the last `flush`
local noted = {}

---@param options acp.Option[]
---@param option_id? string
---@return string mark for what the option means; a kind that nobody here knows means neither yes nor no
local function mark_of(options, option_id)
  for _, option in ipairs(options) do
    if option.option_id == option_id then
      local kind = tostring(option.kind)
      return vim.startswith(kind, "reject") and "✗ " or vim.startswith(kind, "allow") and "✓ " or "→ "
    end
  end
  return "→ "
end

local WHY =
  { withdrawn = "withdrawn by the agent", cancelled = "cancelled", agent_gone = "cancelled: the agent is gone" }

---What became of a permission request, in words.
---@param options acp.Option[]
---@param event { outcome: string, name?: string, option_id?: string, why?: string }
---@return string
local function outcome_words(options, event)
  if event.outcome ~= "selected" then
    return "– " .. (WHY[event.why] or tostring(event.outcome))
  end
  local words = Lines.one_line(event.name or event.option_id or "answered")
  return mark_of(options, event.option_id) .. words
end

---@param one acp.Pending that waits no more; when nobody has answered it others take its place
local function gone(one)
  if not one.answered then
    withdrawn[one.session] = vim.uv.hrtime()
  end
end

---@param one acp.Pending
---@return boolean the user had the time to see that it is this one which a key answers
local function is_settled(one)
  local since = math.max(one.came, withdrawn[one.session] or 0)
  return vim.uv.hrtime() - since >= limits.answer_pause_ms * 1e6
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

---@param id integer
local function ended(id)
  sight.forget(id)
  chat_sight.forget(id)
  reader.over(id)
  previews.done(id)
end

---@param session acp.Session
local function refresh_keys(session)
  answer_keys.refresh(session, M.waiting(session), M.press)
end

---Notes that other requests wait in a session: its keys, and who watches, have their turn at the end of a batch, or soon.
---@param session acp.Session
local function note(session)
  if not next(noted) then
    vim.schedule(M.flush)
  end
  noted[session.key] = session
end

---Makes keys, and what others show, fit the requests that came and went since the last time.
function M.flush()
  local sessions_noted = noted
  noted = {}
  for _, session in pairs(sessions_noted) do
    refresh_keys(session)
  end
  if next(sessions_noted) then
    on_change()
  end
end

---@param session acp.Session
---@param one acp.Pending
---@return string[]? lines of the tool call right above; nil when another block is there
local function lines_above(session, one)
  local is_above = session.call_blocks[one.request.tool_call_id] == one.block - 1
  local block = is_above and transcript.block(session, one.block - 1) or nil
  return block and block.rendered and transcript.lines(session, block) or nil
end

---@param one acp.Pending
---@param outcome? string
local function draw(one, outcome)
  local session = sessions.get(one.session)
  if session then
    local above = lines_above(session, one)
    local rendered = block.render(one.request, {
      letters = answer_keys.letters(one.request),
      outcome = outcome,
      above = above,
      cwd = session.cwd,
      files = #previews.of_request(one.request.id),
    })
    if not outcome and not one.answered then
      chat_sight.show(one, rendered, above or {})
    end
    transcript.draw(session, one.block, "permission", rendered)
  end
end

---@param session acp.Session
---@param id integer block
---@param request acp.Request
---@return boolean new false when it is only drawn again
function M.asked(session, id, request)
  local known = pending[request.id]
  -- a redraw asks again what is closed, and closes it after that
  local is_over = heard[request.id] == "done" or (known and known.answered)
  local one = { session = session.key, block = id, request = request, answered = is_over }
  if known and vim.deep_equal(known.request, request) then
    one.came = known.came
  else
    one.came = vim.uv.hrtime()
    sight.forget(request.id) -- what was seen was another request
  end
  pending[request.id] = one
  reader.refresh(one)
  draw(one)
  note(session)
  local new = heard[request.id] == nil
  heard[request.id] = heard[request.id] or "asked"
  return new
end

---@param session acp.Session
---@param event acp.Event of type permission_done
---@return boolean new false when nobody waited for it any more
function M.done(session, event)
  local one = pending[event.id]
  if not one then
    return false
  end
  pending[event.id] = nil
  gone(one)
  ended(event.id)
  draw(one, outcome_words(one.request.options, event))
  note(session)
  local new = heard[event.id] == "asked"
  heard[event.id] = "done"
  return new
end

---A rule has answered: nobody is asked.
---@param session acp.Session
---@param event acp.Event of type permission_auto
---@return boolean new false when it is only drawn again
function M.automatic(session, event)
  local options = vim.list_extend({ { option_id = event.option_id, kind = event.kind } }, event.request.options or {})
  local rendered =
    block.automatic(event, outcome_words(options, vim.tbl_extend("error", event, { outcome = "selected" })))
  transcript.draw(session, event.block, "permission", rendered)
  local new = heard[event.request.id] == nil
  heard[event.request.id] = "done"
  return new
end

---A request in a kept conversation: nobody answers it, and its id means nothing here.
---@param session acp.Session
---@param event acp.Event of type permission_kept
function M.kept(session, event)
  local outcome = event.outcome and outcome_words(event.request.options or {}, event) or "– not answered"
  local words = event.rule and ("%s, by the rule %s"):format(outcome, Lines.one_line(event.rule)) or outcome
  local rendered = block.render(event.request, { letters = {}, outcome = words, cwd = session.cwd, files = 0 })
  transcript.draw(session, event.block, "permission", rendered)
end

---Another host numbers its requests from 1 again.
function M.forget()
  heard = {}
end

---The host is gone, and with it all who wait for answers.
---@param session acp.Session
---@return acp.Pending[] that were open
function M.abandon(session)
  local open = vim.tbl_filter(function(one)
    return one.session == session.key
  end, vim.tbl_values(pending))
  for _, one in ipairs(open) do
    pending[one.request.id] = nil
    gone(one)
    ended(one.request.id)
    draw(one, "– cancelled")
  end
  refresh_keys(session)
  on_change()
  return open
end

---@param id integer of a request
---@return acp.Pending? while it is not closed
function M.get(id)
  return pending[id]
end

---@param listener fun() called when other requests wait, or what is known of them has changed
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

---@param id integer
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
        ended(id)
      end
      refresh_keys(sessions.get(one.session))
      on_change()
      return one.answered, not one.answered and "the host could not be reached" or nil
    end
  end
  local words = ("permission %d has no option %q"):format(id, tostring(option_id))
  return false, one.request.left_out and words .. ": " .. block.rejects_only(one.request) or words
end

---Answers as a key does: what allows acts only when all of the request has been on the screen, else it is shown; and not
---when the request has only just come, or taken the place of another one.
---@param id integer
---@param option_id string
---@param read? table<string, true> files whose changes were read in these
---@return boolean answered
---@return string? problem
function M.press(id, option_id, read)
  local one = pending[id]
  if not one or one.answered or answer_keys.rejects(one.request, option_id) then
    return M.answer(id, option_id)
  elseif not is_settled(one) then
    message.news("this request has only just come: look at it, then press the key again", vim.log.levels.WARN)
    return false
  elseif sight.is_whole(id, read) then
    return M.answer(id, option_id)
  end
  reader.show(one, M.press, option_id)
  return false
end

---The text of a request may be in the tool call above, which has changed.
transcript.on_changes(function(session, blocks)
  for changed_block in pairs(blocks) do
    local id = chat_sight.request_of_call(session, changed_block.id)
    if id then
      vim.schedule(function() -- the chat is being written at this moment
        if pending[id] and not pending[id].answered then
          draw(pending[id])
          transcript.flush()
        end
      end)
    end
  end
end)

previews.on_change(function(id)
  local one = pending[id]
  local session = one and sessions.get(one.session)
  if session then
    draw(one)
    note(session)
  end
end)

return M
