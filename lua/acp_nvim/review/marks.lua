-- The hunks of each buffer, and where they are while the text around them changes.
local look = require("acp_nvim.review.look")

local M = {}

local api = vim.api
local ROWS = look.ROWS

---@class acp.Place where a hunk is now
---@field marked acp.Marked
---@field row integer of its first line; of a deletion: the row after it, or the last row
---@field count integer
---@field start integer the row, or one behind the last for a deletion there

---@type table<integer, table<integer, acp.Marked>> buffer -> id of the extmarks
local buffers = {}

---@param bufnr integer
---@param mark vim.api.keyset.get_extmark_item with details
---@return acp.Place?
local function place_of(bufnr, mark)
  local marked = buffers[bufnr][mark[1]]
  local last = api.nvim_buf_line_count(bufnr) - 1
  local count = math.max((mark[4].end_row or mark[2]) - mark[2], 0)
  return marked and { marked = marked, row = math.min(mark[2], last), count = count, start = mark[2] }
end

---@param bufnr integer
---@param first integer row
---@param last integer row; -1: the end
---@return acp.Place[] sorted, also those that only reach into these rows
function M.within(bufnr, first, last)
  if not buffers[bufnr] then
    return {}
  end
  local end_ = last < 0 and -1 or last >= api.nvim_buf_line_count(bufnr) - 1 and -1 or { last, -1 }
  local marks = api.nvim_buf_get_extmarks(bufnr, ROWS, { first, 0 }, end_, { overlap = true, details = true })
  local places = {}
  for _, mark in ipairs(marks) do
    local place = place_of(bufnr, mark)
    if place and (place.row >= first or place.row + place.count > first) then
      places[#places + 1] = place
    end
  end
  table.sort(places, function(a, b)
    return a.row < b.row or (a.row == b.row and a.marked.index < b.marked.index)
  end)
  return places
end

---@param bufnr integer
---@param row integer
---@return acp.Place? that the row is in, or beside
function M.at(bufnr, row)
  return M.within(bufnr, row, row)[1]
end

---@param bufnr integer
---@param row integer
---@param backwards? boolean
---@return acp.Place? the next one that begins after the row, or before it
function M.next(bufnr, row, backwards)
  if not buffers[bufnr] or (backwards and row == 0) then
    return nil
  end
  local from, to = { row + 1, 0 }, -1
  if backwards then
    from, to = { row - 1, -1 }, 0
  end
  local mark = api.nvim_buf_get_extmarks(bufnr, ROWS, from, to, { limit = 1, details = true })[1]
  local place = mark and place_of(bufnr, mark)
  return place and place.row ~= row and place or nil
end

---@param bufnr integer
---@param id integer of its extmarks
---@return acp.Place?
function M.get(bufnr, id)
  local mark = buffers[bufnr] and api.nvim_buf_get_extmark_by_id(bufnr, ROWS, id, { details = true })
  return mark and mark[1] and place_of(bufnr, { id, mark[1], mark[2], mark[3] }) or nil
end

---@param bufnr integer
---@param row integer
---@return integer count of the virtual lines above that row
function M.lines_above(bufnr, row)
  local count = 0
  for _, place in ipairs(M.within(bufnr, row, row)) do
    count = count + (place.row == row and place.marked.above or 0)
  end
  return count
end

---@param bufnr integer
---@return integer how many hunks there are
function M.count(bufnr)
  return vim.tbl_count(buffers[bufnr] or {})
end

---@param bufnr integer
---@return boolean
function M.has(bufnr)
  return buffers[bufnr] ~= nil
end

---@return integer[]
function M.buffers()
  return vim.tbl_keys(buffers)
end

---@param bufnr integer
---@param marked acp.Marked
---@param row integer
---@param count integer
local function show(bufnr, marked, row, count)
  look.show(bufnr, marked, row, count)
  buffers[bufnr][marked.id] = marked
end

---@param bufnr integer
---@return table<integer, acp.Place> by the hunks' ids
local function known(bufnr)
  local places = {}
  for _, place in ipairs(M.within(bufnr, 0, -1)) do
    places[place.marked.hunk.id] = place
  end
  return places
end

---@param bufnr integer
---@param hunks acp.ReviewHunk[]
---@param row_now? fun(row: integer): integer where the rows of the hunks are now; nil: only known ones can be placed
function M.set(bufnr, hunks, row_now)
  buffers[bufnr] = buffers[bufnr] or {}
  local places, left = known(bufnr), {}
  for index, hunk in ipairs(hunks) do
    local place = places[hunk.id]
    local marked = place and place.marked or { dress = {}, above = 0 }
    marked.hunk, marked.index = hunk, index
    local row = row_now and row_now(hunk.first)
    local count = row_now and row_now(hunk.first + hunk.count) - row
    if row and not (place and place.start == row and place.count == count) then
      show(bufnr, marked, row, count)
    end
    if marked.id then
      left[marked.id] = true
    end
  end
  for id in pairs(buffers[bufnr]) do
    if not left[id] then
      look.remove(bufnr, id)
      buffers[bufnr][id] = nil
    end
  end
end

---@param bufnr integer
---@param place acp.Place whose dress is another one
function M.dress(bufnr, place)
  show(bufnr, place.marked, place.start, place.count)
end

---How old lines look has changed, or the windows have.
---@param bufnr integer
---@param undress? boolean their syntax, too
function M.refresh(bufnr, undress)
  for _, place in ipairs(M.within(bufnr, 0, -1)) do
    if undress then
      place.marked.dress, place.marked.is_dressed = {}, nil
    end
    show(bufnr, place.marked, place.start, place.count)
  end
end

---The user has paused: marks of lines that have gone are put right.
---@param bufnr integer
function M.settle(bufnr)
  if buffers[bufnr] then
    look.settle(bufnr, buffers[bufnr])
  end
end

---@param bufnr integer
function M.clear(bufnr)
  buffers[bufnr] = nil
  look.clear(bufnr)
end

return M
