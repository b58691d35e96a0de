-- The registry of the sessions that have a chat.
local M = {}

---@type table<integer, acp.Session>
local by_key = {}
---@type table<integer, acp.Session> by chat buffer and by prompt buffer
local by_buffer = {}
local uses = 0

---@param agent? string
---@return acp.Session
function M.add(key, agent, cwd)
  uses = uses + 1
  local session = {
    key = key,
    agent = agent,
    cwd = cwd,
    status = { agent = agent, state = "starting", pending_permissions = 0, queue = 0 },
    used = uses,
    outbox = {},
    returned = {},
    context = {},
    commands = {},
    calls = {},
    call_blocks = {},
    plans = { shown = {}, active = {}, several = false },
  }
  by_key[key] = session
  vim.g.acp_nvim_last_session = math.max(vim.g.acp_nvim_last_session or 0, key)
  return session
end

---Adds a session under a key that this Neovim has not used, not even before a reload of the modules.
---@param agent? string
---@return acp.Session
function M.new(agent, cwd)
  local highest = vim.g.acp_nvim_last_session or 0
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    highest = math.max(highest, vim.b[bufnr].acp_nvim_session or 0)
  end
  for key in pairs(by_key) do
    highest = math.max(highest, key)
  end
  return M.add(highest + 1, agent, cwd)
end

---@return acp.Session?
function M.get(key)
  return by_key[key]
end

---@return acp.Session[]
function M.all()
  return vim.tbl_values(by_key)
end

---@param session acp.Session without buffers
function M.remove(session)
  by_key[session.key] = nil
end

---@param bufnr integer its chat or its prompt
function M.own_buffer(session, bufnr)
  by_buffer[bufnr] = session
  vim.b[bufnr].acp_nvim_session = session.key
end

function M.disown_buffer(bufnr)
  by_buffer[bufnr] = nil
end

---@return acp.Session?
function M.of_buffer(bufnr)
  return by_buffer[bufnr]
end

function M.touch(session)
  uses = uses + 1
  session.used = uses
end

---@param accept? fun(session: acp.Session): boolean
---@return acp.Session?
function M.last_used(accept)
  local last
  for _, session in pairs(by_key) do
    if not session.kept and (not accept or accept(session)) and (not last or session.used > last.used) then
      last = session
    end
  end
  return last
end

---@return acp.Session? the session that has the focus, else the one used last
function M.current()
  return by_buffer[vim.api.nvim_get_current_buf()] or M.last_used()
end

---@param agent? string
---@return acp.Session? the session to use when none is named
function M.usable(agent)
  local focused = by_buffer[vim.api.nvim_get_current_buf()]
  return M.last_used(function(session)
    return session == focused and (not agent or session.agent == agent)
  end) or M.last_used(function(session)
    return (session.status.state ~= "stopped" or session.status.asleep) and (not agent or session.agent == agent)
  end)
end

---@param id string|integer the agent's session id, or our key
---@return acp.Session?
function M.find(id)
  if by_key[id] then
    return by_key[id]
  end
  return M.last_used(function(session)
    return session.status.session_id == id
  end)
end

return M
