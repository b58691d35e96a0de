-- The permissions that wait for an answer, of all sessions; each is answered once.
local answer_keys = require("acp_nvim.chat.answer_keys")
local block = require("acp_nvim.chat.blocks.permission")
local previews = require("acp_nvim.review.previews")
local requests = require("acp_nvim.requests")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---@type table<integer, acp.Pending> by the request's id
local pending = {}
---@type table<integer, "asked"|"done"> what was told of each request, for a redraw tells it again
local heard = {}
---@type fun(id: integer)[]
local listeners = {}

---@param session? acp.Session
---@return acp.Pending[] that still wait for the user, oldest first
local function waiting(session)
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
  for _, listener in ipairs(listeners) do
    listener(id)
  end
end

---@param session acp.Session
local function refresh_keys(session)
  answer_keys.refresh(session, waiting(session), M.answer)
end

M.refresh_keys = refresh_keys

---@param one acp.Pending
---@param outcome? string
local function draw(one, outcome)
  local session = sessions.get(one.session)
  if session then
    -- right above, the tool call shows what it is about
    local shown = session.call_blocks[one.request.tool_call_id] == one.block - 1
    local letters = answer_keys.letters(one.request)
    local files = #previews.of_request(one.request.id)
    local rendered = block.render(one.request, letters, outcome, not shown, session.cwd, files)
    transcript.draw(session, one.block, "permission", rendered)
  end
end

---@param session acp.Session
---@param id integer block
---@param request acp.Request
---@return boolean new false when it is only drawn again
function M.asked(session, id, request)
  local known = pending[request.id]
  local one = { session = session.key, block = id, request = request, answered = known and known.answered }
  pending[request.id] = one
  draw(one)
  refresh_keys(session)
  local new = heard[request.id] == nil
  heard[request.id] = heard[request.id] or "asked"
  return new
end

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

---@param one acp.Pending
---@param event { outcome: string, name?: string, option_id?: string }
---@return string
local function outcome_words(one, event)
  if event.outcome ~= "selected" then
    return "– " .. tostring(event.outcome)
  end
  local words = vim.trim((event.name or event.option_id or "answered"):match("^[^\r\n]*"))
  return mark_of(one.request.options, event.option_id) .. words
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
  ended(event.id)
  draw(one, outcome_words(one, event))
  refresh_keys(session)
  local new = heard[event.id] == "asked"
  heard[event.id] = "done"
  return new
end

---Another host numbers its requests from 1 again.
function M.forget()
  heard = {}
end

---The host is gone, and with it all who wait for answers.
---@param session acp.Session
---@return acp.Pending[] that were open
function M.abandon(session)
  local gone = vim.tbl_filter(function(one)
    return one.session == session.key
  end, vim.tbl_values(pending))
  for _, one in ipairs(gone) do
    pending[one.request.id] = nil
    ended(one.request.id)
    draw(one, "– cancelled")
  end
  refresh_keys(session)
  return gone
end

---@param id integer of a request
---@return acp.Pending? while it is not closed
function M.get(id)
  return pending[id]
end

---@param listener fun(id: integer) called when a request waits no more for the user
function M.on_end(listener)
  listeners[#listeners + 1] = listener
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
  end, waiting())
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
      return one.answered, not one.answered and "the host could not be reached" or nil
    end
  end
  return false, ("permission %d has no option %q"):format(id, tostring(option_id))
end

previews.on_change(function(id)
  local one = pending[id]
  local session = one and sessions.get(one.session)
  if session then
    draw(one)
    refresh_keys(session)
  end
end)

return M
