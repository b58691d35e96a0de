-- Tells whether Neovim shows messages in windows of its own (|ui2|, since 0.12): in full, and without asking for a key.
local M = {}

local MODULE, GROUP = "vim._core.ui2", "nvim.ui2"

---@return boolean
function M.is_enabled()
  return package.loaded[MODULE] ~= nil and #vim.api.nvim_get_autocmds({ group = GROUP }) > 0 -- it clears them at its end
end

return M
