-- Maps the keys that the options assign to an action.
local config = require("acp_nvim.config")
local typed_ahead = require("acp_nvim.keys.typed_ahead")

local M = {}

---Maps a key to what it does.
---@param modes string|string[]
---@param key string
---@param run fun()
---@param words string describe it
function M.map_key(bufnr, modes, key, run, words)
  vim.keymap.set(modes, key, function()
    typed_ahead.run(key, run)
  end, { buffer = bufnr, nowait = true, desc = "acp: " .. words })
end

---@param modes string|string[]
---@param action string name of the option, without `keymaps.`
---@param ... any arguments for `run`
function M.map(bufnr, modes, action, run, ...)
  local args, count = { ... }, select("#", ...)
  for _, key in ipairs(config.keys(action)) do
    M.map_key(bufnr, modes, key, function()
      run(unpack(args, 1, count))
    end, (action:gsub("_", " ")))
  end
end

return M
