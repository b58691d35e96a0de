-- The icons of tool calls: characters that fonts of terminals have; the user's own take their place.
local config = require("acp_nvim.config")

local M = {}

---By the kind of a tool call, and by its status.
---@type table<string, string>
M.DEFAULTS = {
  read = "≡",
  edit = "±",
  delete = "×",
  move = "→",
  search = "?",
  execute = "$",
  think = "…",
  fetch = "↓",
  switch_mode = "↔",
  other = "•",
  pending = "○",
  in_progress = "◐",
  paused = "‖",
  completed = "●",
  failed = "✗",
  cancelled = "–",
  rejected = "–",
  unfinished = "–",
}

---@param name string a kind, or a status
---@param otherwise string whose icon it gets when it is unknown
---@return string
function M.of(name, otherwise)
  local own = config.get().ui.icons or {}
  return own[name] or M.DEFAULTS[name] or own[otherwise] or M.DEFAULTS[otherwise]
end

return M
