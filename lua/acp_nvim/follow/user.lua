-- Notices when the user moves, scrolls or edits in the window that follows the agent.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.user")
local GROUP = api.nvim_create_augroup("acp_nvim.follow.user", {})

---@class acp.LeftAt
---@field win integer
---@field bufnr integer
---@field mark integer an extmark where the cursor was left; edits of others move both
---@field column integer
---@field tick integer
---@field topline integer
---@field height integer
---@field on_moved fun() called when the user has moved there

---@type acp.LeftAt?
local left

function M.forget()
  if left and api.nvim_buf_is_valid(left.bufnr) then
    api.nvim_buf_clear_namespace(left.bufnr, NS, 0, -1)
  end
  left = nil
  api.nvim_clear_autocmds({ group = GROUP })
end

---@param one acp.LeftAt
---@return boolean
local function is_edited(one)
  return api.nvim_buf_get_changedtick(one.bufnr) ~= one.tick
end

---@param one acp.LeftAt
---@return boolean the cursor is where it was left
local function is_still(one)
  if api.nvim_win_get_buf(one.win) ~= one.bufnr then
    return false
  end
  local at = api.nvim_buf_get_extmark_by_id(one.bufnr, NS, one.mark, {})
  local cursor = api.nvim_win_get_cursor(one.win)
  return at[1] == cursor[1] - 1 and (is_edited(one) or one.column == cursor[2])
end

---@param one acp.LeftAt
local function moved(one)
  M.forget()
  one.on_moved()
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

---The mouse scrolls windows without going there.
local function on_scroll()
  local one = left
  if not one or not api.nvim_win_is_valid(one.win) or not vim.v.event[tostring(one.win)] then
    return
  end
  local topline, height = vim.fn.line("w0", one.win), api.nvim_win_get_height(one.win)
  local is_other = api.nvim_win_get_buf(one.win) ~= one.bufnr
  if is_other or (topline ~= one.topline and height == one.height and not is_edited(one)) then
    moved(one)
  else
    one.topline, one.height = topline, height
  end
end

local function watch()
  ---@param events string[]
  ---@param run fun()
  local function on(events, run)
    api.nvim_create_autocmd(events, { group = GROUP, callback = run })
  end
  on({ "CursorMoved", "CursorMovedI", "BufEnter" }, on_cursor)
  on({ "TextChanged", "TextChangedI", "InsertEnter" }, on_edit)
  on({ "WinScrolled" }, on_scroll)
end

---This is how the window is left to the user.
---@param win integer
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

---@param win integer
---@return boolean nobody has been at that window since
function M.has_left(win)
  return left ~= nil and left.win == win and api.nvim_win_get_buf(win) == left.bufnr
end

return M
