-- Scrolls windows whose cursor is at the end of the chat along with new text.
local M = {}

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.held")
local GROUP = api.nvim_create_augroup("acp_nvim.following", { clear = true })

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

---@return integer[] windows whose cursor is at the end
function M.at_end(transcript)
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
        pcall(api.nvim_win_set_cursor, win, { last, vim.v.maxcol })
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

---Redraws while a command is typed, when Neovim does not do so itself.
function M.draw_under_command_line()
  if api.nvim_get_mode().mode:sub(1, 1) == "c" then
    pcall(vim.cmd.redraw)
  end
end

return M
