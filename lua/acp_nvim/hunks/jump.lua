-- Goes from hunk to hunk. Where the hunks of a file that was just opened are not known yet, goes there when they are.
local message = require("acp_nvim.message")
local top = require("acp_nvim.hunks.top")

local M = {}

local api = vim.api

---@class acp.AwaitedHunk the user has opened a file for a hunk that the host has yet to tell
---@field view acp.HunkView
---@field win integer
---@field bufnr integer
---@field cursor integer[] where it was left: who has moved meanwhile reads something else
---@field backwards? boolean the last hunk is meant, not the first
---@field centred? boolean it is to be in the middle of the window in any case

---@type acp.AwaitedHunk?
local awaited

---@param win integer
---@param row integer
---@param centred? boolean
local function go_to(win, row, centred)
  api.nvim_win_call(win, function()
    local line = math.min(row + 1, api.nvim_buf_line_count(0))
    local is_seen = line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
    api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd("normal! zv" .. (is_seen and not centred and "" or "zz"))
    if centred or vim.fn.line("w0") == line then
      top.show(win)
    end
  end)
end

---@param one acp.AwaitedHunk
---@return boolean done false while no hunk is known
local function enter(one)
  local places = one.view:within(one.bufnr)
  local place = places[one.backwards and #places or 1]
  if place then
    go_to(one.win, place.row, one.centred)
  end
  return place ~= nil
end

---Goes to the first hunk of the current buffer, or to the last; waits for it when none is known.
---@param view acp.HunkView
---@param backwards? boolean
---@param centred? boolean
function M.enter(view, backwards, centred)
  local win = api.nvim_get_current_win()
  local cursor, bufnr = api.nvim_win_get_cursor(win), api.nvim_win_get_buf(win)
  local one = { view = view, win = win, bufnr = bufnr, cursor = cursor, backwards = backwards, centred = centred }
  awaited = not enter(one) and one or nil
end

---Nobody waits for a hunk any more.
function M.forget()
  awaited = nil
end

---More is known of the hunks.
---@param view acp.HunkView
function M.told(view)
  local one = awaited
  if one and one.view == view then
    local is_there = api.nvim_win_is_valid(one.win) and api.nvim_win_get_buf(one.win) == one.bufnr
    if not is_there or not vim.deep_equal(api.nvim_win_get_cursor(one.win), one.cursor) or enter(one) then
      awaited = nil
    end
  end
end

---@param what string "hunk", or in other words
---@param backwards boolean
function M.say_wrapped(what, backwards)
  local from, to = backwards and "first" or "last", backwards and "last" or "first"
  message.news(("that was the %s %s, here is the %s"):format(from, what, to), vim.log.levels.INFO)
end

---Goes to the next hunk, or as many on as the count says.
---@param view acp.HunkView
---@param backwards boolean
---@param beyond fun(bufnr: integer, backwards: boolean): boolean goes to where it goes on after this buffer; false: nowhere
function M.step(view, backwards, beyond)
  local count = vim.v.count1 -- another one after the next command
  awaited = nil
  vim.cmd("normal! m'")
  for _ = 1, count do
    local bufnr, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1
    local place = view:next(bufnr, row, backwards)
    if place then
      go_to(0, place.row)
    elseif not beyond(bufnr, backwards) or awaited then
      break
    end
  end
end

---@return boolean the hunks of the file that was just opened are not known yet
function M.is_waiting()
  return awaited ~= nil
end

return M
