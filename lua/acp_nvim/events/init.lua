-- Applies the batches of events that the host sends. An error in one event does not affect the others.
local autocmds = require("acp_nvim.kernel.autocmds")
local dialog = require("acp_nvim.kernel.dialog")
local float = require("acp_nvim.permission.float")
local folds = require("acp_nvim.transcript.folds")
local follow = require("acp_nvim.follow")
local guarded = require("acp_nvim.kernel.guarded")
local host_handlers = require("acp_nvim.events.host")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.kernel.log")
local mentions = require("acp_nvim.actions.targets.mentions")
local permission = require("acp_nvim.permission")
local review_watch = require("acp_nvim.review.files.watch")
local session_handlers = require("acp_nvim.events.session")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")
local unread = require("acp_nvim.chat.unread")

local M = {}

local EVENT_TYPES = 20 -- unknown event types that are logged: a newer host has only a few

---@type acp.Event[] events that wait until text may be changed
local backlog = {}
---@type table<string, true> unknown event types that were logged
local unknown = {}

---A newer host may send event types that this Neovim does not know.
local function log_unknown(type)
  local word = tostring(type)
  if not unknown[word] and vim.tbl_count(unknown) < EVENT_TYPES then
    unknown[word] = true
    log.write(("ignoring events of the unknown type %q"):format(word))
  end
end

---Removes vim.NIL from nested tables.
---@param value table
local function remove_nil(value)
  for key, item in pairs(value) do
    if item == vim.NIL then
      value[key] = nil
    elseif type(item) == "table" then
      remove_nil(item)
    end
  end
end

local function apply_one(event)
  remove_nil(event)
  if host_handlers[event.type] then
    return host_handlers[event.type](event)
  end
  local session = event.session and sessions.get(event.session)
  if not session_handlers[event.type] then
    log_unknown(event.type)
  elseif session then
    session_handlers[event.type](session, event)
  end
end

---@param batch acp.Event[]
local function apply_all(batch)
  autocmds.batch(true)
  dialog.batch(true)
  for _, event in ipairs(batch) do
    guarded(apply_one, event)
  end
  guarded(permission.flush)
  dialog.batch(false)
  autocmds.batch(false)
  guarded(transcript.flush)
  guarded(review_watch.refresh_keys)
  guarded(follow.refresh)
end

---@return boolean Neovim forbids text changes now (E565)
local function is_locked()
  local ok, err = pcall(vim.api.nvim_put, {}, "c", false, false) -- inserts nothing
  return not ok and tostring(err):find("E565", 1, true) ~= nil
end

float.watch()
folds.watch()
mentions.watch()
unread.watch()

---@param batch acp.Event[]
---@return number? milliseconds of processor time that it took; nil when the batch has to wait
function M.apply(batch)
  local waits = #backlog > 0
  if waits or is_locked() then
    vim.list_extend(backlog, batch)
    if not waits then
      vim.defer_fn(function()
        local events = backlog
        backlog = {}
        M.apply(events)
      end, limits.textlock_retry_ms)
    end
    return
  end
  local begun = os.clock()
  apply_all(batch)
  return (os.clock() - begun) * 1000
end

return M
