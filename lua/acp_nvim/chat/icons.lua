-- Gives the icons of tool calls: the user's own, or ours.
local config = require("acp_nvim.config")
local ours = require("acp_nvim.chat.icon_names")

local M = {}

---@param name string a kind, or a status
---@return boolean
function M.has(name)
  return ours[name] ~= nil
end

---@param name string a kind, or a status
---@param otherwise string whose icon it gets when it is unknown
---@return string
function M.of(name, otherwise)
  local own = config.get().ui.icons
  return own[name] or ours[name] or own[otherwise] or ours[otherwise]
end

return M
