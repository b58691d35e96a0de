-- The user's comments on lines of files, until they are sent to an agent: extmarks keep their place while the text changes.
local highlights = require("acp_nvim.highlights")
local lookup = require("acp_nvim.buffers.lookup")

local M = {}

local api = vim.api
local LINES = api.nvim_create_namespace("acp_nvim.comments")
local SHOWN = api.nvim_create_namespace("acp_nvim.comments.shown") -- an extmark has the same id in both
local QUOTED_LINES = 20 -- of a comment that are kept: they are quoted, and found again when the file is read again
local QUOTED_BYTES = 500 -- of each of these lines
local SEARCHED_LINES = 1000 -- before and after the former place of a comment

---@class acp.ReviewComment
---@field id integer of its extmarks
---@field text string one line; empty while the user is still writing it
---@field path string real path of the file
---@field bufnr? integer the buffer that has the extmarks; nil: the file is not loaded
---@field first integer 1-based; of a comment whose lines are gone: the line that is there now
---@field last integer 1-based, included
---@field is_gone boolean all its lines were deleted
---@field lines string[] the first of its lines, cut; of a comment whose lines are gone: as they were
---@field replaced? { first: integer, last: integer } rows (`last` excluded) that the present change has put in place of its lines

---@type table<integer, acp.ReviewComment>
local comments = {}
---@type table<integer, table> buffer -> identifies the listeners that are valid
local attached = {}
---@type table<integer, true> buffers that are to be drawn again
local due = {}

---@return integer id unique in this Neovim, even after the modules were reloaded
local function new_id()
  local id = (vim.g.acp_nvim_last_comment or 0) + 1
  vim.g.acp_nvim_last_comment = id
  return id
end

---Keeps the comments in a variable of the editor, for these modules when they are reloaded. Called when there are other
---comments or texts, and when a buffer gains or loses its extmarks.
local function save()
  vim.g.acp_nvim_comments = vim.tbl_values(comments)
end

---@return acp.ReviewComment[]
local function of_buffer(bufnr)
  return vim.tbl_filter(function(comment)
    return comment.bufnr == bufnr
  end, vim.tbl_values(comments))
end

---@return boolean the extmarks can be asked
local function is_loaded(comment)
  return comment.bufnr ~= nil and api.nvim_buf_is_loaded(comment.bufnr)
end

---@param line string
local function cut(line)
  local size = math.min(#line, QUOTED_BYTES)
  return line:sub(1, size + vim.str_utf_end(line, size))
end

---@param first integer 1-based
---@param last integer 1-based, included
---@return string[]
local function quoted(bufnr, first, last)
  last = math.min(last, first + QUOTED_LINES - 1)
  return vim.tbl_map(cut, api.nvim_buf_get_lines(bufnr, first - 1, last, false))
end

---@param comment acp.ReviewComment in a loaded buffer; its lines are at `first` to `last`, or gone
local function set_mark(comment)
  local count = api.nvim_buf_line_count(comment.bufnr)
  local row = math.min(comment.first, count) - 1
  local end_row = comment.is_gone and row or math.max(math.min(comment.last, count), row + 1)
  api.nvim_buf_set_extmark(comment.bufnr, LINES, row, 0, { id = comment.id, end_row = end_row, end_col = 0 })
end

---Reads where the extmark is now.
---@param comment acp.ReviewComment in a loaded buffer
---@return boolean known
local function read_mark(comment)
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
    set_mark(comment)
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
local function update(comment)
  if not is_loaded(comment) or not read_mark(comment) then
    return false
  end
  comment.path = lookup.real_path(comment.bufnr)
  if not comment.is_gone then
    comment.lines = quoted(comment.bufnr, comment.first, comment.last)
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
local function draw(comment)
  if comment.text == "" then
    return
  end
  local words = vim.trim(("└ %s %s"):format(comment.text, M.range_words(comment)))
  local row = comment.is_gone and math.max(comment.first - 1, 1) or comment.last
  local line = { { words, "AcpReviewComment" } }
  api.nvim_buf_set_extmark(comment.bufnr, SHOWN, row - 1, 0, { id = comment.id, virt_lines = { line } })
end

---Draws the comments of the buffers that have changed.
local function refresh()
  local buffers = due
  due = {}
  for bufnr in pairs(buffers) do
    for _, comment in ipairs(api.nvim_buf_is_loaded(bufnr) and of_buffer(bufnr) or {}) do
      if update(comment) then
        draw(comment)
      end
      comment.replaced = nil
    end
  end
end

local function refresh_soon(bufnr)
  if next(due) == nil then
    vim.schedule(refresh)
  end
  due[bufnr] = true
end

---Notes a change of lines. The extmarks have moved already, but not when the change is an undo or a redo.
---@param first integer row
---@param old_last integer row, excluded
---@param last integer row, excluded
local function changed(bufnr, first, old_last, last)
  for _, comment in ipairs(of_buffer(bufnr)) do
    if not comment.is_gone and comment.first > first and comment.last <= old_last then
      comment.replaced = last > first and { first = first, last = last } or nil
    end
    read_mark(comment)
  end
  refresh_soon(bufnr)
end

local function attach(bufnr)
  if attached[bufnr] then
    return
  end
  local mine = {}
  attached[bufnr] = mine
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, _, first, old_last, last)
      if attached[bufnr] ~= mine then
        return true
      end
      changed(bufnr, first, old_last, last)
    end,
    on_reload = function() end, -- else it would be detached
    on_detach = function()
      attached[bufnr] = attached[bufnr] ~= mine and attached[bufnr] or nil
    end,
  })
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
local function place(bufnr, comment)
  if comment.bufnr and api.nvim_buf_is_valid(comment.bufnr) then -- they survive |:edit!|
    api.nvim_buf_del_extmark(comment.bufnr, LINES, comment.id)
    api.nvim_buf_del_extmark(comment.bufnr, SHOWN, comment.id)
  end
  comment.bufnr = bufnr
  local first = find(bufnr, comment)
  if first then
    local count = comment.is_gone and #comment.lines or comment.last - comment.first + 1
    comment.first, comment.last, comment.is_gone = first, first + count - 1, false
  end
  set_mark(comment)
  attach(bufnr)
  update(comment)
  draw(comment)
