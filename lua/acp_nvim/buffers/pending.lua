-- Detects half-typed commands. Neovim remembers line numbers for them, so that inserting or deleting lines above would
-- make the command affect the wrong lines. Also keeps the selection in place.

local M = {}

local api = vim.api
local MENU_MS = 3000 -- that a change waits for a completion menu: as long as one looks for a word in it
local NS = api.nvim_create_namespace("acp_nvim.pending")

---@type integer? milliseconds when a completion menu first delayed a change
local menu_since
---@type boolean blockwise insert: Neovim copies what is typed to the other lines of the block at its end
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

local function is_menu(mode)
  return mode:match("^[iR]v?[cx]") ~= nil
end

local function is_half_typed(mode)
  return mode:match("^no") ~= nil
    or is_menu(mode)
    or (in_block and mode:match("^i") ~= nil)
    or (mode == "c" and (vim.fn.getcmdtype():match("[/?]") or vim.fn.getcmdline():match("^%s*%d")) ~= nil)
end

---@param change acp.TextChange
---@return boolean the change may insert or delete lines above the cursor
local function moves_cursor(change)
  local cursor = vim.fn.line(".")
  if not change.lines or change.first >= cursor then
    return not change.lines
  end
  local is_above = change.first + change.count < cursor
  local is_as_long = change.count == #change.lines
  return not is_as_long or (not is_above and change.count > 1) -- as long overall, but maybe not up to the cursor
end

---Closes a menu that has been open for long: automatic completion would delay all changes.
local function close_old_menu()
  menu_since = menu_since or vim.uv.now()
  if vim.uv.now() - menu_since > MENU_MS then
    menu_since = nil
    api.nvim_input("<C-e>")
  end
end

---Checks whether a change has to wait for a half-typed command. The host retries for some time.
---@param change? acp.TextChange
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

---@return string? toggle keys that turn Select mode into Visual mode and back; nil when nothing is selected
local function selecting()
  local mode = api.nvim_get_mode().mode
  if mode:match("^[vV\22]") then
    return ""
  elseif mode:match("^[sS\19]") then
    return "\7"
  end
end

---Runs a change and keeps the other end of the selection in place: Neovim moves only the cursor with the text.
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
