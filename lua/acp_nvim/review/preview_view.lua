-- Shows what waiting requests ask to do, and goes there: lines that would go are coloured, those that would come are virtual,
-- above the first hunk stands who asks. A file that is to be made is shown in a buffer that goes with the request.
local file_buffer = require("acp_nvim.windows.file_buffer")
local hunk_view = require("acp_nvim.hunks.view")
local jump = require("acp_nvim.hunks.jump")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local previews = require("acp_nvim.review.previews")
local shadow = require("acp_nvim.hunks.shadow")
local top = require("acp_nvim.hunks.top")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api

---@type table<integer, acp.Preview> buffer -> the file that is shown in it and is not there
local unmade = {}
---@type table<integer, string> request -> path of its file that was opened last
local opened = {}
---@type table<integer, table<string, true>> request -> paths of its files that the user was in
local visited = {}
local drawn = 0 -- hunks, by which those of one row stay in their order

---@param mark acp.Mark
---@param row integer
---@param count integer
---@return acp.HunkLook
local function look(mark, row, count)
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

local view = hunk_view.new({ name = "preview", look = look, in_diff = true })
M.view = view

---@param one acp.Preview
---@param other acp.Preview
---@return boolean of the same file and request
local function is_same(one, other)
  return one.request == other.request and one.path == other.path
end

---@param bufnr integer
---@return acp.Mark[] the first hunks of the previews that are seen there, oldest requests first
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

---@param bufnr integer
---@return acp.Preview[] that are seen there, oldest requests first
function M.previews(bufnr)
  return vim.tbl_map(function(mark)
    return mark.preview
  end, first_marks(bufnr))
end

---@param bufnr integer
---@param preview acp.Preview that is not to be seen there any more
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

---@param bufnr integer
---@param preview acp.Preview whose rows are those that the buffer has now
---@param header acp.Chunks
---@param hunks acp.PreviewHunk[]
function M.draw(bufnr, preview, header, hunks)
  M.clear(bufnr, preview)
  if #hunks == 0 then
    hunks = { { first = 0, count = 0, new = {} } } -- there is something to be said all the same
  end
  for index, hunk in ipairs(hunks) do
    drawn = drawn + 1
    local mark = { hunk = hunk, index = drawn, dress = {}, above = 0, preview = preview }
    mark.header = index == 1 and header or nil
    view:draw(bufnr, mark, hunk.first, hunk.count)
  end
  top.refresh(bufnr)
end

---@param bufnr integer
---@param preview acp.Preview
---@param header acp.Chunks that it has from now on
---@return boolean drawn this very preview is seen there
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

---@param bufnr integer
---@return acp.Preview? of a file that is not there and is shown in this buffer
function M.unmade(bufnr)
  return unmade[bufnr]
end

---@param preview acp.Preview
---@return integer? bufnr that shows the file, which is not there
function M.unmade_buffer(preview)
  for bufnr, other in pairs(unmade) do
    if is_same(other, preview) and api.nvim_buf_is_valid(bufnr) then
      return bufnr
    end
  end
end

---@param preview acp.Preview of a file that is not there
---@return integer bufnr
local function show_unmade(preview)
  local bufnr = M.unmade_buffer(preview) or shadow.make("acp://preview", preview.path)
  unmade[bufnr] = preview
  named.fill(bufnr, preview.hunks[1].new)
  return bufnr
end

---@param preview acp.Preview
---@return integer? bufnr loaded; nil when there is nothing to be seen, which is said
local function buffer_of(preview)
  local path = previews.place(preview)
  local bufnr = lookup.find(path)
  if bufnr then
    return bufnr
  end
  local words = preview.note
  if not preview.exists and #preview.hunks > 0 then
    return show_unmade(preview)
  elseif not preview.exists then
    words = words or "it would be empty"
  elseif not words or (vim.uv.fs_stat(path) or {}).type == "file" then
    return file_buffer.get(path)
  end
  message.info(("%s: %s"):format(vim.fs.basename(path), words))
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
  local shared = vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return unmade[api.nvim_win_get_buf(win)] ~= nil
  end)
  windows.show(bufnr, shared)
  visited[preview.request] = visited[preview.request] or {}
  visited[preview.request][preview.path] = true
  previews.changed(preview.request) -- what is known of it is drawn
  jump.enter(view, last)
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
function M.open(request)
  local list = previews.of_request(request)
  if #list == 0 then
    return message.info("there is no preview of this request")
  end
  go(after(list, opened[request], 1))
end

---@param bufnr integer that has no further hunk
---@param backwards boolean
---@return boolean done
local function go_on(bufnr, backwards)
  local here = M.previews(bufnr)[1]
  if not here then
    return false
  end
  local preview, wraps = after(previews.of_request(here.request), here.path, backwards and -1 or 1)
  if wraps then
    jump.say_wrapped("change of this request", backwards)
  end
  return preview ~= nil and go(preview, backwards)
end

---Goes to the next hunk of what is asked, or as many on as the count says; also into the next file.
---@param backwards boolean
function M.step(backwards)
  jump.step(view, backwards, go_on)
end

previews.on_change(function(request)
  for bufnr, preview in pairs(vim.deepcopy(unmade)) do
    local is_there, now = api.nvim_buf_is_valid(bufnr), previews.find(preview.request, preview.path)
    unmade[bufnr] = is_there and now and not now.exists and now or nil
    if unmade[bufnr] then
      named.fill(bufnr, now.hunks[1] and now.hunks[1].new or {})
    elseif is_there then
      shadow.leave(bufnr, nil, true)
      if api.nvim_buf_is_valid(bufnr) then
        api.nvim_buf_delete(bufnr, { force = true })
      end
    end
  end
  if #previews.of_request(request) == 0 then
    opened[request], visited[request] = nil, nil
  end
end)

return M
