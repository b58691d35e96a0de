-- Draws previews: lines that would go are coloured, those that would come are virtual, above the first stands who asks.
local limits = require("acp_nvim.limits")
local old_lines = require("acp_nvim.review.old_lines")
local places = require("acp_nvim.review.preview_places")
local top = require("acp_nvim.review.top")

local M = {}

local api = vim.api
-- a hunk has the same id in all three; its place is that in the first
local ROWS = places.ROWS
local LINES = api.nvim_create_namespace("acp_nvim.preview.lines")
local HINTS = api.nvim_create_namespace("acp_nvim.preview.hints")
local WORDS = api.nvim_create_namespace("acp_nvim.preview.words")

local drawn, by_id = places.drawn, places.by_id
local generation = 0

---@param bufnr integer
---@return integer? generation another one whenever something was drawn; nil when nothing is
function M.generation(bufnr)
  return drawn[bufnr] and generation
end

---@param bufnr integer
---@param row integer
---@return integer count of the virtual lines above that row
local function lines_above(bufnr, row)
  local count = 0
  for _, place in ipairs(places.places(bufnr, row, row)) do
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
    by_id[bufnr][hunk.id] = nil
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
  local one, index = places.find(bufnr, preview)
  if one then
    table.remove(drawn[bufnr], index)
    remove(bufnr, one)
    drawn[bufnr] = #drawn[bufnr] > 0 and drawn[bufnr] or nil
    top.refresh(bufnr)
  end
end

---@param bufnr integer that is unloaded, or read again
function M.forget(bufnr)
  drawn[bufnr], by_id[bufnr] = nil, nil
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
  drawn[bufnr], by_id[bufnr] = drawn[bufnr] or {}, by_id[bufnr] or {}
  for index, hunk in ipairs(hunks) do
    one.hunks[index] = mark(bufnr, hunk, one.group)
    by_id[bufnr][one.hunks[index].id] = { one = one, hunk = one.hunks[index] }
    local place = places.now(bufnr, one.hunks[index]) --[[@as acp.PreviewPlace]]
    show_hunk(bufnr, one, place.hunk, place.row, place.count)
  end
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
  local one = places.find(bufnr, preview)
  local place = one and not vim.deep_equal(one.hint, hint) and places.now(bufnr, one.hunks[1])
  if one and place then
    one.hint = hint
    show_hunk(bufnr, one, place.hunk, place.row, place.count)
  end
end

---@param bufnr integer
---@param place acp.PreviewPlace whose dress is another one
---@param changed table<integer, integer[][]|false> spans of words in its rows
function M.dress(bufnr, place, changed)
  local one, hunk = places.find(bufnr, place.preview), place.hunk
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
