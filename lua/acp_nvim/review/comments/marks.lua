-- Where a comment is in its buffer: extmarks keep its place while the text changes, and its lines find it again.
local lookup = require("acp_nvim.buffers.lookup")
local rows = require("acp_nvim.render.wrapping")

local M = {}

local api = vim.api
local LINES = api.nvim_create_namespace("acp_nvim.comments")
local SHOWN = api.nvim_create_namespace("acp_nvim.comments.shown") -- an extmark has the same id in both
local QUOTED_LINES = 20 -- of a comment that are kept: they are quoted, and found again when the file is read again
local QUOTED_BYTES = 500 -- of each of these lines
local SEARCHED_LINES = 1000 -- before and after the former place of a comment

---@class acp.ReviewComment
---@field id integer of its extmarks
---@field file string path of the file in the state directory that keeps it
---@field cwd string real path of Neovim's directory when it was written
---@field text string one line; empty while the user is still writing it
---@field path string real path of the file
---@field bufnr? integer the buffer that has the extmarks; nil: the file is not loaded
---@field first integer 1-based; of a comment whose lines are gone: the line that is there now
---@field last integer 1-based, included
---@field is_gone boolean all its lines were deleted
---@field lines string[] the first of its lines, cut; of a comment whose lines are gone: as they were
---@field replaced? { first: integer, last: integer } rows (`last` excluded) that the present change has put in place of its lines

---@return boolean the extmarks can be asked
function M.is_loaded(comment)
  return comment.bufnr ~= nil and api.nvim_buf_is_loaded(comment.bufnr)
end

---@param line string
local function cut(line)
  return #line <= QUOTED_BYTES and line or line:sub(1, QUOTED_BYTES + vim.str_utf_end(line, QUOTED_BYTES))
end

---@param first integer 1-based
---@param last integer 1-based, included
---@return string[]
function M.quoted(bufnr, first, last)
  last = math.min(last, first + QUOTED_LINES - 1)
  return vim.tbl_map(cut, api.nvim_buf_get_lines(bufnr, first - 1, last, false))
end

---@param comment acp.ReviewComment in a loaded buffer; its lines are at `first` to `last`, or gone
function M.set(comment)
  local count = api.nvim_buf_line_count(comment.bufnr)
  local row = math.min(comment.first, count) - 1
  local end_row = comment.is_gone and row or math.max(math.min(comment.last, count), row + 1)
  api.nvim_buf_set_extmark(comment.bufnr, LINES, row, 0, { id = comment.id, end_row = end_row, end_col = 0 })
end

---Reads where the extmark is now.
---@param comment acp.ReviewComment in a loaded buffer
---@return boolean known
function M.read(comment)
  local mark = api.nvim_buf_get_extmark_by_id(comment.bufnr, LINES, comment.id, { details = true })
  if not mark[1] then
    return false
  end
  local row, end_row, end_col = mark[1], mark[3].end_row, mark[3].end_col
  local was_gone = comment.is_gone
  comment.is_gone = end_row < row or end_row == row and end_col <= mark[2]
  if comment.is_gone and not was_gone and comment.replaced then -- other lines are there instead
    local first, last = comment.replaced.first, comment.replaced.last
    comment.is_gone = false
    comment.first = math.min(math.max(comment.first, first + 1), last)
    comment.last = math.min(math.max(comment.last, comment.first), last)
    M.set(comment)
    return true
  end
  local count = api.nvim_buf_line_count(comment.bufnr) -- undo can make the text shorter before it moves extmarks
  comment.first = math.min(row + 1, count)
  comment.last = math.max(math.min(end_col > 0 and end_row + 1 or end_row, count), comment.first)
  return true
end

---Reads the place, the lines and the name of a comment's file.
---@param comment acp.ReviewComment
---@return boolean known false when the file is not loaded
function M.update(comment)
  if not M.is_loaded(comment) or not M.read(comment) then
    return false
  end
  comment.path = lookup.real_path(comment.bufnr)
  if not comment.is_gone then
    comment.lines = M.quoted(comment.bufnr, comment.first, comment.last)
  end
  return true
end

---@param comment acp.ReviewComment
---@return string words for the lines of a comment that has not just one; else empty
function M.range_words(comment)
  if comment.is_gone then
    return "(the lines are gone)"
  end
  return comment.last > comment.first and ("(lines %d to %d)"):format(comment.first, comment.last) or ""
end

---Shows the text of a comment below its last line.
---@param comment acp.ReviewComment in a loaded buffer
function M.draw(comment)
  if comment.text == "" then
    return
  end
  local words = vim.trim(("%s %s"):format(comment.text, M.range_words(comment)))
  local row = comment.is_gone and math.max(comment.first - 1, 1) or comment.last
  local lines = vim.tbl_map(function(one)
    return { { one, "AcpReviewComment" } }
  end, rows.of(words, comment.bufnr))
  api.nvim_buf_set_extmark(comment.bufnr, SHOWN, row - 1, 0, { id = comment.id, virt_lines = lines })
end

---Removes the extmarks of a comment.
---@param comment acp.ReviewComment
function M.remove(comment)
  if comment.bufnr and api.nvim_buf_is_valid(comment.bufnr) then
    api.nvim_buf_del_extmark(comment.bufnr, LINES, comment.id)
    api.nvim_buf_del_extmark(comment.bufnr, SHOWN, comment.id)
  end
end

---Removes the extmarks of all comments.
function M.clear()
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    api.nvim_buf_clear_namespace(bufnr, LINES, 0, -1)
    api.nvim_buf_clear_namespace(bufnr, SHOWN, 0, -1)
  end
end

---Searches the lines of a comment in a file that was read again.
---@param comment acp.ReviewComment
---@return integer? first the nearest place, 1-based
local function find(bufnr, comment)
  local start = math.max(comment.first - SEARCHED_LINES, 1)
  local stop = comment.first + SEARCHED_LINES + #comment.lines
  local lines = vim.tbl_map(cut, api.nvim_buf_get_lines(bufnr, start - 1, stop, false))
  local best
  for index = 1, #lines - #comment.lines + 1 do
    local first = start + index - 1
    local is_nearer = not best or math.abs(first - comment.first) < math.abs(best - comment.first)
    if is_nearer and vim.deep_equal(vim.list_slice(lines, index, index + #comment.lines - 1), comment.lines) then
      best = first
    end
  end
  return best
end

---Puts a comment into a buffer that has been read.
---@param comment acp.ReviewComment
function M.place(bufnr, comment)
  M.remove(comment) -- extmarks survive |:edit!|
  comment.bufnr = bufnr
  local first = find(bufnr, comment)
  if first then
    local count = comment.is_gone and #comment.lines or comment.last - comment.first + 1
    comment.first, comment.last, comment.is_gone = first, first + count - 1, false
  end
  M.set(comment)
  M.update(comment)
  M.draw(comment)
end

---@param comment acp.ReviewComment
---@return string[] lines the first of its lines
---@return integer more number of its other lines
function M.quote(comment)
  return comment.lines, math.max(comment.last - comment.first + 1 - #comment.lines, 0)
end

return M
