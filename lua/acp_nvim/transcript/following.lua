-- Scrolls windows whose cursor is at the end of the chat along with new text, and keeps them there when they are moved or
-- get another size: what manages windows may set views that it has stored.
local M = {}

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.held")
local GROUP = api.nvim_create_augroup("acp_nvim.following", { clear = true })

local HIDDEN_LINES = 1000 -- looked at, above those that a window shows: those of tables are concealed
local MOVING_MS = 200 -- what manages windows may move them in steps, and scroll them once more after the last one

---@type table<integer, acp.Transcript> by buffer
local attached = {}
---@class acp.Layout windows and their sizes
---@field windows string
---@field floats string

---@type table<integer, acp.Layout> by tab page, when it was looked at last
local layouts = {}
local moved_at = -MOVING_MS -- milliseconds of the loop
local is_settling = false

local function may_move(win)
  return win ~= api.nvim_get_current_win() or api.nvim_get_mode().mode == "n"
end

---@param last integer last line of the buffer
local function is_at_end(transcript, win, last)
  local line, column = unpack(api.nvim_win_get_cursor(win))
  local before = transcript.resting[win]
  if before and before[1] == line and before[2] <= column then
    return true
  elseif line < last then
    return false
  end
  -- anywhere in the last line, unless it is longer than the window shows
  local length = #api.nvim_buf_get_lines(transcript.bufnr, last - 1, last, true)[1]
  local room = api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
  -- 32 bytes: the last character, with composing characters
  return column >= length - 32 or length < room / 2
end

---Marks the position of a cursor that must stay while the user selects or types a command: Neovim would move a cursor in
---an empty line along with text added to that line.
local function hold_cursor(transcript, win)
  local line, column = unpack(api.nvim_win_get_cursor(win))
  local mark = { right_gravity = false, strict = false }
  transcript.held = { win, api.nvim_buf_set_extmark(transcript.bufnr, NAMESPACE, line - 1, column, mark) }
end

local function restore_cursor(transcript)
  local win, mark = unpack(transcript.held)
  transcript.held = nil
  local row, column = unpack(api.nvim_buf_get_extmark_by_id(transcript.bufnr, NAMESPACE, mark, {}))
  api.nvim_buf_del_extmark(transcript.bufnr, NAMESPACE, mark)
  if api.nvim_win_is_valid(win) and row then
    local now = api.nvim_win_get_cursor(win)
    if now[1] ~= row + 1 or now[2] ~= column then
      pcall(api.nvim_win_set_cursor, win, { row + 1, column })
    end
  end
end

---Moves the cursor of a window to the end of its chat, in a window without 'wrap' not out of sight of what is before it.
---@param last integer line of the chat
local function go_to_end(win, last)
  api.nvim_win_set_cursor(win, { last, vim.wo[win].wrap and vim.v.maxcol or 0 })
end

---@return acp.Layout of the current tab page
local function layout_now()
  local windows, floats = {}, {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local list = api.nvim_win_get_config(win).relative == "" and windows or floats
    list[#list + 1] = ("%d:%dx%d"):format(win, api.nvim_win_get_width(win), api.nvim_win_get_height(win))
  end
  return { windows = table.concat(windows, " "), floats = table.concat(floats, " ") }
end

---@return boolean something else than the chat has changed the windows of this tab page since the last look
---@return boolean these, or floats, have changed, or did just before that
local function has_moved()
  local tab, now = api.nvim_get_current_tabpage(), vim.uv.now()
  local before = layouts[tab]
  local layout = layout_now()
  layouts[tab] = layout
  local is_moved = before ~= nil and before.windows ~= layout.windows
  if is_moved or before and before.floats ~= layout.floats then
    moved_at = now
  end
  return is_moved, now - moved_at < MOVING_MS
end

---@param win integer the current one
---@param last integer line of the chat
---@return integer line with which the window begins when it shows the last one at its bottom
local function top_of_end(win, last)
  local room, top = vim.fn.getwininfo(win)[1].height, last
  for _ = 1, HIDDEN_LINES do
    local fold = vim.fn.foldclosed(top)
    top = fold > 0 and fold or top
    room = room - api.nvim_win_text_height(win, { start_row = top - 1, end_row = top - 1 }).all
    if room <= 0 or top == 1 then
      break
    end
    top = top - 1
  end
  return room < 0 and top < last and top + 1 or top
end

---Shows the end of a chat in the last line of a window: it may be out of sight, or have empty lines below it. Without
---`:normal`, which would end a `:startinsert` that is still to come.
---@param win integer of a chat
function M.show_end(win)
  local last = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  if vim.fn.line("w0", win) > 1 or vim.fn.line("w$", win) < last then
    api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = top_of_end(win, last) })
    end)
  end
