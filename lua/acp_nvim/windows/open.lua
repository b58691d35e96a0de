-- Chooses the window for a file: only code windows, and never one whose buffer would be lost.
local config = require("acp_nvim.config")
local lazy = require("acp_nvim.lazy")
local file_buffer = lazy("acp_nvim.windows.file_buffer")
local position = require("acp_nvim.position")
local sessions = require("acp_nvim.sessions")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api

---@type table<integer, integer> tab page -> the code window used last
local last_used = {}
local watching = false

---@return boolean the window shows a file or can show one, and is not a window of the plugin
function M.is_file_window(win)
  local bufnr = api.nvim_win_get_buf(win)
  return vim.bo[bufnr].buftype == "" and not sessions.of_buffer(bufnr)
end

---@return boolean the window is for code, and the user may want to see other files in it
function M.is_code(win)
  return api.nvim_win_get_config(win).relative == ""
    and M.is_file_window(win)
    and not vim.wo[win].previewwindow
    and not vim.wo[win].winfixbuf
end

local function remember()
  local win = api.nvim_get_current_win()
  if M.is_code(win) then
    last_used[api.nvim_get_current_tabpage()] = win
  end
end

---Starts to record which code window was used last.
function M.watch()
  if watching then
    return
  end
  watching = true
  remember()
  local group = api.nvim_create_augroup("acp_nvim.windows.open", {})
  api.nvim_create_autocmd({ "WinEnter", "BufEnter" }, { group = group, callback = remember })
end

---@param accept? fun(win: integer): boolean
---@return integer? win of the current tab page, preferably the code window used last; never the current window
function M.other(accept)
  local current = api.nvim_get_current_win()
  local function fits(win)
    return win and win ~= current and api.nvim_win_is_valid(win) and M.is_code(win) and (accept == nil or accept(win))
  end
  local wins = api.nvim_tabpage_list_wins(0)
  local last = last_used[api.nvim_get_current_tabpage()]
  if fits(last) and vim.list_contains(wins, last) then
    return last
  end
  return vim.iter(wins):find(fits)
end

---@param bufnr integer to be shown there
---@return boolean the buffer shown now can be hidden
local function can_leave(win, bufnr)
  local shown = api.nvim_win_get_buf(win)
  return shown == bufnr or not vim.bo[shown].modified or vim.o.hidden or #vim.fn.win_findbuf(shown) > 1
end

---@return integer win a new window with the buffer
local function new_window(bufnr)
  local position = config.get().ui.position
  local beside = { left = "right", right = "left", bottom = "above" }
  local shape = { split = beside[position] or "above", win = -1 }
  if vim.bo.filetype == "acp_review" then
    shape = { split = "above", win = 0 }
  end
  switch.split(bufnr, shape)
  return api.nvim_get_current_win()
end

---Shows a buffer that the user wants to see: in the current window if that shows code, else in another one.
---@param preferred? integer window to use in any case
---@return integer win now the current one, with the buffer
function M.show(bufnr, preferred)
  local function fits(win)
    return can_leave(win, bufnr)
  end
  local current, win = api.nvim_get_current_win(), preferred
  if not win and (api.nvim_win_get_buf(current) == bufnr or (M.is_code(current) and fits(current))) then
    win = current
  end
  win = win or M.other(function(candidate)
    return api.nvim_win_get_buf(candidate) == bufnr
  end) or M.other(fits)
  if not win then
    return new_window(bufnr)
  end
  api.nvim_set_current_win(win)
  if not preferred then
    vim.cmd("normal! m'")
  end
  if api.nvim_win_get_buf(win) ~= bufnr then
    switch.show(win, bufnr)
  end
  return win
end

---Shows a position of a buffer to the user.
---@param line integer 1-based
---@param col? integer 1-based
function M.buffer_at(bufnr, line, col)
  local win = M.show(bufnr)
  api.nvim_win_set_cursor(win, { position.in_buffer(bufnr, line, col) })
  vim.cmd("normal! zvzz")
end

---Opens a file at a position for the user, or shows why it cannot be opened.
---@param path string absolute
---@param line integer 1-based
---@param col? integer 1-based
function M.at(path, line, col)
  local bufnr = file_buffer.get(path)
  if bufnr then
    M.buffer_at(bufnr, line, col)
  end
end

---@return boolean closing the buffer's only window would unload the buffer
local function is_last_of_its_buffer(win)
  local bufnr = api.nvim_win_get_buf(win)
  local goes = vim.list_contains({ "unload", "delete", "wipe" }, vim.bo[bufnr].bufhidden)
  return goes and #vim.fn.win_findbuf(bufnr) == 1
end

---@param bufnr? integer to be shown, if it is loaded
---@return boolean the window can show it without any loss for the user, who did not ask for it
function M.can_show_unasked(win, bufnr)
  local wo = vim.wo[win]
  if wo.diff or wo.scrollbind or wo.cursorbind then
    return false -- other windows would change, too
  elseif api.nvim_win_get_buf(win) == bufnr then
    return true
  end
  return not wo.winfixbuf and not is_last_of_its_buffer(win) and can_leave(win, bufnr or -1)
end

---Shows a buffer that the user did not ask for, without window autocommands, which are for windows the user enters.
---@param win integer not the current one; `can_show_unasked` is true for it
---@param bufnr integer loaded
function M.show_unasked(win, bufnr)
  if api.nvim_win_get_buf(win) ~= bufnr then
    switch.show_unasked(win, bufnr)
  end
end

return M
