-- Draws the previews of requests in the buffers of their files, below the agent's name, and maps the keys that answer.
local Lines = require("acp_nvim.render.lines")
local answer_keys = require("acp_nvim.permission.answer_keys")
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local host = require("acp_nvim.host")
local hunk_keys = require("acp_nvim.review.hunks.keys")
local jump = require("acp_nvim.review.hunks.jump")
local lookup = require("acp_nvim.buffers.lookup")
local paths = require("acp_nvim.render.paths")
local permission = require("acp_nvim.permission")
local picker = require("acp_nvim.permission.picker")
local preview_view = require("acp_nvim.review.previews.view")
local previews = require("acp_nvim.review.previews")
local sessions = require("acp_nvim.host.sessions")
local visibility = require("acp_nvim.permission.visibility")
local text = require("acp_nvim.buffers.text")
local watch = require("acp_nvim.review.hunks.watch")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api
local NAME_CELLS = 30 -- of an option, in the line above a preview
---@type table<string, string> path -> state of the buffer for which the hunks were requested
local requested = {}

---Returns the preview that a key answers: the one under the cursor, else the oldest. When that is not in the window,
---moves the cursor there instead, so that the user sees it before answering.
---@return acp.Preview?
local function preview_for_key()
  local bufnr, line = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local first, last = vim.fn.line("w0"), vim.fn.line("w$")
  local oldest = preview_view.previews(bufnr)[1]
  local seen
  for _, place in ipairs(preview_view.view:within(bufnr, first - 1, last - 1)) do
    if line > place.row and line <= place.row + math.max(place.count, 1) then
      return place.mark.preview
    elseif place.mark.preview == oldest then
      seen = oldest
    end
  end
  if not seen then
    visibility.expect_redraw()
    preview_view.step(false)
  end
  return seen
end

---@param kind? string nil: the user chooses among all options
---@return fun() for a key
local function on_kind(kind)
  return function()
    local preview = preview_for_key()
    local one = preview and permission.get(preview.request)
    local option_id = one and kind and answer_keys.first_of(one.request, kind)
    if one and not option_id then
      picker.options(one)
    elseif one and (answer_keys.rejects(one.request, option_id) or not visibility.is_redraw_expected()) then
      picker.answer(one.request.id, option_id, preview_view.visited(preview))
    end
  end
end

---@type acp.HunkKey[]
local KEYS = {
  { action = "preview_allow", modes = { "n" }, run = on_kind("allow_once") },
  { action = "preview_reject", modes = { "n" }, run = on_kind("reject_once") },
  { action = "preview_options", modes = { "n" }, run = on_kind() },
  -- stylua: ignore
  { action = "preview_next", modes = { "n", "x" }, run = function() preview_view.step(false) end },
  -- stylua: ignore
  { action = "preview_previous", modes = { "n", "x" }, run = function() preview_view.step(true) end },
  -- stylua: ignore
  { action = "preview_help", modes = { "n" }, run = function() hunk_keys.help("preview_", "Keys of the preview") end },
}

---@return acp.Chunks empty when no key is mapped
local function key(action, words)
  local first = config.keys(action)[1]
  return first and { { " · ", "AcpPreviewHint" }, { first, "AcpPermissionKey" }, { " " .. words, "AcpPreviewHint" } }
    or {}
end

