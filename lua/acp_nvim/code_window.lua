-- Knows which windows show code, and which of them was used last.
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api

---@type table<integer, integer> tab -> the code window used last
local last_used = {}
local watching = false

---@param win integer
---@return boolean
function M.is_code(win)
  local bufnr = api.nvim_win_get_buf(win)
  return api.nvim_win_get_config(win).relative == ""
    and vim.bo[bufnr].buftype == ""
    and not sessions.of_buffer(bufnr)
    and not vim.wo[win].previewwindow
    and not vim.wo[win].winfixbuf
end

local function remember()
  local win = api.nvim_get_current_win()
  if M.is_code(win) then
    last_used[api.nvim_get_current_tabpage()] = win
  end
end

---Begins to notice which code window is used.
function M.watch()
  if watching then
    return
  end
  watching = true
  remember()
  local group = api.nvim_create_augroup("acp_nvim.code_window", {})
  api.nvim_create_autocmd({ "WinEnter", "BufEnter" }, { group = group, callback = remember })
end

---@param accept? fun(win: integer): boolean
---@return integer? win of the current tab to show things in, the one used last before others; never the current one
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

---@param win integer
---@param bufnr integer that would be shown in it
---@return boolean the buffer that is there now can be hidden
function M.can_leave(win, bufnr)
  local shown = api.nvim_win_get_buf(win)
  return shown == bufnr or not vim.bo[shown].modified or vim.o.hidden or #vim.fn.win_findbuf(shown) > 1
end

return M
