-- Draws the changes that waiting requests ask for, and jumps to them. Deleted lines are coloured, new lines are virtual,
-- a header above the first hunk names the agent. A file that would be new is shown in a buffer of the request.
local file_buffer = require("acp_nvim.buffers.file_buffer")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local hunk_view = require("acp_nvim.review.hunks.view")
local jump = require("acp_nvim.review.hunks.jump")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local previews = require("acp_nvim.review.previews")
local shadow = require("acp_nvim.windows.shadow")
local switch = require("acp_nvim.windows.switch")
local top = require("acp_nvim.review.hunks.top")
local typed_ahead = require("acp_nvim.keys.typed_ahead")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@type table<integer, acp.Preview> buffer -> preview of the new file that it shows
local new_files = {}
---@type table<integer, acp.Preview> buffer -> the same once it is allowed, until the agent has made the file
local allowed = {}
---@type table<integer, string> request -> path of its file that was opened last
local opened = {}
---@type table<integer, table<string, true>> request -> paths of its files that the user has visited
local visited = {}
local drawn = 0 -- counts hunks, to keep those of one row in order

---@return acp.HunkStyle
local function style(mark, row, count)
  local hunk = mark.hunk --[[@as acp.PreviewHunk]]
  return {
    group = hunk.count > 0 and (mark.preview.exists and "AcpPreviewDelete" or "AcpPreviewAdd") or nil,
    priority = 95,
    header = mark.header,
    lines = hunk.new,
    lines_group = "AcpPreviewAdd",
    noun = "new",
    is_below = row > 0 or count > 0,
    words = { group = "AcpPreviewDeleteText" },
  }
end

local view = hunk_view.new({ name = "preview", style = style, in_diff = true })
M.view = view

---@param one acp.Preview
---@param other acp.Preview
---@return boolean of the same file and request
local function is_same(one, other)
  return one.request == other.request and one.path == other.path
end

---@return acp.Mark[] first hunks of the previews in the buffer, oldest requests first
local function first_marks(bufnr)
  local marks = vim.tbl_filter(function(mark)
    return mark.header ~= nil
  end, vim.tbl_values(view.buffers[bufnr] or {}))
  table.sort(marks, function(a, b)
    local one, other = a.preview.request, b.preview.request
    return one < other or (one == other and a.index < b.index)
  end)
  return marks
end

---@return acp.Preview[] in the buffer, oldest requests first
function M.previews(bufnr)
  return vim.tbl_map(function(mark)
    return mark.preview
  end, first_marks(bufnr))
end

---Removes a preview from a buffer.
function M.clear(bufnr, preview)
  for id, mark in pairs(view.buffers[bufnr] or {}) do
    if is_same(mark.preview, preview) then
      view:remove(bufnr, id)
    end
  end
  if view.buffers[bufnr] and next(view.buffers[bufnr]) == nil then
    view:clear(bufnr)
  end
  top.refresh(bufnr)
end

---@param preview acp.Preview of the present text of the buffer
---@param header acp.Chunks
---@param hunks acp.PreviewHunk[]
function M.draw(bufnr, preview, header, hunks)
  M.clear(bufnr, preview)
  if #hunks == 0 then
    hunks = { { first = 0, count = 0, new = {} } } -- for the header
  end
  for index, hunk in ipairs(hunks) do
    drawn = drawn + 1
    local mark = { hunk = hunk, index = drawn, highlights = {}, above = 0, preview = preview }
    mark.header = index == 1 and header or nil
    view:draw(bufnr, mark, hunk.first, hunk.count)
  end
  top.refresh(bufnr)
end

---@param header acp.Chunks
---@return boolean drawn false when the buffer does not show this preview
function M.set_header(bufnr, preview, header)
  local mark = vim.iter(first_marks(bufnr)):find(function(one)
    return one.preview == preview
  end)
  local place = mark and view:get(bufnr, mark.id)
  if place and not vim.deep_equal(mark.header, header) then
    mark.header = header
    view:draw(bufnr, mark, place.start, place.count)
  end
  return mark ~= nil
end

---@return boolean the user has opened it
function M.is_opened(preview)
  return opened[preview.request] == preview.path
end

---@return boolean the buffer shows a preview, or will once the host has sent its hunks for the present text
function M.is_expected(bufnr)
  if #M.previews(bufnr) > 0 then
    return true
  end
  local path = api.nvim_buf_is_loaded(bufnr) and lookup.is_file(bufnr) and lookup.real_path(bufnr)
  return vim.iter(path and previews.all() or {}):any(function(preview)
    return previews.place(preview) == path and (not preview.large or M.is_opened(preview))
  end)
end

---@return table<string, true> paths of this file, and of the files of its request that the user has visited
function M.visited(preview)
  return vim.tbl_extend("force", visited[preview.request] or {}, { [preview.path] = true })
end

---@return acp.Preview? of the new file that this buffer shows
function M.new_file(bufnr)
  return new_files[bufnr]
