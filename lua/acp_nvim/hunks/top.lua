-- Scrolls windows so that virtual lines above their first line are visible: Neovim shows them only on request.
local view = require("acp_nvim.hunks.view")

local M = {}

local api = vim.api

---@type table<integer, integer> buffer -> virtual lines above its first row
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

---Shows virtual lines above the first row of a buffer when there are more of them than before.
function M.refresh(bufnr)
  local fill = count_above(bufnr, 0)
  local is_more = fill > (above_first[bufnr] or 0)
  above_first[bufnr] = fill > 0 and fill or nil
  for _, win in ipairs(is_more and vim.fn.win_findbuf(bufnr) or {}) do
    if vim.fn.line("w0", win) == 1 then
      M.show(win)
    end
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
