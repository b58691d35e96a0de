-- Chooses the window for a file: only code windows, and never one whose buffer would be lost.
local config = require("acp_nvim.config")
local edge = require("acp_nvim.windows.edge")
local lazy = require("acp_nvim.lazy")
local own = require("acp_nvim.windows.own")
local file_buffer = lazy("acp_nvim.buffers.file_buffer")
local position = require("acp_nvim.kernel.position")
local sessions = require("acp_nvim.host.sessions")
local shadow = require("acp_nvim.windows.shadow")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api

local FILE_PART = 0.6 -- of the screen for a file beside a chat: what a chat beside a file leaves

---@type table<integer, integer> window -> when it was used as a code window, counted
local used = {}
local uses = 0
local watching = false

---@return boolean the window shows a file or can show one, and is not a window of the plugin
function M.is_file_window(win)
  local bufnr = api.nvim_win_get_buf(win)
  return vim.bo[bufnr].buftype == "" and not sessions.of_buffer(bufnr)
end

---@return boolean the window is a side bar, such as the one of :Lexplore, or lists files in some other way
local function is_bar(win)
  local bufnr = api.nvim_win_get_buf(win)
  return not vim.bo[bufnr].modifiable and (vim.wo[win].winfixwidth or not vim.bo[bufnr].buflisted)
end

---@return boolean the window is for code, and the user may want to see other files in it
function M.is_code(win)
  return api.nvim_win_get_config(win).relative == ""
    and M.is_file_window(win)
    and not is_bar(win)
    and not vim.wo[win].previewwindow
    and not vim.wo[win].winfixbuf
end

---@return boolean the window is for code, or shows the text of a file that does not exist
local function takes_files(win)
  return M.is_code(win) or shadow.is_of(api.nvim_win_get_buf(win))
end

local function remember()
  local win = api.nvim_get_current_win()
  if takes_files(win) then
    uses = uses + 1
    used[win] = uses
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

---@param accept fun(win: integer): boolean
---@return integer? win of the current tab page, the one used last; never the current window
local function used_last(accept)
  local current, found = api.nvim_get_current_win(), nil
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if win ~= current and accept(win) and (not found or (used[win] or 0) > (used[found] or 0)) then
      found = win
    end
  end
  return found
end

---@param accept? fun(win: integer): boolean
---@return integer? win of the current tab page, preferably the code window used last; never the current window
function M.other(accept)
  return used_last(function(win)
    return M.is_code(win) and (accept == nil or accept(win))
  end)
end

---@param bufnr integer to be shown there
---@return boolean the buffer shown now can be hidden, and is not half of a comparison
local function can_leave(win, bufnr)
  local shown = api.nvim_win_get_buf(win)
  return shown == bufnr
    or not vim.wo[win].diff and (not vim.bo[shown].modified or vim.o.hidden or #vim.fn.win_findbuf(shown) > 1)
end

---@return integer[] windows of the user that are for something else than code, the largest first
local function other_windows()
  local found = vim.tbl_filter(function(win)
    local is_ours = own.is_set_up(win) or sessions.of_buffer(api.nvim_win_get_buf(win)) ~= nil
    return api.nvim_win_get_config(win).relative == "" and not is_ours
  end, api.nvim_tabpage_list_wins(0))
  table.sort(found, function(one, other)
    return api.nvim_win_get_width(one) * api.nvim_win_get_height(one)
      > api.nvim_win_get_width(other) * api.nvim_win_get_height(other)
  end)
  return found
end

---@return "above"|"below"|"left"|"right"|nil direction in which the window can be halved
local function half_of(win)
  local wo = vim.wo[win]
  if not wo.winfixheight and api.nvim_win_get_height(win) > 2 * edge.readable("height") then
    return vim.o.splitbelow and "below" or "above"
  elseif not wo.winfixwidth and api.nvim_win_get_width(win) > 2 * edge.readable("width") then
    return vim.o.splitright and "right" or "left"
  end
end

---Shows a buffer in half of a window of the user that is for something else, which keeps its own.
---@return boolean done
local function halve(bufnr)
  for _, win in ipairs(other_windows()) do
    local split = not vim.wo[win].winfixwidth and half_of(win)
    if split then
      own.keep_sizes(function()
        switch.split(bufnr, { split = split, win = win })
      end)
      return true
    end
  end
  return false
end

---Shows a buffer beside the windows of the plugin, which are all but side bars.
---@return integer? win nil when there is no room
local function beside(bufnr)
  local split = ({ left = "right", bottom = "above" })[config.get().ui.position] or "left"
  local axis = split == "above" and "height" or "width"
  local shape, bar = { split = split, win = -1 }, other_windows()[1]
  if bar and axis == "width" then
    shape = { split = split == "left" and "right" or "left", win = bar }
  end
  local all, least = axis == "height" and vim.o.lines or vim.o.columns, edge.readable(axis)
  return edge.open({ axis = axis, cells = math.max(least, math.floor(all * FILE_PART)), least = least }, function(cells)
    shape[axis] = cells
    switch.split(bufnr, shape)
    return api.nvim_get_current_win()
  end)
end

---@return integer win a new window with the buffer, in a tab page of its own if there is no room
local function new_window(bufnr)
  local from = api.nvim_get_current_win()
  if not halve(bufnr) and not beside(bufnr) then
    switch.open(bufnr, true)
  end
  local win = api.nvim_get_current_win()
  shadow.made(win, bufnr, from)
  return win
end

---Shows a buffer that the user wants to see: in the current window if that shows code, else in another one.
---@param preferred? integer window to use in any case
---@return integer win now the current one, with the buffer
function M.show(bufnr, preferred)
  local function shows(win)
    return api.nvim_win_get_buf(win) == bufnr
  end
  local function fits(win)
    return takes_files(win) and can_leave(win, bufnr)
  end
  local current, win = api.nvim_get_current_win(), preferred
  if not win and (shows(current) or fits(current)) then
    win = current
  end
  win = win or M.other(shows) or used_last(fits)
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

---Shows a buffer in the current window, or in another one if that keeps its buffer, or is half of a comparison.
---@param bufnr integer
function M.show_here(bufnr)
  if vim.wo.diff or vim.wo.winfixbuf then
    M.show(bufnr)
  else
    switch.show(0, bufnr)
  end
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
    return false -- others would change with it
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