---@return acp.Chunks
local function hint_of(preview)
  local one = permission.get(preview.request) --[[@as acp.Pending]]
  local session = sessions.get(preview.session) or {}
  local remarks = {}
  if preview.operation == "delete" then
    remarks[1] = "would be deleted"
  elseif preview.old_path then
    local verb = preview.operation == "copy" and "copied" or "moved"
    remarks[1] = ("would be %s to %s"):format(verb, paths.short(preview.path, session.cwd or ""))
  end
  remarks[#remarks + 1] = preview.note and Lines.one_line(preview.note)
  local all = previews.of_request(preview.request)
  if #all > 1 then
    remarks[#remarks + 1] = ("file %d of %d"):format(vim.fn.index(all, preview) + 1, #all)
  end
  local more = #remarks > 0 and (" (%s)"):format(table.concat(remarks, ", ")) or ""
  local chunks = { { ("%s asks%s"):format(session.agent or "the agent", more), "AcpPreviewHint" } }
  for _, pair in ipairs({ { "preview_allow", "allow_once" }, { "preview_reject", "reject_once" } }) do
    local option_id, name = answer_keys.first_of(one.request, pair[2])
    vim.list_extend(chunks, option_id and key(pair[1], cells.cut(Lines.one_line(name), NAME_CELLS)) or {})
  end
  vim.list_extend(chunks, key("preview_options", "all options"))
  return vim.list_extend(chunks, { { "  " .. Lines.one_line(one.request.title), "AcpPreviewHint" } })
end

---Maps the keys, also while the hunks are still to come: keys typed ahead must not reach the text.
local function give_keys(bufnr)
  hunk_keys.give(bufnr, "preview", preview_view.is_expected(bufnr) and KEYS or nil)
end

---@param bufnr integer of a file
local function draw(bufnr, preview)
  local header, path = hint_of(preview), previews.place(preview)
  if preview_view.set_header(bufnr, preview, header) then
    return
  end
  local state = text.state(bufnr)
  if state == preview.state and not preview.large then
    requested[path] = nil
    preview_view.draw(bufnr, preview, header, preview.hunks)
  elseif (not preview.large or preview_view.is_opened(preview)) and requested[path] ~= state and host.channel() then
    requested[path] = state -- once for each state: an answer may be on its way
    host.send("preview_open", { path = path })
  end
end

---Draws all previews of a buffer.
local function draw_all(bufnr)
  local new_file = preview_view.new_file(bufnr)
  local header = new_file and hint_of(new_file)
  local lines = new_file and new_file.hunks[1] and #new_file.hunks[1].new or 0
  if new_file and not preview_view.set_header(bufnr, new_file, header) then
    preview_view.draw(bufnr, new_file, header, { { first = 0, count = lines, new = {} } })
  end
  local path = lookup.is_file(bufnr) and lookup.real_path(bufnr)
  for _, preview in ipairs(path and previews.all() or {}) do
    if previews.place(preview) == path and lookup.find(path) == bufnr then
      draw(bufnr, preview)
    end
  end
  give_keys(bufnr)
end

---@param on fun(events: string|string[], run: fun(event: vim.api.keyset.create_autocmd.callback_args), pattern?: string[])
local function notice(on)
  windows.watch()
  on({ "BufReadPost", "BufUnload" }, function(event)
    if #preview_view.previews(event.buf) > 0 then
      preview_view.view:clear(event.buf)
      vim.schedule(function() -- the buffer is not complete yet
        give_keys(event.buf)
      end)
    end
  end)
  on({ "BufReadPost", "BufNewFile", "BufWinEnter", "BufFilePost" }, function(event)
    if event.event == "BufWinEnter" and preview_view.is_expected(event.buf) then
      give_keys(event.buf)
    end
    vim.schedule(function() -- the buffer is not complete yet
      if api.nvim_buf_is_loaded(event.buf) then
        draw_all(event.buf)
      end
    end)
  end)
end

---@param event acp.Preview
function M.received(event)
  local one = permission.get(event.request)
  if one and not one.answered then
    previews.set(event)
  end
end

---@param event { request: integer } closed
function M.done(event)
  previews.done(event.request)
end

previews.on_change(function(request)
  watch.start(preview_view.view, notice)
  for _, bufnr in ipairs(vim.tbl_keys(preview_view.view.buffers)) do
    for _, preview in ipairs(preview_view.previews(bufnr)) do
      if not previews.find(preview.request, preview.path) then
        preview_view.clear(bufnr, preview)
      end
    end
    draw_all(bufnr)
  end
  for _, preview in ipairs(previews.of_request(request)) do
    local bufnr = lookup.find(previews.place(preview)) or preview_view.new_file_buffer(preview)
    if bufnr then
      draw_all(bufnr)
    end
  end
  jump.hunks_changed(preview_view.view)
  if #previews.requests() == 0 then
    watch.stop(preview_view.view)
    requested = {}
  end
end)

return M
