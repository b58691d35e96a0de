-- The user's comments on lines of files, until they are sent to an agent.
local highlights = require("acp_nvim.kernel.highlights")
local lazy = require("acp_nvim.lazy")
local lookup = require("acp_nvim.buffers.lookup")
local marks = require("acp_nvim.review.comments.marks")
local message = lazy("acp_nvim.kernel.message")
local stored = require("acp_nvim.review.comments.stored")

local M = {}

local api = vim.api

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

---@param field string of comments
---@param value any
---@return acp.ReviewComment[] in the order in which they were added
local function with(field, value)
  local found = vim.tbl_filter(function(comment)
    return comment[field] == value
  end, vim.tbl_values(comments))
  table.sort(found, function(a, b)
    return a.id < b.id
  end)
  return found
end

---Has a file in the state directory written soon.
---@param file string
---@param is_sent? boolean comments of it were sent
local function store(file, is_sent)
  stored.changed(file, function()
    return vim.tbl_filter(function(comment)
      return comment.text ~= ""
    end, with("file", file))
  end, is_sent)
end

---Keeps the comments in the state directory, and in a variable of the editor, for these modules when they are reloaded.
---Called when there are other comments or texts, and when a buffer gains or loses its extmarks.
local function save()
  vim.g.acp_nvim_comments = vim.tbl_values(comments)
  for _, comment in pairs(comments) do
    store(comment.file)
  end
end

---Draws the comments of the buffers that have changed.
local function refresh()
  local buffers = due
  due = {}
  for bufnr in pairs(buffers) do
    for _, comment in ipairs(api.nvim_buf_is_loaded(bufnr) and with("bufnr", bufnr) or {}) do
      if marks.update(comment) then
        marks.draw(comment)
        store(comment.file)
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

---Draws all comments again: the widths of windows have changed.
local function refresh_all()
  for _, comment in pairs(comments) do
    if marks.is_loaded(comment) then
      refresh_soon(comment.bufnr)
    end
  end
end

---Notes a change of lines. The extmarks have moved already, but not when the change is an undo or a redo.
---@param first integer row
---@param old_last integer row, excluded
---@param last integer row, excluded
local function changed(bufnr, first, old_last, last)
  for _, comment in ipairs(with("bufnr", bufnr)) do
    if not comment.is_gone and comment.first > first and comment.last <= old_last then
      comment.replaced = last > first and { first = first, last = last } or nil
    end
    marks.read(comment)
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

---@param comment acp.ReviewComment
local function place(bufnr, comment)
  marks.place(bufnr, comment)
  attach(bufnr)
end

---Puts the comments of a file that was read into its buffer.
local function on_read(bufnr)
  if not lookup.is_file(bufnr) then
    return
  end
  local path = lookup.real_path(bufnr)
  for _, comment in pairs(comments) do
    if comment.path == path and (comment.bufnr == bufnr or not marks.is_loaded(comment)) then
      place(bufnr, comment)
    end
  end
  save()
end

---Keeps the comments of a buffer that is unloaded by their place.
local function on_unload(bufnr)
  for _, comment in ipairs(with("bufnr", bufnr)) do
    marks.update(comment)
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
  on({ "WinResized", "BufWinEnter" }, refresh_all)
end

---@return string
local function real_cwd()
  return lookup.real(vim.fn.getcwd())
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
  local path, id = lookup.real_path(bufnr), new_id()
  local beside = with("path", path)[1]
  local comment = { id = id, file = beside and beside.file or stored.path(id), cwd = real_cwd(), text = text }
  comment.path, comment.first, comment.last, comment.is_gone = path, first, math.max(first, last), false
  comment.lines = marks.quoted(bufnr, comment.first, comment.last)
  comment.bufnr = bufnr
  comments[id] = comment
  marks.set(comment)
  attach(bufnr)
  marks.draw(comment)
  save()
  return comment
end

---@param comment acp.ReviewComment
---@param text string one line, not empty
function M.set_text(comment, text)
  comment.text = text
  if marks.update(comment) then
    marks.draw(comment)
  end
  save()
end

---@param list acp.ReviewComment[]
---@param are_sent? boolean
function M.remove(list, are_sent)
  for _, comment in ipairs(list) do
    comments[comment.id] = nil
    marks.remove(comment)
    store(comment.file, are_sent)
  end
  save()
end

---@return acp.ReviewComment[] at their present places, sorted by file and line
function M.all()
  local all = vim.tbl_filter(function(comment)
    return comment.text ~= ""
  end, vim.tbl_values(comments))
  for _, comment in ipairs(all) do
    marks.update(comment)
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
    return comment.bufnr == bufnr and marks.is_loaded(comment) and comment.first <= last and comment.last >= first
  end, M.all())
end

---Takes over the comments that Neovims which are gone left: those written in this directory, and those on files that are
---loaded here. Says so.
function M.restore()
  local cwd, loaded = real_cwd(), nil
  local taken = stored.take(new_id, function(comment)
    loaded = loaded or lookup.by_path()
    return comment.cwd == cwd or loaded[comment.path] ~= nil
  end)
  for _, comment in ipairs(taken) do
    comments[comment.id] = comment
    if loaded and loaded[comment.path] then
      place(loaded[comment.path], comment)
    end
  end
  if #taken > 0 then
    watch()
    save()
    local words = #taken == 1 and "1 unsent comment" or ("%d unsent comments"):format(#taken)
    message.info(("restored %s (:AcpReview comments)"):format(words))
  end
end

---Takes over the comments that these modules had before they were reloaded. The places are those of the extmarks.
---@param saved acp.ReviewComment[]
local function take_over(saved)
  for _, comment in ipairs(saved) do
    marks.update(comment)
  end
  marks.clear()
  for _, comment in ipairs(saved) do
    comment.id, comment.replaced = new_id(), nil -- the listeners of the former modules know the former id
    comments[comment.id] = comment
    if marks.is_loaded(comment) then
      place(comment.bufnr, comment)
    end
  end
  watch()
  save()
end

if vim.g.acp_nvim_comments and #vim.g.acp_nvim_comments > 0 then
  take_over(vim.g.acp_nvim_comments)
end

return M
