-- What the states of a session mean.
local M = {}

---@param state? string of `acp.Status`
---@return boolean a turn runs, begun by a prompt or by the agent itself, and waits for nobody
function M.is_working(state)
  return state == "running" or state == "background"
end

---@param state? string of `acp.Status`
---@return boolean a turn runs, or something waits for the user
function M.is_busy(state)
  return M.is_working(state) or state == "waiting"
end

return M
