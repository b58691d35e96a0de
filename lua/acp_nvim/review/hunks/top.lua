-- Scrolls windows so that virtual lines above their first line are visible: Neovim shows them only on request, and keeps
-- their rows empty when they are gone.
local view = require("acp_nvim.review.hunks.view")

local M = {}

local api = vim.api

---@type table<integer, integer> buffer with hunks at the last refresh -> virtual lines above its first row
local above_first = {}
local cursor_line = 0

local function count_above(bufnr, row)
  local count = 0
  for _, one in ipairs(view.all) do
    for _, place in ipairs(one:within(bufnr, row, row)) do
      count = count + (place.row == row and place.mark.above or 0)
    end
  end
  return count
end

function M.show(win)
  local bufnr = api.nvim_win_get_buf(win)
  if vim.wo[win].diff then
    return
  end
  api.nvim_win_call(win, function()
    local now = vim.fn.winsaveview()
    local fill = math.min(count_above(bufnr, now.topline - 1), api.nvim_win_get_height(win) - 1)
    if now.topfill < fill then
      vim.fn.winrestview({ topline = now.topline, topfill = fill })
    end
  end)
end

---@param row integer 0-based
---@return integer count of virtual lines between this row and the one above, whoever has drawn them
local function count_drawn(bufnr, row)
  local count = 0
  local options = { type = "virt_lines", details = true }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, -1, { math.max(row - 1, 0), 0 }, { row, -1 }, options)) do
    local is_between = mark[2] == row and mark[4].virt_lines_above or mark[2] < row and not mark[4].virt_lines_above
    count = count + (is_between and #mark[4].virt_lines or 0)
  end
  return count
end

---Removes the rows of virtual lines that are gone from above the first line of a window.
local function close_gap(win, bufnr)
  if vim.wo[win].diff then
    return
  end
  api.nvim_win_call(win, function()
    local now = vim.fn.winsaveview()
    local fill = now.topfill > 0 and math.min(now.topfill, count_drawn(bufnr, now.topline - 1)) or 0
    if fill < now.topfill then
      vim.fn.winrestview({ topline = now.topline, topfill = fill })
    end
  end)
end

---Adjusts the windows of a buffer after its hunks have changed: shows virtual lines above its first row when there are
---more of them than before, and leaves no empty rows where some were.
function M.refresh(bufnr)
  local fill = count_above(bufnr, 0)
  local is_more = fill > (above_first[bufnr] or 0)
  local has_hunks = vim.iter(view.all):any(function(one)
    return one.buffers[bufnr] ~= nil
  end)
  above_first[bufnr] = has_hunks and fill or nil
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if is_more and vim.fn.line("w0", win) == 1 then
      M.show(win)
    else
      close_gap(win, bufnr)
    end
  end
end

---Adjusts the windows of all buffers that have hunks of this view, or had hunks at the last refresh.
---@param one acp.HunkView
function M.refresh_all(one)
  for bufnr in pairs(vim.tbl_extend("keep", {}, above_first, one.buffers)) do
    M.refresh(bufnr)
  end
end

---Shows the virtual lines at the top of windows that were scrolled up to it; scrolling down hides them one by one.
---@param scrolled table<string, { topline: integer }> `v:event` of WinScrolled
function M.scrolled(scrolled)
  for id, by in pairs(scrolled) do
    local win = tonumber(id)
    if win and by.topline < 0 and api.nvim_win_is_valid(win) and vim.fn.line("w0", win) == 1 then
      M.show(win)
    end
  end
end

---Shows the virtual lines above the first line when the cursor comes to it.
function M.cursor_moved()
  local before = cursor_line
  cursor_line = api.nvim_win_get_cursor(0)[1]
  if cursor_line == 1 and before ~= 1 then
    M.show(api.nvim_get_current_win())
  end
end

return M
