-- Moves the cursor between hunks. When the hunks of a newly opened file are not known yet, it moves once they arrive.
local message = require("acp_nvim.kernel.message")
local top = require("acp_nvim.review.hunks.top")

local M = {}

local api = vim.api

---@class acp.PendingJump a jump to a hunk that the host has not sent yet
---@field view acp.HunkView
---@field win integer
---@field bufnr integer
---@field cursor integer[] when the jump was asked for: if the user moves it, the jump is dropped
---@field backwards? boolean to the last hunk, not to the first
---@field centred? boolean put the hunk in the middle of the window even if it is visible

---@type acp.PendingJump?
local pending

local function go_to(win, row, centred)
  api.nvim_win_call(win, function()
    local line = math.min(row + 1, api.nvim_buf_line_count(0))
    local is_visible = line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
    api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd("normal! zv" .. (is_visible and not centred and "" or "zz"))
    if centred or vim.fn.line("w0") == line then
      top.show(win)
    end
  end)
end

---@return boolean done false while no hunk is known
local function try(jump)
  local places = jump.view:within(jump.bufnr)
  local place = places[jump.backwards and #places or 1]
  if place then
    go_to(jump.win, place.row, jump.centred)
  end
  return place ~= nil
end

---Goes to the first hunk of the current buffer, or to the last; waits for it when none is known.
---@param centred? boolean
function M.enter(view, backwards, centred)
  local win = api.nvim_get_current_win()
  local cursor, bufnr = api.nvim_win_get_cursor(win), api.nvim_win_get_buf(win)
  local jump = { view = view, win = win, bufnr = bufnr, cursor = cursor, backwards = backwards, centred = centred }
  pending = not try(jump) and jump or nil
end

---Drops a jump that waits for its hunk.
function M.forget()
  pending = nil
end

---Completes a jump that waits for hunks of this view, if they are known now.
function M.hunks_changed(view)
  local jump = pending
  if jump and jump.view == view then
    local is_there = api.nvim_win_is_valid(jump.win) and api.nvim_win_get_buf(jump.win) == jump.bufnr
    if not is_there or not vim.deep_equal(api.nvim_win_get_cursor(jump.win), jump.cursor) or try(jump) then
      pending = nil
    end
  end
end

---Tells the user that the search went on from the other end.
---@param what string "hunk", or another noun
function M.notify_wrapped(what, backwards)
  local from, to = backwards and "first" or "last", backwards and "last" or "first"
  message.news(("that was the %s %s, here is the %s"):format(from, what, to), vim.log.levels.INFO)
end

---Goes to the next hunk, or by as many hunks as the count says.
---@param beyond fun(bufnr: integer, backwards: boolean): boolean goes to the next buffer with hunks; false if none
function M.step(view, backwards, beyond)
  local count = vim.v.count1 -- the next command changes it
  pending = nil
  vim.cmd("normal! m'")
  for _ = 1, count do
    local bufnr, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1
    local place = view:next(bufnr, row, backwards)
    if place then
      go_to(0, place.row)
    elseif not beyond(bufnr, backwards) or pending then
      break
    end
  end
end

---@return boolean a jump waits for the hunks of a newly opened file
function M.is_waiting()
  return pending ~= nil
end

return M
