-- Completes the agent's slash commands at the beginning of the prompt (omni completion).
local sessions = require("acp_nvim.sessions")

local M = {}

---@param findstart 0|1
---@param base string
---@return integer|table[]
function M.complete(findstart, base)
  if findstart == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col(".") - 1)
    return vim.fn.line(".") == 1 and before:match("^/%S*$") and 0 or -3
  end
  local session = sessions.of_buffer(vim.api.nvim_get_current_buf())
  local matches = {}
  for _, command in ipairs(session and session.commands or {}) do
    local word = "/" .. command.name
    if vim.startswith(word, base) then
      table.insert(matches, { word = word, menu = command.hint, info = command.description })
    end
  end
  return matches
end

return M
