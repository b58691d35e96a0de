-- Applies what the host tells; one bad event never keeps the others from being seen.
local autocmds = require("acp_nvim.autocmds")
local float = require("acp_nvim.permission.float")
local folds = require("acp_nvim.chat.folds")
local follow = require("acp_nvim.follow")
local guarded = require("acp_nvim.host.guarded")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.log")
local permission = require("acp_nvim.permission")
local review_watch = require("acp_nvim.review.watch")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")
local unread = require("acp_nvim.chat.unread")

local M = {}

local EVENT_TYPES = 20 -- unknown types of events that are logged: a newer host has a few

---@param topics string[]
---@return table<string, fun(...)> handlers of all topics, by the event's type
local function handlers(topics)
  local all = {}
  for _, topic in ipairs(topics) do
    all = vim.tbl_extend("error", all, require("acp_nvim.event_handlers." .. topic))
  end
  return all
end

---@type table<string, fun(event: acp.Event)>
local of_host = handlers({ "host", "sign_in" })
---@type table<string, fun(session: acp.Session, event: acp.Event)>
local of_session = handlers({ "session", "calls", "config", "forms", "kept" })

---@type acp.Event[] batches that met a text lock
local backlog = {}
---@type table<string, true> types of events that were passed over
local unknown = {}

---A newer host may have more to say than this Neovim has loaded.
---@param type any
local function pass_over(type)
  local word = tostring(type)
  if not unknown[word] and vim.tbl_count(unknown) < EVENT_TYPES then
    unknown[word] = true
    log.write(("events of the type %q are passed over: this version does not know them"):format(word))
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

---@param event acp.Event
local function apply_one(event)
  plain(event)
  local handle = of_host[event.type]
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

---@param batch acp.Event[]
local function apply_all(batch)
  autocmds.batch(true)
  for _, event in ipairs(batch) do
    guarded(apply_one, event)
  end
  guarded(permission.flush)
  autocmds.batch(false)
  guarded(transcript.flush)
  guarded(review_watch.refresh_keys)
  guarded(follow.refresh)
end

---@return boolean the editor is where no text may be changed
local function is_locked()
  local ok, err = pcall(vim.api.nvim_put, {}, "c", false, false) -- puts nothing, and fails where no text may be changed
  return not ok and tostring(err):find("E565", 1, true) ~= nil
end

local function retry()
  vim.defer_fn(function()
    local batch = backlog
    backlog = {}
    M.apply(batch)
  end, limits.textlock_retry_ms)
end

float.watch()
folds.watch()
unread.watch()

---@param batch acp.Event[]
---@return number? milliseconds of the processor that it took; nil when it has to wait
function M.apply(batch)
  local waits = #backlog > 0
  if waits or is_locked() then
    vim.list_extend(backlog, batch)
    if not waits then
      retry()
    end
    return
  end
  local begun = os.clock()
  apply_all(batch)
  return (os.clock() - begun) * 1000
end

return M
