-- Keeps previews in step with buffers and requests: draws them where their files are loaded, and gives them their keys.
local code_window = require("acp_nvim.code_window")
local colours = require("acp_nvim.review.colours")
local highlights = require("acp_nvim.highlights")
local host = require("acp_nvim.host")
local keys = require("acp_nvim.review.keys")
local lookup = require("acp_nvim.buffers.lookup")
local marks = require("acp_nvim.review.preview_marks")
local open = require("acp_nvim.review.preview_open")
local permission = require("acp_nvim.permission")
local preview_file = require("acp_nvim.review.preview_file")
local preview_keys = require("acp_nvim.review.preview_keys")
local places = require("acp_nvim.review.preview_places")
local previews = require("acp_nvim.review.previews")
local sight = require("acp_nvim.review.preview_sight")
local text = require("acp_nvim.buffers.text")
local top = require("acp_nvim.review.top")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.preview", {})
local watching = false
---@type table<string, string> path -> state of the buffer for which the host was asked
local asked = {}

---@param bufnr integer
local function give_keys(bufnr)
  keys.claim(bufnr, #places.previews(bufnr) > 0 and preview_keys.list or nil)
end

---The host is asked once for each state: what it knows may be on its way.
---@param path string
---@param bufnr integer
local function ask(path, bufnr)
  local state = text.state(bufnr)
  if asked[path] ~= state and host.channel() then
    asked[path] = state
    host.send("preview_open", { path = path })
  end
end

---@param preview acp.Preview
---@return acp.PreviewHunk[] of the buffer that shows a file which is not there
local function whole(preview)
  return { { first = 0, count = #preview.hunks[1].new, new = {} } }
end

---@param bufnr integer of a file
---@param preview acp.Preview
local function draw(bufnr, preview)
  if places.is_drawn(bufnr, preview) then
    marks.set_hint(bufnr, preview, preview_keys.hint(preview))
  elseif text.state(bufnr) == preview.state and not preview.large then
    asked[previews.place(preview)] = nil
    marks.draw(bufnr, preview, preview_keys.hint(preview))
    open.drawn(bufnr)
  elseif not preview.large or open.is_opened(preview) then
    ask(previews.place(preview), bufnr)
  end
end

---Draws what is known of a buffer.
---@param bufnr integer
local function draw_all(bufnr)
  local file = preview_file.of_buffer(bufnr)
  if file and places.is_drawn(bufnr, file) then
    marks.set_hint(bufnr, file, preview_keys.hint(file))
  elseif file then
    marks.draw(bufnr, file, preview_keys.hint(file), whole(file), "AcpPreviewAdd")
  end
  local path = lookup.is_file(bufnr) and lookup.real_path(bufnr)
  for _, preview in ipairs(path and previews.all() or {}) do
    if previews.place(preview) == path and lookup.find(path) == bufnr then
      draw(bufnr, preview)
    end
  end
  give_keys(bufnr)
end

---@param bufnr integer
---@param request integer
local function clear_gone(bufnr, request)
  local left = previews.of_request(request)
  for _, preview in ipairs(places.previews(bufnr)) do
    local is_left = vim.iter(left):any(function(other)
      return other.path == preview.path
    end)
    if preview.request == request and not is_left then
      marks.clear(bufnr, preview)
    end
  end
end

---@param bufnr integer
local function lost(bufnr)
  if #places.previews(bufnr) > 0 then
    marks.forget(bufnr)
    vim.schedule(function() -- no buffer is what it will be, in the middle of this
      give_keys(bufnr)
    end)
  end
end

local function watch()
  watching = true
  highlights.define()
  colours.define()
  code_window.watch()
  ---@param events string[]
  ---@param run fun(event: vim.api.keyset.create_autocmd.callback_args)
  local function on(events, run)
    api.nvim_create_autocmd(events, { group = GROUP, callback = run })
  end
  on({ "BufReadPost", "BufUnload" }, function(event)
    lost(event.buf)
  end)
  on({ "BufReadPost", "BufNewFile", "BufWinEnter", "BufFilePost" }, function(event)
    vim.schedule(function() -- more of it may change, in the middle of this
      if api.nvim_buf_is_loaded(event.buf) then
        draw_all(event.buf)
      end
    end)
  end)
  on({ "WinScrolled" }, function()
    top.scrolled(vim.v.event)
  end)
  on({ "CursorMoved" }, top.cursor_moved)
  on({ "ColorScheme" }, colours.define)
  sight.watch()
end

local function unwatch()
  watching = false
  asked = {}
  api.nvim_clear_autocmds({ group = GROUP })
  sight.unwatch()
end

---@param request integer
local function changed(request)
  local has_any = #previews.requests() > 0
  if has_any and not watching then
    watch()
  end
  preview_file.refresh(request)
  for _, bufnr in ipairs(places.buffers()) do
    clear_gone(bufnr, request)
    draw_all(bufnr)
  end
  for _, preview in ipairs(previews.of_request(request)) do
    local bufnr = lookup.find(previews.place(preview))
    if bufnr then
      draw_all(bufnr)
    end
  end
  if not has_any and watching then
    unwatch()
  end
end

---@param event acp.Preview
function M.told(event)
  local one = permission.get(event.request)
  if one and not one.answered then -- else it is over already
    previews.told(event)
  end
end

---@param event { request: integer }
function M.done(event)
  previews.done(event.request)
end

open.draw_with(draw_all)
previews.on_change(changed)
permission.on_end(previews.done)

return M
