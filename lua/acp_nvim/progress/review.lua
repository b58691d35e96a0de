-- Keeps how far long work on many files has come: collecting what a turn has changed, and decisions of the user.
local message = require("acp_nvim.kernel.message")
local progress_event = require("acp_nvim.progress.event")

local M = {}

local SHOWN_AFTER = 0.4 -- seconds: most turns change few files, and a bar that flickers would distract

local WORDS = {
  collecting = "collecting changes",
  checking = "checking files",
  keeping = "keeping",
  rejecting = "rejecting",
  planning = "comparing files",
  restoring = "restoring",
}

---@type table<integer, acp.event.ReviewProgress> session -> the turn whose changes are being collected
local collecting = {}
---@type acp.event.ReviewProgress? a decision of the user
local deciding
local is_awaited = false -- a command of the user waits for the changes of a turn
---@type fun()[]
local listeners = {}

local function notify_listeners()
  for _, listener in ipairs(listeners) do
    listener()
  end
end

---@param listener fun() called after each change
function M.on_change(listener)
  listeners[#listeners + 1] = listener
end

---@param key? integer of a session
---@return acp.event.ReviewProgress? what is done: a decision, or the changes of a turn of that session are collected
function M.of(key)
  return deciding or collecting[key or 0]
end

---@param key integer of a session
---@return boolean the changes of a turn of that session are being collected
function M.is_collecting(key)
  return collecting[key] ~= nil
end

---@return acp.event.ReviewProgress? what is done for any session
function M.any()
  local _, one = next(collecting)
  return deciding or one
end

---@param one? acp.event.ReviewProgress
---@return string? words nil while it is too short to be shown
function M.words(one)
  if not one or (one.seconds or 0) < SHOWN_AFTER then
    return nil
  end
  local words, total = WORDS[one.what] or one.what, one.total or 0
  return total > 0 and ("%s %d/%d"):format(words, one.done or 0, total) or words
end

---@param key? integer of a session
---@return acp.ReviewProgress? for `status()`
function M.view(key)
  local one = M.of(key)
  return one and { what = one.what, done = one.done or 0, total = one.total or 0 }
end

---Shows a line about the changes of turns until they are known, because the user waits for them.
function M.awaited()
  is_awaited = true
end

---@param event acp.event.ReviewProgress
local function tell(event)
  local id = "review." .. (event.session or "decision")
  if event.is_over then
    progress_event.ended(id, "success")
  elseif M.words(event) then
    local text = WORDS[event.what] or event.what
    progress_event.goes_on(id, { title = "acp_nvim", text = text, done = event.done or 0, total = event.total or 0 })
  end
end

---@param event acp.event.ReviewProgress
function M.received(event)
  tell(event)
  local one = not event.is_over and event or nil
  if event.session then
    collecting[event.session] = one
    is_awaited = is_awaited and next(collecting) ~= nil
  else
    deciding = one
  end
  local words = M.words(one)
  if words and (is_awaited or not event.session) then
    message.progress(words .. " …")
  end
  notify_listeners()
end

---Forgets all: the host, which did it, has ended.
function M.reset()
  for key in pairs(collecting) do
    progress_event.ended("review." .. key, "failed")
  end
  progress_event.ended("review.decision", "failed")
  collecting, deciding, is_awaited = {}, nil, false
  notify_listeners()
end

return M
