-- Goes from hunk to hunk, also into the next file under review.
local file_buffer = require("acp_nvim.file_buffer")
local files = require("acp_nvim.review.files")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local top = require("acp_nvim.review.top")

local M = {}

local api = vim.api

---@type { win: integer, bufnr: integer, cursor: integer[], backwards: boolean }? a file whose hunks are on their way
local awaited

---@param row integer
local function go_to(row)
  local line = math.min(row + 1, api.nvim_buf_line_count(0))
  local is_seen = line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
  api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd("normal! zv" .. (is_seen and "" or "zz"))
  if vim.fn.line("w0") == line then
    top.show(api.nvim_get_current_win())
  end
end

---@param path string
---@return boolean its buffer has hunks, or may have them
local function has_hunks(path)
  local bufnr = lookup.find(path)
  if bufnr then
    return #files.hunks(bufnr) > 0
  end
  local review = files.get(path) or {}
  return review.operation ~= "delete" and review.operation ~= "binary" and vim.uv.fs_stat(path) ~= nil
end

---@param path string
---@param backwards boolean
---@return string? path of the file after it, all around
---@return boolean wraps
local function file_after(path, backwards)
  local paths = vim.tbl_map(function(review)
    return review.path
  end, files.to_review())
  local at = vim.fn.index(paths, path)
  for step = 1, at < 0 and #paths or #paths - 1 do
    local index = at + (backwards and -step or step)
    local other = paths[index % #paths + 1]
    if has_hunks(other) then
      return other, index < 0 or index >= #paths
    end
  end
  return nil, true
end

---@param bufnr integer
---@param backwards boolean
---@return boolean done
local function go_to_end_of(bufnr, backwards)
  local hunks = files.hunks(bufnr)
  local hunk = hunks[backwards and #hunks or 1]
  if hunk then
    go_to(hunk.row)
  end
  return hunk ~= nil
end

---@param path string
---@param backwards boolean
---@return boolean done
local function enter(path, backwards)
  local bufnr = file_buffer.get(path)
  if not bufnr then
    return false
  end
  local ok, err = pcall(api.nvim_win_set_buf, 0, bufnr)
  if not ok then
    message.error(
      ("the next hunk is in %s: %s"):format(vim.fn.fnamemodify(path, ":~:."), (tostring(err):gsub("^.-E", "E")))
    )
    return false
  end
  if not go_to_end_of(bufnr, backwards) then
    local win = api.nvim_get_current_win()
    awaited = { win = win, bufnr = bufnr, cursor = api.nvim_win_get_cursor(win), backwards = backwards }
  end
  return true
end

---@param backwards boolean
local function say_wrapped(backwards)
  local from, to = "last", "first"
  if backwards then
    from, to = to, from
  end
  message.news(("that was the %s hunk, here is the %s"):format(from, to), vim.log.levels.INFO)
end

---@param backwards boolean
---@return boolean done
local function step(backwards)
  local bufnr = api.nvim_get_current_buf()
  local hunk = files.next(bufnr, api.nvim_win_get_cursor(0)[1] - 1, backwards)
  if hunk then
    go_to(hunk.row)
    return true
  end
  local review = files.of_buffer(bufnr)
  local path, wraps = file_after(review and review.path or "", backwards)
  if wraps and (path or #files.hunks(bufnr) > 0) then
    say_wrapped(backwards)
  end
  if path then
    return enter(path, backwards)
  end
  return go_to_end_of(bufnr, backwards)
end

---Goes to the next hunk, or as many on as the count says.
---@param backwards? boolean
function M.jump(backwards)
  local count = vim.v.count1 -- which `:normal` forgets
  awaited = nil
  vim.cmd("normal! m'")
  for _ = 1, count do
    if awaited or not step(backwards == true) then
      break
    end
  end
  if not awaited and not files.hunk_at(api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1) then
    message.info("there is no hunk to review")
  end
end

files.on_change(function()
  local one = awaited
  if not one then
    return
  end
  local is_there = api.nvim_get_current_win() == one.win and api.nvim_win_get_buf(one.win) == one.bufnr
  local stayed = is_there and vim.deep_equal(api.nvim_win_get_cursor(one.win), one.cursor)
  if not stayed or go_to_end_of(one.bufnr, one.backwards) then
    awaited = nil
  end
end)

return M
