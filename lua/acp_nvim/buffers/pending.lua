-- Half of a command is typed: Neovim then remembers line numbers, and lines that come or go above them would make it
-- change others than the user means.

local M = {}

local api = vim.api
local MENU_MS = 3000 -- that a change of a buffer waits for a menu of completions: as long as one looks for a word in it
local NS = api.nvim_create_namespace("acp_nvim.pending")

---@type integer? when a menu of completions was first in the way
local menu_since
---@type boolean what is typed is put into the other lines of a block at its end
local in_block = false

local GROUP = api.nvim_create_augroup("acp_nvim.pending", {})
api.nvim_create_autocmd("ModeChanged", {
  group = GROUP,
  pattern = "*:i*",
  callback = function(event)
    in_block = in_block or vim.startswith(event.match, "\22")
  end,
})
api.nvim_create_autocmd("InsertLeave", {
  group = GROUP,
  callback = function()
    in_block = false
  end,
})

---@param mode string
---@return boolean
local function is_menu(mode)
  return mode:match("^[iR]v?[cx]") ~= nil
end

---@param mode string
---@return boolean
local function is_half_typed(mode)
  return mode:match("^no") ~= nil
    or is_menu(mode)
    or (in_block and mode:match("^i") ~= nil)
    or (mode == "c" and (vim.fn.getcmdtype():match("[/?]") or vim.fn.getcmdline():match("^%s*%d")) ~= nil)
end

---@param change acp.TextChange
---@return boolean lines above the cursor may come or go
local function moves_cursor(change)
  local cursor = vim.fn.line(".")
  if not change.lines or change.first >= cursor then
    return not change.lines
  end
  local is_above = change.first + change.count < cursor
  local is_as_long = change.count == #change.lines
  return not is_as_long or (not is_above and change.count > 1) -- as long in all, but not up to the cursor
end

---A menu that stays open gets closed: users of automatic completion would keep all writes waiting.
local function close_old_menu()
  menu_since = menu_since or vim.uv.now()
  if vim.uv.now() - menu_since > MENU_MS then
    menu_since = nil
    api.nvim_input("<C-e>")
  end
end

---The host tries again, for some time.
---@param bufnr integer
---@param change? acp.TextChange
---@return boolean
function M.is_in_the_way(bufnr, change)
  local mode = api.nvim_get_mode().mode
  local busy = change ~= nil and bufnr == api.nvim_get_current_buf() and is_half_typed(mode) and moves_cursor(change)
  if busy and is_menu(mode) then
    close_old_menu()
  else
    menu_since = nil
  end
  return busy
end

---@return string? toggle keys that make Visual mode of the mode, and back; nil when nothing is selected
local function selecting()
  local mode = api.nvim_get_mode().mode
  if mode:match("^[vV\22]") then
    return ""
  elseif mode:match("^[sS\19]") then
    return "\7"
  end
end

---Neovim moves the cursor with the text, but not the other end of what is selected.
---@param bufnr integer
---@param run fun()
function M.with_selection(bufnr, run)
  local toggle = bufnr == api.nvim_get_current_buf() and selecting() or nil
  if not toggle then
    return run()
  end
  local at = vim.fn.getpos("v")
  local line = api.nvim_buf_get_lines(bufnr, at[2] - 1, at[2], true)[1]
  local mark = api.nvim_buf_set_extmark(bufnr, NS, at[2] - 1, math.min(at[3] - 1, #line), {})
  run()
  local now = api.nvim_buf_get_extmark_by_id(bufnr, NS, mark, {})
  api.nvim_buf_del_extmark(bufnr, NS, mark)
  local row = math.min(now[1] + 1, api.nvim_buf_line_count(bufnr))
  if row == at[2] then
    return
  end
  local cursor = vim.fn.winsaveview()
  vim.cmd("noautocmd keepjumps normal! " .. toggle .. "o")
  api.nvim_win_set_cursor(0, { row, at[3] - 1 })
  vim.cmd("noautocmd keepjumps normal! o" .. toggle)
  vim.fn.winrestview(cursor)
end

return M
