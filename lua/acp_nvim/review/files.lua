-- The files under review, as the host has told of them, and their hunks in the buffers.
local edits = require("acp_nvim.review.edits")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local text = require("acp_nvim.buffers.text")
local view = require("acp_nvim.review.view")

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
  view:clear(bufnr)
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

---Draws these hunks in a buffer, and no others. Hunks that are known stay where their text is.
---@param bufnr integer
---@param hunks acp.ReviewHunk[]
---@param row_now? fun(row: integer): integer where the rows of the hunks are now; nil: only known ones can be placed
local function set_hunks(bufnr, hunks, row_now)
  local places, left = {}, {}
  for _, place in ipairs(view:within(bufnr)) do
    places[place.mark.hunk.id] = place
  end
  view.buffers[bufnr] = view.buffers[bufnr] or {}
  for index, hunk in ipairs(hunks) do
    local place = places[hunk.id]
    local mark = place and place.mark or { dress = {}, above = 0 }
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

---@param bufnr integer that is loaded anew, or no more
local function on_loss(bufnr)
  local path = followed[bufnr]
  leave(bufnr)
  if path then
    changed(path)
  end
  vim.schedule(function() -- in the middle of this it is not what it will be
    if api.nvim_buf_is_valid(bufnr) then
      M.opened(bufnr)
    end
  end)
end

---@param bufnr integer
local function settle(bufnr)
  view:settle(bufnr)
end

---@param bufnr integer
---@param review acp.Review with hunks
local function draw(bufnr, review)
  followed[bufnr] = review.path
  edits.attach(bufnr, review.path, settle, on_loss)
  local rows = review.state and edits.rows_since(bufnr, review.state)
  set_hunks(bufnr, review.hunks, rows)
  if not rows then
    ask(review.path, bufnr)
  else
    asked[review.path] = nil
  end
end

---@type table<string, integer>? real path -> buffer, while a batch of events is applied
local buffers

---@param path string
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

---@param place acp.HunkPlace
---@return acp.HunkPlace
local function told_of(place)
  return vim.tbl_extend("force", place.mark.hunk, { row = place.row, count = place.count, index = place.mark.index })
end

---@param bufnr integer
---@param first? integer row
---@param last? integer row
---@return acp.HunkPlace[] where they are now, sorted; all, or those that these rows are in or beside
function M.hunks(bufnr, first, last)
  return vim.tbl_map(told_of, view:within(bufnr, first, last))
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

host.on_exit(function()
  past = {}
  api.nvim_clear_autocmds({ group = PAST })
  for path in pairs(reviews) do
    forget(path)
    changed(path)
  end
end)

return M
