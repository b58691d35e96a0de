-- How a hunk looks in its buffer: colours and signs of its rows, and the lines that are not there any more.
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")
local old_lines = require("acp_nvim.review.old_lines")

local M = {}

local api = vim.api
-- one hunk has the same id in all three; its place is that in the first
local ROWS = api.nvim_create_namespace("acp_nvim.review")
local SIGNS = api.nvim_create_namespace("acp_nvim.review.signs")
local LINES = api.nvim_create_namespace("acp_nvim.review.lines")
M.ROWS = ROWS

---@class acp.Marked a hunk in a buffer
---@field hunk acp.ReviewHunk
---@field index integer its place among the hunks of the file
---@field id? integer of its extmarks
---@field dress acp.Dress how its old lines look
---@field is_dressed? boolean
---@field above integer how many virtual lines stand above its first row
---@field words? acp.Words
---@field new? string[] the lines that `words` is of

---@param bufnr integer
---@return boolean a window compares it with another one: lines of ours would not fit there
local function is_in_diff(bufnr)
  return vim.iter(vim.fn.win_findbuf(bufnr)):any(function(win)
    return vim.wo[win].diff
  end)
end

---Neovim scrolls no further up than the height of a window above the first line.
---@param bufnr integer
---@return integer
local function most_at_top(bufnr)
  local most = limits.deleted_lines
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    most = math.min(most, math.max(api.nvim_win_get_height(win) - 2, 1))
  end
  return most
end

---@param hunk acp.ReviewHunk
---@return "conflict"|"delete"|"add"|"change"
local function kind_of(hunk)
  if hunk.by == "conflict" then
    return "conflict"
  elseif hunk.count == 0 then
    return "delete"
  end
  return #hunk.old == 0 and "add" or "change"
end

local GROUPS = { conflict = "AcpConflictMine", add = "AcpReviewAdd", change = "AcpReviewChange" }
local SIGN_TEXTS = {
  conflict = { "!", "AcpReviewSignConflict" },
  delete = { "_", "AcpReviewSignDelete" },
  add = { "+", "AcpReviewSignAdd" },
  change = { "~", "AcpReviewSignChange" },
}

---@param bufnr integer
---@param marked acp.Marked
---@param row integer
---@param count integer
---@param is_hidden boolean
local function show_rows(bufnr, marked, row, count, is_hidden)
  local kind = kind_of(marked.hunk)
  local range = { end_row = row + count, end_col = 0, end_right_gravity = false, strict = false }
  local look = { id = marked.id, hl_group = not is_hidden and GROUPS[kind] or nil, hl_eol = true, priority = 90 }
  marked.id = api.nvim_buf_set_extmark(bufnr, ROWS, row, 0, vim.tbl_extend("error", range, look))
  if config.get().review.signs then
    api.nvim_buf_set_extmark(bufnr, SIGNS, math.min(row, api.nvim_buf_line_count(bufnr) - 1), 0, {
      id = marked.id,
      end_row = count > 1 and row + count - 1 or nil, -- that row has a sign, too
      sign_text = SIGN_TEXTS[kind][1],
      sign_hl_group = SIGN_TEXTS[kind][2],
      priority = 8,
      strict = false,
    })
  end
end

---@param bufnr integer
---@param marked acp.Marked
---@param row integer of its first line
---@param count integer
---@param is_hidden boolean
local function show_lines(bufnr, marked, row, count, is_hidden)
  local hunk = marked.hunk
  local is_conflict = hunk.by == "conflict"
  local lines = is_conflict and hunk.theirs or hunk.old
  marked.above = 0
  if #lines == 0 or is_hidden then
    api.nvim_buf_del_extmark(bufnr, LINES, marked.id)
    return
  end
  local last = api.nvim_buf_line_count(bufnr) - 1
  local is_below = row > last or (is_conflict and count > 0)
  row = math.min(is_below and count > 0 and row + count - 1 or row, last)
  local old = {
    lines = lines,
    group = is_conflict and "AcpConflictTheirs" or "AcpReviewDelete",
    word = is_conflict and "of their" or "deleted",
    most = row == 0 and not is_below and most_at_top(bufnr) or limits.deleted_lines,
  }
  local virtual = old_lines.virtual(bufnr, old, marked.dress)
  marked.above = is_below and 0 or #virtual
  api.nvim_buf_set_extmark(bufnr, LINES, row, 0, {
    id = marked.id,
    virt_lines = virtual,
    virt_lines_above = not is_below,
    virt_lines_overflow = "scroll",
  })
end

---@param bufnr integer
---@param marked acp.Marked
---@param row integer of its first line; behind the last row for a deletion there
---@param count integer
function M.show(bufnr, marked, row, count)
  local all, is_hidden = api.nvim_buf_line_count(bufnr), is_in_diff(bufnr)
  row = math.min(row, all)
  count = math.min(count, all - row)
  show_rows(bufnr, marked, row, count, is_hidden)
  show_lines(bufnr, marked, row, count, is_hidden)
end

---Deletions at the end go with lines that the user deletes there: then they are shown below the new last line.
---@param bufnr integer
---@param by_id table<integer, acp.Marked>
function M.settle(bufnr, by_id)
  local last = api.nvim_buf_line_count(bufnr)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, LINES, { last, 0 }, -1, {})) do
    if by_id[mark[1]] then
      show_lines(bufnr, by_id[mark[1]], last, 0, is_in_diff(bufnr))
    end
  end
end

---@param bufnr integer
---@param id integer
function M.remove(bufnr, id)
  for _, namespace in ipairs({ ROWS, SIGNS, LINES }) do
    api.nvim_buf_del_extmark(bufnr, namespace, id)
  end
end

---@param bufnr integer
function M.clear(bufnr)
  if api.nvim_buf_is_valid(bufnr) then
    for _, namespace in ipairs({ ROWS, SIGNS, LINES }) do
      api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    end
  end
end

return M