end

---@return integer? bufnr that shows the new file
function M.new_file_buffer(preview)
  for bufnr, other in pairs(new_files) do
    if is_same(other, preview) and api.nvim_buf_is_valid(bufnr) then
      return bufnr
    end
  end
end

---@return integer? bufnr loaded; nil when there is nothing to show, which a message explains
local function buffer_of(preview)
  local path = previews.place(preview)
  local bufnr = lookup.find(path)
  if bufnr then
    return bufnr
  end
  local words = preview.note
  if not preview.exists and #preview.hunks > 0 then
    bufnr = M.new_file_buffer(preview) or shadow.make("acp://preview", preview.path)
    new_files[bufnr] = preview
    named.fill(bufnr, preview.hunks[1].new)
    return bufnr
  elseif not preview.exists then
    words = words or "it would be empty"
  elseif not words or (vim.uv.fs_stat(path) or {}).type == "file" then
    return file_buffer.get(path)
  end
  message.info(("%s: %s"):format(vim.fs.basename(path), words))
end

---@param last? boolean jump to its last hunk
---@return boolean done
local function go(preview, last)
  local bufnr = buffer_of(preview)
  opened[preview.request] = preview.path
  if not bufnr then
    return false
  end
  local shared = vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return new_files[api.nvim_win_get_buf(win)] ~= nil
  end)
  if shared then
    shadow.pass_on(shared, bufnr)
  end
  windows.show(bufnr, shared)
  visited[preview.request] = visited[preview.request] or {}
  visited[preview.request][preview.path] = true
  previews.changed(preview.request) -- draws it
  jump.enter(view, last)
  return true
end

---@param list acp.Preview[]
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

---Opens a file of the request at its first hunk, and with each further call the next file.
---@return boolean done
function M.open(request)
  local preview, wraps = after(previews.of_request(request), opened[request], 1)
  if not preview then
    message.info("there is no preview of this request")
  end
  return preview ~= nil and go(preview, wraps)
end

---Jumps to the next file of a request, from a buffer without further hunks.
---@return boolean done
local function open_next(bufnr, backwards)
  local here = M.previews(bufnr)[1]
  if not here then
    return false
  end
  local preview, wraps = after(previews.of_request(here.request), here.path, backwards and -1 or 1)
  if wraps then
    jump.notify_wrapped("change of this request", backwards)
  end
  return preview ~= nil and go(preview, backwards)
end

---Jumps by as many hunks as the count says, also into other files of the request.
function M.step(backwards)
  local bufnr = api.nvim_get_current_buf()
  if not M.previews(bufnr)[1] then
    local is_late = M.is_expected(bufnr)
    return message.info(
      is_late and "the change is not here yet: look at it, then press the key again"
        or "nothing is asked about this file any more"
    )
  end
  jump.step(view, backwards, open_next)
end

---Shows what there is in place of the preview of a new file: the file, else what the window had before.
local function leave(bufnr, preview)
  typed_ahead.closing(function()
    local file = vim.uv.fs_stat(preview.path) and file_buffer.get(preview.path) or nil
    shadow.leave(bufnr, file, true)
    if api.nvim_buf_is_valid(bufnr) then
      switch.delete(bufnr)
    end
  end)
end

---@param is_over fun(preview: acp.Preview): boolean the file is there, or will not come any more
local function leave_allowed(is_over)
  for bufnr, preview in pairs(vim.deepcopy(allowed)) do
    local is_there = api.nvim_buf_is_valid(bufnr)
    if not is_there or is_over(preview) then
      allowed[bufnr] = nil
      if is_there then
        leave(bufnr, preview)
      end
    end
  end
end

---Shows the new files that the agent was allowed to make; those that it has not made are not waited for any longer.
---@param key integer of the session whose turn has ended
function M.turn_ended(key)
  leave_allowed(function(preview)
    return preview.session == key
  end)
end

files.on_change(function(path)
  leave_allowed(function(preview)
    return vim.uv.fs_stat(preview.path) ~= nil and lookup.real(preview.path) == path
  end)
end)

host.on_exit(function()
  leave_allowed(function()
    return true
  end)
end)

previews.on_change(function(request, is_allowed)
  for bufnr, preview in pairs(vim.deepcopy(new_files)) do
    local is_there, now = api.nvim_buf_is_valid(bufnr), previews.find(preview.request, preview.path)
    new_files[bufnr] = is_there and now and not now.exists and now or nil
    if new_files[bufnr] then
      named.fill(bufnr, now.hunks[1] and now.hunks[1].new or {})
    elseif is_there and is_allowed and preview.request == request and not vim.uv.fs_stat(preview.path) then
      allowed[bufnr] = preview
    elseif is_there then
      leave(bufnr, preview)
    end
  end
  if #previews.of_request(request) == 0 then
    opened[request], visited[request] = nil, nil
  end
end)

return M
