-- Watches the user: whether they are idle, and whether they move, scroll or edit in the follow window.
local command_line = require("acp_nvim.kernel.command_line")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.user")
local GROUP = api.nvim_create_augroup("acp_nvim.follow.user", {})
local IDLE = api.nvim_create_augroup("acp_nvim.follow.idle", {})

-- Not in the list: command lines, prompts, operator-pending mode, one command of Insert mode, menus, Select mode.
local IDLE_MODES = { n = true, nt = true, i = true, R = true, v = true, V = true, ["\22"] = true, t = true }

---@type fun()? to run when the user is idle
local deferred

---@return boolean changing another window does not disturb the user: no command is half typed
function M.is_idle()
  local mode = api.nvim_get_mode()
  if mode.blocking or not IDLE_MODES[mode.mode] or command_line.has_focus() then
    return false
  end
  -- S: not in the main loop, for example in getchar(). Terminal mode always sets it.
  return mode.mode == "t" or vim.fn.state("moaxsS") == ""
end

local function attempt()
  local run = deferred
  if run and M.is_idle() then
    deferred = nil
    api.nvim_clear_autocmds({ group = IDLE })
    run()
  end
end

---Runs a function when the user is idle. Replaces a function that still waits.
function M.when_idle(run)
  local is_waiting = deferred ~= nil
  deferred = run
  if is_waiting then
    return
  end
  -- No polling: any event would abort a half-typed command.
  api.nvim_create_autocmd({ "SafeState", "TermEnter" }, {
    group = IDLE,
    callback = function()
      if IDLE_MODES[api.nvim_get_mode().mode] then
        vim.schedule(attempt) -- autocommands of files do not run within an autocommand
      end
    end,
  })
end

---@class acp.FollowPosition where the plugin left the follow window
---@field win integer
---@field bufnr integer
---@field mark integer extmark at the cursor; edits elsewhere move both
---@field column integer
---@field tick integer
---@field topline integer
---@field height integer
---@field on_moved fun() called when the user moves, scrolls or edits there

---@type acp.FollowPosition?
local left

function M.forget()
  if left and api.nvim_buf_is_valid(left.bufnr) then
    api.nvim_buf_clear_namespace(left.bufnr, NS, 0, -1)
  end
  left = nil
  api.nvim_clear_autocmds({ group = GROUP })
end

---@param position acp.FollowPosition
local function is_edited(position)
  return api.nvim_buf_get_changedtick(position.bufnr) ~= position.tick
end

---@param position acp.FollowPosition
---@return boolean the cursor is where it was left
local function is_still(position)
  if api.nvim_win_get_buf(position.win) ~= position.bufnr then
    return false
  end
  local at = api.nvim_buf_get_extmark_by_id(position.bufnr, NS, position.mark, {})
  local cursor = api.nvim_win_get_cursor(position.win)
  return at[1] == cursor[1] - 1 and (is_edited(position) or position.column == cursor[2])
end

---@param position acp.FollowPosition
local function moved(position)
  M.forget()
  position.on_moved()
end

local function on_cursor()
  if left and api.nvim_get_current_win() == left.win and not is_still(left) then
    moved(left)
  end
end

local function on_edit()
  if left and api.nvim_get_current_win() == left.win then
    if api.nvim_get_mode().mode:match("^[iR]") or is_edited(left) then
      moved(left)
    end
  end
end

---Handles scrolling, which the mouse can do in a window without the focus.
local function on_scroll()
  local position = left
  if not position or not api.nvim_win_is_valid(position.win) or not vim.v.event[tostring(position.win)] then
    return
  end
  local topline, height = vim.fn.line("w0", position.win), api.nvim_win_get_height(position.win)
  local is_other = api.nvim_win_get_buf(position.win) ~= position.bufnr
  if is_other or (topline ~= position.topline and height == position.height and not is_edited(position)) then
    moved(position)
  else
    position.topline, position.height = topline, height
  end
end

local function watch()
  local function on(events, run)
    api.nvim_create_autocmd(events, { group = GROUP, callback = run })
  end
  on({ "CursorMoved", "CursorMovedI", "BufEnter" }, on_cursor)
  on({ "TextChanged", "TextChangedI", "InsertEnter" }, on_edit)
  on({ "WinScrolled" }, on_scroll)
end

---Starts to watch a window whose position the plugin has just set.
---@param on_moved fun() called when the user moves, scrolls or edits there
function M.leave(win, on_moved)
  if not left then
    watch()
  elseif api.nvim_buf_is_valid(left.bufnr) then
    api.nvim_buf_clear_namespace(left.bufnr, NS, 0, -1)
  end
  local bufnr, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  left = {
    win = win,
    bufnr = bufnr,
    mark = api.nvim_buf_set_extmark(bufnr, NS, cursor[1] - 1, 0, { undo_restore = false }),
    column = cursor[2],
    tick = api.nvim_buf_get_changedtick(bufnr),
    topline = vim.fn.line("w0", win),
    height = api.nvim_win_get_height(win),
    on_moved = on_moved,
  }
end

---@return boolean the user has not touched the window since
function M.has_left(win)
  return left ~= nil and left.win == win and api.nvim_win_get_buf(win) == left.bufnr
end

return M