end

---Moves cursors that were at the end back to it, and notes which are there now, in this tab page.
---@param transcript acp.Transcript
---@param is_moved boolean something else than the user may have moved the cursors
---@param is_moving boolean and scrolled the windows; and the cursors of those without the focus
local function look(transcript, is_moved, is_moving)
  local last, current = api.nvim_buf_line_count(transcript.bufnr), api.nvim_get_current_win()
  local wins = vim.tbl_filter(function(win)
    return api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() and may_move(win)
  end, vim.fn.win_findbuf(transcript.bufnr))
  for _, win in ipairs(wins) do
    local is_there = is_at_end(transcript, win, last)
    if not is_there and transcript.resting[win] and (is_moved or is_moving and win ~= current) then
      go_to_end(win, last)
      is_there = true
    end
    if is_there and is_moving then
      M.show_end(win)
    end
    transcript.resting[win] = is_there and api.nvim_win_get_cursor(win) or nil
  end
end

local function look_at_all(is_moved, is_moving)
  for _, transcript in pairs(attached) do
    if api.nvim_buf_is_loaded(transcript.bufnr) then
      look(transcript, is_moved, is_moving)
    end
  end
end

---Looks once more when the windows are at rest: for a view that is set, put right and set again no event comes.
local function settle()
  if is_settling then
    return
  end
  is_settling = true
  vim.defer_fn(function()
    is_settling = false
    if vim.uv.now() - moved_at < MOVING_MS then
      settle()
    else
      look_at_all(has_moved(), true)
    end
  end, MOVING_MS)
end

---Looks at the windows of all chats, of which one, or another one beside it, may have changed.
function M.look()
  local is_moved, is_moving = has_moved()
  look_at_all(is_moved, is_moving)
  if is_moving then
    settle()
  end
end

---Runs what changes the sizes of windows. Cursors at the end stay there, which 'splitkeep' may move: if one moves before the
---next look, the user has moved it.
---@param run fun()
function M.while_resizing(run)
  M.look()
  run()
  look_at_all(true, false)
  local tab = api.nvim_get_current_tabpage()
  local before = layouts[tab]
  layouts[tab] = layout_now()
  if before.windows ~= layouts[tab].windows then
    moved_at = vim.uv.now()
    settle()
  end
end

---@param transcript acp.Transcript
function M.attach(transcript)
  attached[transcript.bufnr] = transcript
  api.nvim_create_autocmd("CursorMoved", { group = GROUP, buffer = transcript.bufnr, callback = M.look })
end

---@param transcript acp.Transcript
function M.detach(transcript)
  attached[transcript.bufnr] = nil
end

---@return integer[] windows whose cursor is at the end
function M.at_end(transcript)
  M.look()
  local last = api.nvim_buf_line_count(transcript.bufnr)
  return vim.tbl_filter(function(win)
    if not may_move(win) then
      hold_cursor(transcript, win)
    end
    return is_at_end(transcript, win, last)
  end, vim.fn.win_findbuf(transcript.bufnr))
end

---Follows the end again once the user returns to Normal mode.
local function follow_later(transcript)
  api.nvim_create_autocmd("ModeChanged", {
    group = GROUP,
    pattern = "*:n",
    once = true,
    callback = vim.schedule_wrap(function()
      if api.nvim_buf_is_loaded(transcript.bufnr) then
        M.to_end(transcript, M.at_end(transcript))
      end
    end),
  })
end

---Moves the cursors of windows to the end.
---@param windows integer[] that were at the end before the text grew
function M.to_end(transcript, windows)
  local last = api.nvim_buf_line_count(transcript.bufnr)
  local resting, waits = {}, false
  if transcript.held then
    restore_cursor(transcript)
  end
  for _, win in ipairs(windows) do
    if api.nvim_win_is_valid(win) then
      if may_move(win) then
        pcall(go_to_end, win, last)
      else
        waits = true
      end
      resting[win] = api.nvim_win_get_cursor(win)
    end
  end
  transcript.resting = resting
  if waits and not transcript.waits then
    follow_later(transcript)
  end
  transcript.waits = waits
end

api.nvim_create_autocmd({ "WinResized", "WinScrolled" }, {
  group = GROUP,
  desc = "Keep chats at their end",
  callback = function()
    if next(attached) then
      M.look()
    end
  end,
})

---Redraws while a command is typed, when Neovim does not do so itself.
function M.draw_under_command_line()
  if api.nvim_get_mode().mode:sub(1, 1) == "c" then
    pcall(vim.cmd.redraw)
  end
end

return M
