-- Updates the hunks of a view when windows, options or colour schemes change, and highlights the visible ones: changed
-- words, syntax of virtual lines, and a hint at the end of a line.
local highlights = require("acp_nvim.kernel.highlights")
local limits = require("acp_nvim.limits")
local syntax = require("acp_nvim.review.hunks.syntax")
local top = require("acp_nvim.review.hunks.top")
local words = require("acp_nvim.review.hunks.words")

local M = {}

local api = vim.api
local HIGHLIGHT_NS = 2e6 -- nanoseconds of highlighting before control returns to the event loop

---@type table<acp.HunkView, integer> view -> its autocommand group
local groups = {}

---@type acp.HunkPlace[] of the window that is being drawn
local visible = {}
---@type table<acp.HunkView, table<integer, table<integer, true>>> view -> buffer -> ids of hunks to highlight
local queue = vim.defaulttable()
local is_scheduled = false

---@alias acp.LineHint fun(win: integer, bufnr: integer, row: integer): string? text to show after that line

local function highlight(view, bufnr, place)
  local mark, style = place.mark, place.mark.style --[[@as acp.HunkStyle]]
  local lines = vim.list_slice(style.lines, 1, limits.deleted_lines)
  mark.highlights.syntax = #lines > 0 and syntax.of(bufnr, place.start, place.count, lines) or nil
  if style.words and #lines > 0 and place.count > 0 then
    mark.rows = api.nvim_buf_get_lines(bufnr, place.row, place.row + place.count, false)
    mark.words = words.of(style.lines, mark.rows)
    mark.highlights.words = mark.words and mark.words.old
  end
  mark.is_highlighted = true
  if next(mark.highlights) then
    view:draw(bufnr, mark, place.start, place.count)
  end
end

local schedule

local function work_off_queue()
  is_scheduled = false
  local started = vim.uv.hrtime()
  for view, buffers in pairs(queue) do
    for bufnr, ids in pairs(buffers) do
      for id in pairs(ids) do
        local place = api.nvim_buf_is_loaded(bufnr) and view:get(bufnr, id)
        ids[id] = nil
        if place and not place.mark.is_highlighted then
          highlight(view, bufnr, place)
        end
        if vim.uv.hrtime() - started > HIGHLIGHT_NS then
          return schedule()
        end
      end
      buffers[bufnr] = nil
    end
  end
end

function schedule()
  if not is_scheduled then
    is_scheduled = true
    vim.schedule(work_off_queue)
  end
end

---@return boolean is_needed whether lines of this window are to be drawn
local function on_win(view, win, bufnr, first, last)
  if not view.buffers[bufnr] or (vim.wo[win].diff and not view.source.in_diff) then
    return false
  end
  visible = view:within(bufnr, first, last)
  for _, place in ipairs(visible) do
    if not place.mark.is_highlighted then
      queue[view][bufnr][place.mark.id] = true
      schedule()
    end
  end
  return #visible > 0
end

local function draw_words(bufnr, namespace, place, row)
  local mark, style = place.mark, place.mark.style --[[@as acp.HunkStyle]]
  local index = row - place.row + 1
  local line = mark.words and style.words and api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
  if not line or mark.rows[index] ~= line then
    return -- the user is editing the line
  end
  local function add(from, to_row, to, group)
    api.nvim_buf_set_extmark(bufnr, namespace, row, from, {
      end_row = to_row,
      end_col = to,
      hl_group = group,
      hl_eol = to_row > row,
      ephemeral = true,
      priority = style.priority + 1,
      strict = false,
    })
  end
  local spans = mark.words.new[index]
  if not spans and style.words.line_group then
    add(0, row + 1, 0, style.words.line_group)
  end
  for _, span in ipairs(spans or {}) do
    add(span[1], row, span[2], style.words.group)
  end
end

local function namespace_of(view)
  return api.nvim_create_namespace(("acp_nvim.%s.sight"):format(view.source.name))
end

local function set_provider(view, hint)
  local namespace = namespace_of(view)
  api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, win, bufnr, first, last)
      return on_win(view, win, bufnr, first, last)
    end,
    on_line = function(_, win, bufnr, row)
      for _, place in ipairs(visible) do
        if row >= place.row and row < place.row + place.count then
          draw_words(bufnr, namespace, place, row)
        end
      end
      local text = hint and hint(win, bufnr, row)
      if text then
        local mark = { virt_text = { { text, "AcpReviewHint" } }, virt_text_pos = "eol", ephemeral = true }
        api.nvim_buf_set_extmark(bufnr, namespace, row, 0, mark)
      end
    end,
  })
end

---@alias acp.OnEvents fun(events: string|string[], run: fun(event: vim.api.keyset.create_autocmd.callback_args), pattern?: string[])

local function watch(view, on)
  local function refresh_all()
    for bufnr in pairs(view.buffers) do
      view:refresh(bufnr)
      top.refresh(bufnr)
    end
  end
  on("WinScrolled", function()
    top.scrolled(vim.v.event)
  end)
  on("CursorMoved", top.cursor_moved)
  on({ "FileType", "Syntax" }, function(event)
    vim.schedule(function() -- the buffer has its new highlighting after this event
      if view.buffers[event.buf] then
        view:refresh(event.buf, true)
      end
    end)
  end)
  on("OptionSet", refresh_all, { "tabstop", "diff" })
  on({ "VimResized", "WinResized" }, refresh_all)
end

---Starts watching; does nothing when this has been done already.
---@param watch_more fun(on: acp.OnEvents) creates the autocommands of the view's source
---@param hint? acp.LineHint
function M.start(view, watch_more, hint)
  if groups[view] then
    return
  end
  local group = api.nvim_create_augroup("acp_nvim." .. view.source.name, {})
  groups[view] = group
  highlights.define()
  set_provider(view, hint)
  local function on(events, run, pattern)
    api.nvim_create_autocmd(events, { group = group, callback = run, pattern = pattern })
  end
  watch(view, on)
  watch_more(on)
end

function M.stop(view)
  if groups[view] then
    api.nvim_clear_autocmds({ group = groups[view] })
    groups[view] = nil
    api.nvim_set_decoration_provider(namespace_of(view), {})
    queue[view] = nil
  end
end

return M
