-- Maps the keys that the options assign to an action.
local config = require("acp_nvim.config")

local M = {}

---@param modes string|string[]
---@param action string name of the option, without `keymaps.`
---@param ... any arguments for `run`
function M.map(bufnr, modes, action, run, ...)
  local args, count = { ... }, select("#", ...)
  for _, key in ipairs(config.keys(action)) do
    vim.keymap.set(modes, key, function()
      run(unpack(args, 1, count))
    end, { buffer = bufnr, nowait = true, desc = "acp: " .. action:gsub("_", " ") })
  end
end

return M
