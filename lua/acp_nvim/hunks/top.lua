-- Scrolls windows so that virtual lines above their first line are seen: Neovim shows these only when it is told to.
local view = require("acp_nvim.hunks.view")

local M = {}

local api = vim.api

---@type table<integer, integer> buffer -> lines above its first row
local above_first = {}
---@type integer where the cursor was
local line = 0

---@param bufnr integer
---@param row integer
---@return integer count of the virtual lines above that row
local function lines_above(bufnr, row)
  local count = 0
  for _, one in ipairs(view.all) do
    for _, place in ipairs(one:within(bufnr, row, row)) do
      count = count + (place.row == row and place.mark.above or 0)
    end
  end
  return count
end

---@param win integer
function M.show(win)
  local bufnr = api.nvim_win_get_buf(win)
  if vim.wo[win].diff then
    return
  end
  api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    local fill = math.min(lines_above(bufnr, view.topline - 1), api.nvim_win_get_height(win) - 1)
    if view.topfill < fill then
      vim.fn.winrestview({ topline = view.topline, topfill = fill })
    end
  end)
end

---What stands above the first row of the buffer has come, or is another thing now.
---@param bufnr integer
function M.refresh(bufnr)
  local fill = lines_above(bufnr, 0)
  local is_new = fill > (above_first[bufnr] or 0)
  above_first[bufnr] = fill > 0 and fill or nil
  for _, win in ipairs(is_new and vim.fn.win_findbuf(bufnr) or {}) do
    if vim.fn.line("w0", win) == 1 then
      M.show(win)
    end
  end
end

---Who comes from below sees them all; who scrolls down leaves them line by line.
---@param scrolled table<string, { topline: integer }> as WinScrolled tells
function M.scrolled(scrolled)
  for id, by in pairs(scrolled) do
    local win = tonumber(id)
    if win and by.topline < 0 and api.nvim_win_is_valid(win) and vim.fn.line("w0", win) == 1 then
      M.show(win)
    end
  end
end

---The cursor has come to the first line: what stands above it is wanted.
function M.cursor_moved()
  local before = line
  line = api.nvim_win_get_cursor(0)[1]
  if line == 1 and before ~= 1 then
    M.show(api.nvim_get_current_win())
  end
end

return M
