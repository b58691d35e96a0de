-- Goes to what a waiting request asks to do: opens the file at its first hunk, and goes from hunk to hunk.
local file_buffer = require("acp_nvim.file_buffer")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local open = require("acp_nvim.review.open")
local preview_file = require("acp_nvim.review.preview_file")
local places = require("acp_nvim.review.preview_places")
local previews = require("acp_nvim.review.previews")
local top = require("acp_nvim.review.top")

local M = {}

local api = vim.api

---@type { win: integer, bufnr: integer, path: string, cursor: integer[], last: boolean }? before its rows were known
local awaited
---@type table<integer, string> request -> path of its file that was opened last
local opened = {}
---@type table<integer, table<string, true>> request -> paths of its files that the user was in
local visited = {}
---@type fun(bufnr: integer) draws what is known of a buffer
local draw = function() end

---@param preview acp.Preview
---@return boolean the user has opened it
function M.is_opened(preview)
  return opened[preview.request] == preview.path
end

---@param preview acp.Preview that the user is in
---@return table<string, true> paths of this file, and of those of its request that the user was in
function M.visited(preview)
  return vim.tbl_extend("force", visited[preview.request] or {}, { [preview.path] = true })
end

---@param drawer fun(bufnr: integer)
function M.draw_with(drawer)
  draw = drawer
end

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
---@param last? boolean
---@return boolean done false while the rows are not known
local function go_to_first(path, last)
  local list = vim.tbl_filter(function(place)
    return previews.place(place.preview) == path
  end, places.places(api.nvim_get_current_buf()))
  local place = list[last and #list or 1]
  if place then
    go_to(place.row)
  end
  return place ~= nil
end

---@param preview acp.Preview
---@return integer? bufnr loaded; nil when there is nothing to be seen, which is said
local function buffer_of(preview)
  local path = previews.place(preview)
  local bufnr = lookup.find(path)
  if bufnr then
    return bufnr
  elseif not preview.exists then
    return preview_file.buffer(preview)
  end
  if preview.note and (vim.uv.fs_stat(path) or {}).type ~= "file" then
    message.info(("%s: %s"):format(vim.fs.basename(path), preview.note))
    return nil
  end
  return file_buffer.get(path)
end

---@param bufnr integer
---@return integer win the current one then
local function show(bufnr)
  local win = preview_file.window()
  if not win then
    return open.show(bufnr)
  end
  api.nvim_set_current_win(win)
  if api.nvim_win_get_buf(win) ~= bufnr then
    api.nvim_win_set_buf(win, bufnr)
  end
  return win
end

---@param preview acp.Preview
---@param last? boolean go to its last hunk
---@return boolean
local function go(preview, last)
  local bufnr = buffer_of(preview)
  opened[preview.request] = preview.path
  if not bufnr then
    return false
  end
  local win = show(bufnr)
  visited[preview.request] = visited[preview.request] or {}
  visited[preview.request][preview.path] = true
  draw(bufnr)
  local path = previews.place(preview)
  awaited = nil
  if not go_to_first(path, last) then
    local cursor = api.nvim_win_get_cursor(win)
    awaited = { win = win, bufnr = bufnr, path = path, cursor = cursor, last = last == true }
  end
  return true
end

---@param list acp.Preview[]
---@param path? string
---@param by integer
---@return acp.Preview?
---@return boolean wraps
local function after(list, path, by)
  local at = vim.iter(ipairs(list)):find(function(_, preview)
    return preview.path == path
  end) or (by > 0 and 0 or 1)
  local index = at + by
  return list[(index - 1) % #list + 1], index < 1 or index > #list
end

---Opens a file of the request at its first hunk: with each call the next one.
---@param request integer
---@return boolean
function M.open(request)
  local list = previews.of_request(request)
  if #list == 0 then
    message.info("there is no preview of this request")
    return false
  end
  return go(after(list, opened[request], 1))
end

---@param backwards boolean
---@return boolean done
local function step(backwards)
  local bufnr, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1
  local place = places.next(bufnr, row, backwards)
  if place then
    go_to(place.row)
    return true
  end
  local here = places.previews(bufnr)[1]
  if not here then
    return false
  end
  local preview, wraps = after(previews.of_request(here.request), here.path, backwards and -1 or 1)
  if wraps then
    local from, to = backwards and "first" or "last", backwards and "last" or "first"
    message.news(("that was the %s change of this request, here is the %s"):format(from, to), vim.log.levels.INFO)
  end
  return preview ~= nil and go(preview, backwards)
end

---Goes to the next hunk of what is asked, or as many on as the count says; also into the next file.
---@param backwards boolean
function M.step(backwards)
  local count = vim.v.count1 -- which is another one after the command
  vim.cmd("normal! m'")
  for _ = 1, count do
    if not step(backwards) or awaited then
      break
    end
  end
end

---The rows of a buffer are known now: whoever has opened it for them, and did not move, goes there.
---@param bufnr integer
function M.drawn(bufnr)
  local one = awaited
  if not one or one.bufnr ~= bufnr then
    return
  end
  awaited = nil
  local is_there = api.nvim_get_current_win() == one.win and api.nvim_win_get_buf(one.win) == bufnr
  if is_there and vim.deep_equal(api.nvim_win_get_cursor(one.win), one.cursor) then
    go_to_first(one.path, one.last)
  end
end

previews.on_change(function(request)
  if #previews.of_request(request) == 0 then
    opened[request], visited[request] = nil, nil
  end
end)

return M
