-- Draws what only hunks in sight need: changed words, syntax colours of old lines, the hint.
local hint = require("acp_nvim.review.hint")
local limits = require("acp_nvim.limits")
local marks = require("acp_nvim.review.marks")
local syntax = require("acp_nvim.review.syntax")
local words = require("acp_nvim.review.words")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.review.sight")

---@type acp.Place[] of the window that is being drawn
local seen = {}
---@type table<integer, table<integer, acp.Place>> buffer -> id -> places that want a dress
local wanted = {}
local is_due = false

---@param bufnr integer
---@param place acp.Place
local function dress(bufnr, place)
  local marked = place.marked
  local hunk = marked.hunk
  local lines = hunk.by == "conflict" and hunk.theirs or hunk.old
  lines = vim.list_slice(lines, 1, limits.deleted_lines)
  marked.dress.syntax = #lines > 0 and syntax.of(bufnr, place.start, place.count, lines) or nil
  if hunk.by ~= "conflict" and #hunk.old > 0 and place.count > 0 then
    marked.new = api.nvim_buf_get_lines(bufnr, place.row, place.row + place.count, false)
    marked.words = words.of(hunk.old, marked.new)
    marked.dress.words = marked.words and marked.words.old
  end
  marked.is_dressed = true
  if next(marked.dress) then
    marks.dress(bufnr, place)
  end
end

---Some at once, the others when the editor has had its turn.
local function dress_wanted()
  is_due = false
  local started = vim.uv.hrtime()
  for bufnr, places in pairs(wanted) do
    for id in pairs(places) do
      local place = api.nvim_buf_is_loaded(bufnr) and marks.get(bufnr, id)
      places[id] = nil
      if place and not place.marked.is_dressed then
        dress(bufnr, place)
      end
      if vim.uv.hrtime() - started > limits.dress_ns then
        return M.dress_soon()
      end
    end
    wanted[bufnr] = nil
  end
end

function M.dress_soon()
  if not is_due then
    is_due = true
    vim.schedule(dress_wanted)
  end
end

---@param bufnr integer
---@param place acp.Place
local function want(bufnr, place)
  if not place.marked.is_dressed then
    wanted[bufnr] = wanted[bufnr] or {}
    wanted[bufnr][place.marked.id] = place
    M.dress_soon()
  end
end

---@param win integer
---@param bufnr integer
---@param first integer
---@param last integer
---@return boolean there is something to draw
local function on_win(win, bufnr, first, last)
  if not marks.has(bufnr) or vim.wo[win].diff then
    return false
  end
  seen = marks.within(bufnr, first, last)
  for _, place in ipairs(seen) do
    want(bufnr, place)
  end
  return #seen > 0
end

---@param bufnr integer
---@param row integer
---@param from integer
---@param to_row integer
---@param to integer
---@param group string
local function colour(bufnr, row, from, to_row, to, group)
  api.nvim_buf_set_extmark(bufnr, NS, row, from, {
    end_row = to_row,
    end_col = to,
    hl_group = group,
    hl_eol = to_row > row,
    ephemeral = true,
    priority = 91,
    strict = false,
  })
end

---@param bufnr integer
---@param place acp.Place
---@param row integer
local function draw_words(bufnr, place, row)
  local marked = place.marked
  local index = row - place.row + 1
  local line = marked.words and api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  if not line or marked.new[index] ~= line then
    return -- the user is at it
  end
  local spans = marked.words.new[index]
  if not spans then
    return colour(bufnr, row, 0, row + 1, 0, "AcpReviewAdd")
  end
  for _, span in ipairs(spans) do
    colour(bufnr, row, span[1], row, span[2], "AcpReviewAddText")
  end
end

---@param win integer
---@param bufnr integer
---@param row integer
local function on_line(win, bufnr, row)
  for _, place in ipairs(seen) do
    if row >= place.row and row < place.row + place.count then
      draw_words(bufnr, place, row)
    end
  end
  local text = hint.text(win, bufnr, row)
  if text then
    api.nvim_buf_set_extmark(bufnr, NS, row, 0, {
      virt_text = { { text, "AcpReviewHint" } },
      virt_text_pos = "eol",
      ephemeral = true,
    })
  end
end

function M.watch()
  api.nvim_set_decoration_provider(NS, {
    on_win = function(_, win, bufnr, first, last)
      return on_win(win, bufnr, first, last)
    end,
    on_line = function(_, win, bufnr, row)
      on_line(win, bufnr, row)
    end,
  })
end

function M.unwatch()
  api.nvim_set_decoration_provider(NS, {})
end

return M