end

---Puts the comments of a file that was read into its buffer.
local function on_read(bufnr)
  if not lookup.is_file(bufnr) then
    return
  end
  local path = lookup.real_path(bufnr)
  for _, comment in pairs(comments) do
    if comment.path == path and (comment.bufnr == bufnr or not is_loaded(comment)) then
      place(bufnr, comment)
    end
  end
  save()
end

---Keeps the comments of a buffer that is unloaded by their place.
local function on_unload(bufnr)
  for _, comment in ipairs(of_buffer(bufnr)) do
    update(comment)
  end
  attached[bufnr] = nil
  save()
end

local is_watching = false

---Registers the autocommands, with the first comment.
local function watch()
  if is_watching then
    return
  end
  is_watching = true
  highlights.define()
  local group = api.nvim_create_augroup("acp_nvim.comments", {})
  local function on(events, run)
    api.nvim_create_autocmd(events, {
      group = group,
      callback = function(event)
        run(event.buf)
      end,
    })
  end
  on({ "BufReadPost", "BufNewFile" }, on_read)
  on("BufUnload", on_unload)
end

---@return boolean lines of the buffer can have comments
function M.is_possible(bufnr)
  local name = api.nvim_buf_get_name(bufnr)
  return lookup.is_file(bufnr) and vim.bo[bufnr].buftype == "" and not name:match("^%a[%w+.-]*://")
end

---Adds a comment.
---@param bufnr integer for which `is_possible`
---@param first integer 1-based
---@param last integer 1-based, included
---@param text string one line; empty: the user is still writing it, and `set_text` follows
---@return acp.ReviewComment
function M.add(bufnr, first, last, text)
  watch()
  local comment = { id = new_id(), text = text, path = lookup.real_path(bufnr), is_gone = false, bufnr = bufnr }
  comment.first, comment.last = first, math.max(first, last)
  comment.lines = quoted(bufnr, comment.first, comment.last)
  comments[comment.id] = comment
  set_mark(comment)
  attach(bufnr)
  draw(comment)
  save()
  return comment
end

---@param comment acp.ReviewComment
---@param text string one line, not empty
function M.set_text(comment, text)
  comment.text = text
  if update(comment) then
    draw(comment)
  end
  save()
end

---@param list acp.ReviewComment[]
function M.remove(list)
  for _, comment in ipairs(list) do
    comments[comment.id] = nil
    if is_loaded(comment) then
      api.nvim_buf_del_extmark(comment.bufnr, LINES, comment.id)
      api.nvim_buf_del_extmark(comment.bufnr, SHOWN, comment.id)
    end
  end
  save()
end

---@return acp.ReviewComment[] at their present places, sorted by file and line
function M.all()
  local all = vim.tbl_filter(function(comment)
    return comment.text ~= ""
  end, vim.tbl_values(comments))
  for _, comment in ipairs(all) do
    update(comment)
  end
  table.sort(all, function(a, b)
    if a.path ~= b.path then
      return a.path < b.path
    end
    return a.first < b.first or a.first == b.first and a.id < b.id
  end)
  return all
end

---@param first integer 1-based
---@param last integer 1-based, included
---@return acp.ReviewComment[] of the buffer that touch these lines, sorted
function M.within(bufnr, first, last)
  return vim.tbl_filter(function(comment)
    return comment.bufnr == bufnr and is_loaded(comment) and comment.first <= last and comment.last >= first
  end, M.all())
end

---@param comment acp.ReviewComment
---@return string[] lines the first of its lines
---@return integer more number of its other lines
function M.quote(comment)
  return comment.lines, math.max(comment.last - comment.first + 1 - #comment.lines, 0)
end

---Takes over the comments that these modules had before they were reloaded. The places are those of the extmarks.
---@param saved acp.ReviewComment[]
local function take_over(saved)
  for _, comment in ipairs(saved) do
    update(comment)
  end
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    api.nvim_buf_clear_namespace(bufnr, LINES, 0, -1)
    api.nvim_buf_clear_namespace(bufnr, SHOWN, 0, -1)
  end
  for _, comment in ipairs(saved) do
    comment.id, comment.replaced = new_id(), nil -- the listeners of the former modules know the former id
    comments[comment.id] = comment
    if is_loaded(comment) then
      place(comment.bufnr, comment)
    end
  end
  watch()
end

if vim.g.acp_nvim_comments and #vim.g.acp_nvim_comments > 0 then
  take_over(vim.g.acp_nvim_comments)
end

return M
