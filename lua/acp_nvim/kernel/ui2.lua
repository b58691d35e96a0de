-- Tells of windows for messages: whether Neovim has its own (ui2, since 0.12), which show them in full and ask no key.
local M = {}

local MODULE, GROUP = "vim._core.ui2", "nvim.ui2"

---@return boolean
function M.is_enabled()
  return package.loaded[MODULE] ~= nil and #vim.api.nvim_get_autocmds({ group = GROUP }) > 0 -- it clears them at its end
end

---@param win integer
---@return boolean a float that nobody enters, as those for messages: it shows no file, and keeps no tab page open
function M.is_decoration(win)
  local config = vim.api.nvim_win_get_config(win)
  return config.relative ~= "" and not config.focusable and win ~= vim.api.nvim_get_current_win()
end

return M
