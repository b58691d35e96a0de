-- Sets the size of windows, with the function that this Neovim has for it: 0.13 deprecates those of 0.11 and 0.12.
local M = {}

local api = vim.api
local UNCHANGED = -1

---@param win integer 0: the current one
---@param lines integer
function M.set_height(win, lines)
  if api.nvim_win_resize then
    api.nvim_win_resize(win, UNCHANGED, lines, {})
  else
    api.nvim_win_set_height(win, lines)
  end
end

---@param win integer 0: the current one
---@param cells integer
function M.set_width(win, cells)
  if api.nvim_win_resize then
    api.nvim_win_resize(win, cells, UNCHANGED, {})
  else
    api.nvim_win_set_width(win, cells)
  end
end

return M
