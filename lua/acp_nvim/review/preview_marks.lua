-- Draws previews: lines that would go are coloured, those that would come are virtual, above the first stands who asks.
local limits = require("acp_nvim.limits")
local old_lines = require("acp_nvim.review.old_lines")
local top = require("acp_nvim.review.top")

local M = {}

local api = vim.api
-- a hunk has the same id in all three; its place is that in the first
local ROWS = api.nvim_create_namespace("acp_nvim.preview")
local LINES = api.nvim_create_namespace("acp_nvim.preview.lines")
local HINTS = api.nvim_create_namespace("acp_nvim.preview.hints")
local WORDS = api.nvim_create_namespace("acp_nvim.preview.words")

---@alias acp.Chunks [string, string][]

---@class acp.DrawnHunk
---@field id integer of its extmarks
---@field hunk acp.PreviewHunk
---@field dress acp.Dress
---@field is_dressed? boolean
---@field above integer how many virtual lines stand above its first row
---@field words integer[] extmarks

---@class acp.DrawnPreview
---@field preview acp.Preview
---@field group string of the rows
---@field hint acp.Chunks
---@field hunks acp.DrawnHunk[]

---@class acp.PreviewPlace
---@field preview acp.Preview
---@field hunk acp.DrawnHunk
---@field row integer where it is now
---@field count integer

---@type table<integer, acp.DrawnPreview[]> by buffer, in the order of their requests
local drawn = {}
local generation = 0

---@param bufnr integer
---@param preview acp.Preview
---@return acp.DrawnPreview?
---@return integer? index
local function find(bufnr, preview)
  for index, one in ipairs(drawn[bufnr] or {}) do
    if one.preview.request == preview.request and one.preview.path == preview.path then
      return one, index
    end
  end
end

---@param bufnr integer
---@param one acp.DrawnPreview
---@param hunk acp.DrawnHunk
---@return acp.PreviewPlace?
local function place_of(bufnr, one, hunk)
  local mark = api.nvim_buf_get_extmark_by_id(bufnr, ROWS, hunk.id, { details = true })
  if not mark[1] then
    return nil
  end
  local count = math.max((mark[3].end_row or mark[1]) - mark[1], 0)
  return { preview = one.preview, hunk = hunk, row = mark[1], count = count }
end

