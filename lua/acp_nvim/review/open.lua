-- Opens a changed file at its first hunk, in a window that shows code.
local code_window = require("acp_nvim.code_window")
local config = require("acp_nvim.config")
local deleted = require("acp_nvim.review.deleted")
local file_buffer = require("acp_nvim.file_buffer")
local files = require("acp_nvim.review.files")
local message = require("acp_nvim.message")
local top = require("acp_nvim.review.top")

local M = {}

local api = vim.api

---@type { win: integer, bufnr: integer, path: string, cursor: integer[] }? what was opened before its hunks were told
local waiting

---@param bufnr integer
---@return integer win a new one, with the buffer
local function new_window(bufnr)
  local position = config.get().ui.position
  local beside = { left = "right", right = "left", bottom = "above" }
  local shape = { split = beside[position] or "above", win = -1 }
  if vim.bo.filetype == "acp_review" then
    shape = { split = "above", win = 0 }
  end
  if not pcall(api.nvim_open_win, bufnr, true, shape) then -- no room for a split
    vim.cmd(("tab sbuffer %d"):format(bufnr))
  end
  return api.nvim_get_current_win()
end

---@param bufnr integer
---@return integer win the current one then, with the buffer
function M.show(bufnr)
  local function fits(win)
    return code_window.can_leave(win, bufnr)
  end
  local current = api.nvim_get_current_win()
  local win = code_window.other(function(candidate)
    return api.nvim_win_get_buf(candidate) == bufnr
  end)
  if api.nvim_win_get_buf(current) == bufnr or (code_window.is_code(current) and fits(current)) then
    win = current
  end
  win = win or code_window.other(fits)
  if not win then
    return new_window(bufnr)
  end
  api.nvim_set_current_win(win)
  vim.cmd("normal! m'")
  if api.nvim_win_get_buf(win) ~= bufnr then
    api.nvim_win_set_buf(win, bufnr)
  end
  return win
end

---@param win integer
---@param bufnr integer
---@return boolean done false while no hunk is known
local function go_to_first(win, bufnr)
  local first = files.hunks(bufnr)[1]
  if not first then
    return false
  end
  api.nvim_win_set_cursor(win, { math.min(first.row + 1, api.nvim_buf_line_count(bufnr)), 0 })
  api.nvim_win_call(win, function()
    vim.cmd("normal! zvzz")
  end)
  top.show(win)
  return true
end

---@param path string
local function told(path)
  if not waiting or waiting.path ~= path then
    return
  end
  local one = waiting
  local there = api.nvim_win_is_valid(one.win) and api.nvim_win_get_buf(one.win) == one.bufnr
  -- who has moved meanwhile reads something else
  local still = there and vim.deep_equal(api.nvim_win_get_cursor(one.win), one.cursor)
  if not still or go_to_first(one.win, one.bufnr) then
    waiting = nil
  end
end

---@param path string of a changed file, real
function M.file(path)
  local review = files.get(path)
  waiting = nil
  if review and review.operation == "delete" then
    M.show(deleted.buffer(path))
  elseif review and review.operation == "binary" then
    message.info(("%s: %s"):format(vim.fs.basename(path), review.note or "a binary file"))
  else
    local bufnr = file_buffer.get(path)
    if not bufnr then
      return
    end
    local win = M.show(bufnr)
    if not go_to_first(win, bufnr) and review then
      waiting = { win = win, bufnr = bufnr, path = path, cursor = api.nvim_win_get_cursor(win) }
    end
  end
end

files.on_change(told)

return M
