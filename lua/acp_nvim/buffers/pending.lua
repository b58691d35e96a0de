-- Half of a command is typed: Neovim then remembers line numbers, and lines that come or go above them would make it
-- change others than the user means.
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.pending")

---@type integer? when something was first in the way
local since
---@type boolean whether the user's half command was ended for that
local ended = false

---@return string? keys that end what the user is in the middle of; nil when it is nothing of the kind
local function way_out()
  local mode = api.nvim_get_mode().mode
  if mode:match("^no") then
    return "<Esc>"
  elseif mode:match("^[iR]v?[cx]") then -- completion
    return "<C-e>"
  elseif mode == "c" and vim.fn.getcmdtype():match("[/?]") then
    return "<Esc>"
  end
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

---The host tries again. Who leaves a command half typed for long gets it ended, rather than a wrong line changed.
---@param bufnr integer
---@param change? acp.TextChange
---@return boolean
function M.is_in_the_way(bufnr, change)
  local keys = change and bufnr == api.nvim_get_current_buf() and moves_cursor(change) and way_out() or nil
  if not keys then
    since, ended = nil, false
    return false
  end
  since = since or vim.uv.now()
  if not ended and vim.uv.now() - since > limits.pending_ms then
    ended = true
    api.nvim_input(keys)
  end
  return true
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
  if now[1] + 1 == at[2] then
    return
  end
  local cursor = vim.fn.winsaveview()
  vim.cmd("noautocmd keepjumps normal! " .. toggle .. "o")
  api.nvim_win_set_cursor(0, { now[1] + 1, at[3] - 1 })
  vim.cmd("noautocmd keepjumps normal! o" .. toggle)
  vim.fn.winrestview(cursor)
end

return M
