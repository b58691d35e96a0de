-- The files under review, as the host has told of them, and their hunks in the buffers.
local edits = require("acp_nvim.review.edits")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local marks = require("acp_nvim.review.marks")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api

---@type table<string, acp.Review> by real path
local reviews = {}
---@type table<integer, string> buffers whose hunks we follow
local followed = {}
---@type table<string, string> path -> state of the buffer for which the host was asked again
local asked = {}
---@type fun(path: string)[]
local listeners = {}
---@type table<string, true> paths whose review is over: undo in a buffer that is loaded again may begin it anew
local past = {}
local PAST = api.nvim_create_augroup("acp_nvim.review.past", {})

---@param path string
local function changed(path)
  for _, listener in ipairs(listeners) do
    listener(path)
  end
end

---@param bufnr integer
local function leave(bufnr)
  asked[followed[bufnr] or ""] = nil
  followed[bufnr] = nil
  edits.detach(bufnr)
  marks.clear(bufnr)
end

---The host is asked once for each state: what it knows may be on its way.
---@param path string
---@param bufnr integer
local function ask(path, bufnr)
  local state = text.state(bufnr)
  if asked[path] ~= state and host.channel() then
    asked[path] = state
    host.send("review_open", { path = path })
  end
end

---@param bufnr integer
---@param review acp.Review with hunks
local function draw(bufnr, review)
  followed[bufnr] = review.path
  edits.attach(bufnr, review.path)
  local rows = review.state and edits.rows_since(bufnr, review.state)
  marks.set(bufnr, review.hunks, rows)
  if not rows then
    ask(review.path, bufnr)
  else
    asked[review.path] = nil
  end
end

---@return table<string, integer> real path -> buffer, a modified one before others of the same file
local function by_path()
  local found = {}
  for _, bufnr in ipairs(lookup.file_buffers()) do
    local path = lookup.real_path(bufnr)
    if not found[path] or vim.bo[bufnr].modified then
      found[path] = bufnr
    end
  end
  return found
end

---@type table<string, integer>? the same, while a batch of events is applied
local buffers

---@param path string
---@return integer? bufnr loaded
local function buffer_of(path)
  if not buffers then
    buffers = by_path()
    vim.schedule(function()
      buffers = nil
    end)
  end
  local bufnr = buffers[path]
  return bufnr and api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---@param path string
local function forget(path)
  reviews[path], asked[path] = nil, nil
  for bufnr, other in pairs(followed) do
    if other == path then
      leave(bufnr)
    end
  end
end

---The host leaves out what is empty.
---@param review acp.Review
local function complete(review)
  review.sessions = review.sessions or {}
  review.added, review.removed = review.added or 0, review.removed or 0
  review.by, review.why = review.by or "agent", review.why or ""
  for _, hunk in ipairs(review.hunks or {}) do
    hunk.id, hunk.first, hunk.count = hunk.id or 0, hunk.first or 0, hunk.count or 0
    hunk.old, hunk.by = hunk.old or {}, hunk.by or "agent"
    hunk.theirs = hunk.theirs or (hunk.by == "conflict" and {} or nil)
  end
end

---@param review acp.Review
local function told_none(review)
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
    draw(bufnr, review) -- the user may undo what has ended the review: it is still followed
  else
    forget(path)
  end
end

---@param review acp.Review
local function told_some(review)
  local path, bufnr = review.path, buffer_of(review.path)
  local is_told = review.hunks ~= nil
  if not is_told and reviews[path] and bufnr and followed[bufnr] then
    review.hunks, review.state = reviews[path].hunks, reviews[path].state
  end
  reviews[path] = review
  if bufnr and is_told then
    draw(bufnr, review)
  elseif bufnr and not followed[bufnr] then
    ask(path, bufnr)
  end
end

---@param review acp.Review
function M.told(review)
  complete(review)
  if review.operation == "none" then
    told_none(review)
  else
    told_some(review)
  end
  changed(review.path)
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

---@return acp.Review[] the same without the agent's own records, which nobody reads one by one
function M.to_review()
  return vim.tbl_filter(function(review)
    return review.by ~= "state"
  end, M.all())
end

---@param path string
---@return acp.Review?
function M.get(path)
  return reviews[path]
end

---@param bufnr integer
---@return acp.Review?
function M.of_buffer(bufnr)
  if next(reviews) == nil then
    return nil
  end
  return reviews[followed[bufnr] or (lookup.is_file(bufnr) and lookup.real_path(bufnr)) or ""]
end

---@param place acp.Place
---@return acp.HunkPlace
local function told_of(place)
  local hunk = place.marked.hunk
  return {
    id = hunk.id,
    row = place.row,
    count = place.count,
    old = hunk.old,
    by = hunk.by,
    theirs = hunk.theirs,
    index = place.marked.index,
  }
end

---@param bufnr integer
---@return acp.HunkPlace[] where they are now, sorted
function M.hunks(bufnr)
  return vim.tbl_map(told_of, marks.within(bufnr, 0, -1))
end

---@param bufnr integer
---@param row integer
---@return acp.HunkPlace? that the row is in, or beside
function M.hunk_at(bufnr, row)
  local place = marks.at(bufnr, row)
  return place and told_of(place)
end

---@param bufnr integer
---@param row integer
---@param backwards? boolean
---@return acp.HunkPlace? the next one that begins after the row, or before it
function M.next(bufnr, row, backwards)
  local place = marks.next(bufnr, row, backwards)
  return place and told_of(place)
end

---@param listener fun(path: string) called after each change
function M.on_change(listener)
  listeners[#listeners + 1] = listener
end

---A buffer is loaded, or goes by another name: what is to be seen in it is asked for.
---@param bufnr integer
function M.opened(bufnr)
  local path = lookup.is_file(bufnr) and lookup.real_path(bufnr) or ""
  if followed[bufnr] and followed[bufnr] ~= path then
    local before = followed[bufnr]
    leave(bufnr)
    changed(before)
  end
  if not (reviews[path] or past[path]) or followed[bufnr] then
    return
  end
  vim.schedule(function() -- what reads a buffer changes it several times
    if (reviews[path] or past[path]) and not followed[bufnr] and lookup.find(path) == bufnr then
      ask(path, bufnr)
    end
  end)
end

---@param bufnr integer that is loaded anew, or no more
local function lost(bufnr)
  local path = followed[bufnr]
  leave(bufnr)
  if path then
    changed(path)
  end
end

edits.on_loss(function(bufnr)
  lost(bufnr)
  vim.schedule(function() -- in the middle of this it is not what it will be
    if api.nvim_buf_is_valid(bufnr) then
      M.opened(bufnr)
    end
  end)
end)
edits.on_pause(marks.settle)

host.on_exit(function()
  past = {}
  api.nvim_clear_autocmds({ group = PAST })
  for path in pairs(reviews) do
    forget(path)
    changed(path)
  end
end)

return M
