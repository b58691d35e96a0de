-- Keeps the files under review, as the host sends them, and draws their hunks in buffers.
local edits = require("acp_nvim.buffers.edits")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local text = require("acp_nvim.buffers.text")
local view = require("acp_nvim.review.files.view")

local M = {}

local api = vim.api

---@type table<string, acp.Review> by real path
local reviews = {}
---@type table<integer, string> buffers whose hunks are tracked -> path
local followed = {}
---@type table<string, string> path -> state of the buffer for which the hunks were requested
local requested = {}
---@type fun(path: string)[]
local listeners = {}
---@type table<string, true> paths whose review is over: undo in a buffer that is read again may start it anew
local past = {}
local PAST = api.nvim_create_augroup("acp_nvim.review.past", {})

local function notify_listeners(path)
  for _, listener in ipairs(listeners) do
    listener(path)
  end
end

local function leave(bufnr)
  requested[followed[bufnr] or ""] = nil
  followed[bufnr] = nil
  edits.detach(bufnr)
  view:clear(bufnr)
end

---Requests the hunks once for each state of the buffer: an answer may be on its way.
local function request_hunks(path, bufnr)
  local state = text.state(bufnr)
  if requested[path] ~= state and host.channel() then
    requested[path] = state
    host.send("review_open", { path = path })
  end
end

---Draws these hunks in a buffer, and removes all others. Known hunks stay with their text.
---@param row_now? fun(row: integer): integer maps the rows to present ones; nil: only known hunks are updated
local function set_hunks(bufnr, hunks, row_now)
  local places, left = {}, {}
  for _, place in ipairs(view:within(bufnr)) do
    places[place.mark.hunk.id] = place
  end
  view.buffers[bufnr] = view.buffers[bufnr] or {}
  for index, hunk in ipairs(hunks) do
    local place = places[hunk.id]
    local mark = place and place.mark or { highlights = {}, above = 0 }
    mark.hunk, mark.index = hunk, index
    local row = row_now and row_now(hunk.first)
    local count = row_now and row_now(hunk.first + hunk.count) - row
    if row and not (place and place.start == row and place.count == count) then
      view:draw(bufnr, mark, row, count)
    end
    left[mark.id or 0] = true
  end
  for id in pairs(view.buffers[bufnr]) do
    if not left[id] then
      view:remove(bufnr, id)
    end
  end
end

---Stops tracking a buffer that was read again or unloaded, and starts anew if it is still there.
local function on_loss(bufnr)
  local path = followed[bufnr]
  leave(bufnr)
  if path then
    notify_listeners(path)
  end
  vim.schedule(function() -- the buffer is not complete yet
    if api.nvim_buf_is_valid(bufnr) then
      M.opened(bufnr)
    end
  end)
end

local function settle(bufnr)
  view:settle(bufnr)
end

---@param review acp.Review with hunks
local function draw(bufnr, review)
  followed[bufnr] = review.path
  edits.attach(bufnr, review.path, settle, on_loss)
  local rows = review.state and edits.rows_since(bufnr, review.state)
  set_hunks(bufnr, review.hunks, rows)
  if rows then
    requested[review.path] = nil
  else
    request_hunks(review.path, bufnr)
  end
end

---@type table<string, integer>? real path -> buffer, while a batch of events is applied
local buffers

---@return integer? bufnr loaded
local function buffer_of(path)
  if not buffers then
    buffers = lookup.by_path()
    vim.schedule(function()
      buffers = nil
    end)
  end
  local bufnr = buffers[path]
  return bufnr and api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

local function forget(path)
  reviews[path], requested[path] = nil, nil
  for bufnr, other in pairs(followed) do
    if other == path then
      leave(bufnr)
    end
  end
end

---Ends the review of a file. Its buffer is still tracked, since the user may undo what has ended the review.
local function finish(review)
  local path = review.path
  if next(past) == nil then
    api.nvim_create_autocmd("BufReadPost", {
      group = PAST,
      callback = function(event)
        M.opened(event.buf)
      end,
    })
  end
  past[path] = true
  local bufnr = review.hunks and buffer_of(path)
  reviews[path] = nil
  if bufnr then
    draw(bufnr, review)
  else
    forget(path)
  end
end

function M.received(review)
  -- the host leaves out what is empty
  review.sessions = review.sessions or {}
  review.added, review.removed = review.added or 0, review.removed or 0
  review.by, review.why = review.by or "agent", review.why or ""
  for _, hunk in ipairs(review.hunks or {}) do
    hunk.id, hunk.first, hunk.count = hunk.id or 0, hunk.first or 0, hunk.count or 0
    hunk.old, hunk.by = hunk.old or {}, hunk.by or "agent"
    hunk.theirs = hunk.theirs or (hunk.by == "conflict" and {} or nil)
  end
  local path = review.path
  if review.operation == "none" then
    finish(review)
    return notify_listeners(path)
  end
  local bufnr, has_hunks = buffer_of(path), review.hunks ~= nil
  if not has_hunks and reviews[path] and bufnr and followed[bufnr] then
    review.hunks, review.state = reviews[path].hunks, reviews[path].state
  end
  reviews[path] = review
  if bufnr and has_hunks then
    draw(bufnr, review)
  elseif bufnr and not followed[bufnr] then
    request_hunks(path, bufnr)
  end
  notify_listeners(path)
end

---@return boolean there is something to review
function M.has_any()
  return next(reviews) ~= nil
end

---@return acp.Review[] sorted by path
function M.all()
  local all = vim.tbl_values(reviews)
  table.sort(all, function(a, b)
    return a.path < b.path
  end)
  return all
end

---@return acp.Review[] sorted by path, without the agent's own records
function M.to_review()
  return vim.tbl_filter(function(review)
    return review.by ~= "state"
  end, M.all())
end

---@return acp.Review?
function M.get(path)
  return reviews[path]
end

---@return acp.Review?
function M.of_buffer(bufnr)
  if next(reviews) == nil then
    return nil
  end
  return reviews[followed[bufnr] or (lookup.is_file(bufnr) and lookup.real_path(bufnr)) or ""]
end

---@param first? integer row
---@param last? integer row
---@return acp.HunkPlace[] at their present rows, sorted: all, or those that these rows are in or beside
function M.hunks(bufnr, first, last)
  return vim.tbl_map(function(place)
    return vim.tbl_extend("force", place.mark.hunk, { row = place.row, count = place.count, index = place.mark.index })
  end, view:within(bufnr, first, last))
end

---@param listener fun(path: string) called after each change
function M.on_change(listener)
  listeners[#listeners + 1] = listener
end

---Requests the hunks of a buffer that was loaded or renamed.
function M.opened(bufnr)
  local path = lookup.is_file(bufnr) and lookup.real_path(bufnr) or ""
  local before = followed[bufnr]
  if before and before ~= path then
    leave(bufnr)
    notify_listeners(before)
  end
  if not (reviews[path] or past[path]) or followed[bufnr] then
    return
  end
  vim.schedule(function() -- reading a buffer changes it several times
    if (reviews[path] or past[path]) and not followed[bufnr] and lookup.find(path) == bufnr then
      request_hunks(path, bufnr)
    end
  end)
end

host.on_exit(function()
  past = {}
  api.nvim_clear_autocmds({ group = PAST })
  for path in pairs(reviews) do
    forget(path)
    notify_listeners(path)
  end
end)

return M