---@param bufnr integer
---@return acp.PreviewPlace[] sorted by row
function M.places(bufnr)
  local places = {}
  for _, one in ipairs(drawn[bufnr] or {}) do
    for _, hunk in ipairs(one.hunks) do
      places[#places + 1] = place_of(bufnr, one, hunk)
    end
  end
  table.sort(places, function(a, b)
    return a.row < b.row or (a.row == b.row and a.hunk.id < b.hunk.id)
  end)
  return places
end

---@param bufnr integer
---@return acp.Preview[] that are seen there, oldest requests first
function M.previews(bufnr)
  return vim.tbl_map(function(one)
    return one.preview
  end, drawn[bufnr] or {})
end

---@param bufnr integer
---@param preview acp.Preview
---@return boolean it is this very one that is seen there
function M.is_drawn(bufnr, preview)
  local one = find(bufnr, preview)
  return one ~= nil and one.preview == preview
end

---@param bufnr integer
---@return integer? generation another one whenever something was drawn; nil when nothing is
function M.generation(bufnr)
  return drawn[bufnr] and generation
end

---@return integer[] buffers with previews
function M.buffers()
  return vim.tbl_keys(drawn)
end

---@param bufnr integer
---@param row integer
---@return integer count of the virtual lines above that row
local function lines_above(bufnr, row)
  local count = 0
  for _, place in ipairs(drawn[bufnr] and M.places(bufnr) or {}) do
    count = count + (place.row == row and place.hunk.above or 0)
  end
  return count
end

---Neovim scrolls no further up than the height of a window above the first line.
---@param bufnr integer
---@return integer
local function most_at_top(bufnr)
  local most = limits.deleted_lines
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    most = math.min(most, math.max(api.nvim_win_get_height(win) - 3, 1))
  end
  return most
end

---@param bufnr integer
---@param hunk acp.DrawnHunk
---@param hint acp.Chunks? of the first hunk, if it has no rows
---@param row integer
---@param count integer
local function show_lines(bufnr, hunk, hint, row, count)
  local is_above = row == 0 and count == 0
  local lines = old_lines.virtual(bufnr, {
    lines = hunk.hunk.new,
    group = "AcpPreviewAdd",
    word = "new",
    most = is_above and most_at_top(bufnr) or limits.deleted_lines,
  }, hunk.dress)
  if hint then
    table.insert(lines, 1, hint)
  end
  hunk.above = hunk.above + (is_above and #lines or 0)
  if #lines > 0 then
    local last = api.nvim_buf_line_count(bufnr) - 1
    api.nvim_buf_set_extmark(bufnr, LINES, math.max(math.min(row + count - 1, last), 0), 0, {
      id = hunk.id,
      virt_lines = lines,
      virt_lines_above = is_above,
      virt_lines_overflow = "scroll",
    })
  end
end

---@param bufnr integer
---@param one acp.DrawnPreview
---@param hunk acp.DrawnHunk
---@param row integer
---@param count integer
local function show_hunk(bufnr, one, hunk, row, count)
  local hint = one.hunks[1] == hunk and one.hint or nil
  hunk.above = 0
  if hint and count > 0 then
    hunk.above = 1
    api.nvim_buf_set_extmark(bufnr, HINTS, row, 0, { id = hunk.id, virt_lines = { hint }, virt_lines_above = true })
  end
  show_lines(bufnr, hunk, count == 0 and hint or nil, row, count)
end

---@param bufnr integer
---@param hunk acp.PreviewHunk
---@param group string
---@return acp.DrawnHunk
local function mark(bufnr, hunk, group)
  local all = api.nvim_buf_line_count(bufnr)
  local row = math.min(hunk.first, all)
  local id = api.nvim_buf_set_extmark(bufnr, ROWS, row, 0, {
    end_row = math.min(row + hunk.count, all),
    end_col = 0,
    end_right_gravity = false,
    hl_group = hunk.count > 0 and group or nil,
    hl_eol = true,
    priority = 95,
    strict = false,
  })
  return { id = id, hunk = hunk, dress = {}, above = 0, words = {} }
end

---@param bufnr integer
---@param one acp.DrawnPreview
local function remove(bufnr, one)
  for _, hunk in ipairs(one.hunks) do
    for _, namespace in ipairs({ ROWS, LINES, HINTS }) do
      api.nvim_buf_del_extmark(bufnr, namespace, hunk.id)
    end
    for _, id in ipairs(hunk.words) do
      api.nvim_buf_del_extmark(bufnr, WORDS, id)
    end
  end
end

---@param bufnr integer
---@param preview acp.Preview
function M.clear(bufnr, preview)
  local one, index = find(bufnr, preview)
  if one then
    table.remove(drawn[bufnr], index)
    remove(bufnr, one)
    drawn[bufnr] = #drawn[bufnr] > 0 and drawn[bufnr] or nil
    top.refresh(bufnr)
  end
end

---@param bufnr integer that is unloaded, or read again
function M.forget(bufnr)
  drawn[bufnr] = nil
  for _, namespace in ipairs(api.nvim_buf_is_loaded(bufnr) and { ROWS, LINES, HINTS, WORDS } or {}) do
    api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

---@param bufnr integer
---@param preview acp.Preview whose rows are those that the buffer has now
---@param hint acp.Chunks
---@param hunks? acp.PreviewHunk[] instead of its own
---@param group? string of their rows
function M.draw(bufnr, preview, hint, hunks, group)
  M.clear(bufnr, preview)
  generation = generation + 1
  hunks = hunks or preview.hunks
  if #hunks == 0 then
    hunks = { { first = 0, count = 0, new = {} } } -- there is something to be said all the same
  end
  local one = { preview = preview, group = group or "AcpPreviewDelete", hint = hint, hunks = {} }
  for index, hunk in ipairs(hunks) do
    one.hunks[index] = mark(bufnr, hunk, one.group)
    local place = place_of(bufnr, one, one.hunks[index]) --[[@as acp.PreviewPlace]]
    show_hunk(bufnr, one, place.hunk, place.row, place.count)
  end
  drawn[bufnr] = drawn[bufnr] or {}
  table.insert(drawn[bufnr], one)
  table.sort(drawn[bufnr], function(a, b)
    return a.preview.request < b.preview.request
  end)
  top.refresh(bufnr)
end

---@param bufnr integer
---@param preview acp.Preview that is drawn there
---@param hint acp.Chunks
function M.set_hint(bufnr, preview, hint)
  local one = find(bufnr, preview)
  local place = one and not vim.deep_equal(one.hint, hint) and place_of(bufnr, one, one.hunks[1])
  if one and place then
    one.hint = hint
    show_hunk(bufnr, one, place.hunk, place.row, place.count)
  end
end

---@param bufnr integer
---@param place acp.PreviewPlace whose dress is another one
---@param changed table<integer, integer[][]|false> spans of words in its rows
function M.dress(bufnr, place, changed)
  local one, hunk = find(bufnr, place.preview), place.hunk
  if not one then
    return
  end
  show_hunk(bufnr, one, hunk, place.row, place.count)
  for index = 1, place.count do
    for _, span in ipairs(changed[index] or {}) do
      hunk.words[#hunk.words + 1] = api.nvim_buf_set_extmark(bufnr, WORDS, place.row + index - 1, span[1], {
        end_col = span[2],
        hl_group = "AcpPreviewDeleteText",
        priority = 96,
        strict = false,
      })
    end
  end
end

top.add(lines_above)

return M
