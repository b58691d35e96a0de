-- Begins sessions that are more than new ones: with something before them, in a worktree, with more directories.
local agents = require("acp_nvim.agents")
local client = require("acp_nvim.client")
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")
local requests = require("acp_nvim.requests")
local sessions = require("acp_nvim.sessions")

local M = {}

---@class acp.SessionBeginning what the message `take_up` says, see doc/development/architecture.md
---@field session_id? string
---@field how? "load"|"resume"|"fork"|"go_on"
---@field transcript? string
---@field source? integer
---@field additional_directories? string[]
---@field worktree? string

---@return string a name that nobody else has
local function worktree_name()
  return os.date("%Y%m%d-%H%M%S") --[[@as string]]
end

---@param agent? string
---@param cwd string
---@param beginning acp.SessionBeginning
---@param title? string
---@return acp.Session? nil when it cannot be begun: that is said
function M.begin(agent, cwd, beginning, title)
  local problem = agent and agents.problem(agent)
  if problem then
    message.error(problem)
    return nil
  elseif not host.ensure() then
    return nil
  end
  local session = sessions.new(agent or agents.default(), cwd)
  session.named = agent ~= nil
  session.status.title = title
  client.prepare(session)
  if beginning.worktree == "" then
    beginning.worktree = worktree_name()
  end
  requests.begin(session, beginning)
  client.show(session)
  return session
end

return M
