-- Classifies the states of a session.
local M = {}

---@param state? string of `acp.Status`
---@return boolean a turn runs, started by a prompt or by the agent, and does not wait for the user
function M.is_working(state)
  return state == "running" or state == "background"
end

---@param state? string of `acp.Status`
---@return boolean a turn runs or a request waits for the user
function M.is_busy(state)
  return M.is_working(state) or state == "waiting"
end

return M
