-- The registry of the sessions that have a chat.
local cells = require("acp_nvim.render.cells")

local M = {}

---@type table<integer, acp.Session>
local by_key = {}
---@type table<integer, acp.Session> by chat buffer and by prompt buffer
local by_buffer = {}
---@type fun(session: acp.Session)[]
local activity_listeners = {}
local uses = 0
local FIRST_CHILD_KEY = 1000000 -- greater keys are those of subagents, chosen by the host

---@param agent? string
---@param used integer
---@return acp.Session
local function add(key, agent, cwd, used)
  local session = {
    key = key,
    agent = agent,
    cwd = cwd,
    begun_in = cwd,
    status = { agent = agent, state = "starting", pending_permissions = 0, queue = 0 },
    used = used,
    outbox = {},
    returned = {},
    context = {},
    commands = {},
    calls = {},
    call_blocks = {},
    plans = { shown = {}, active = {}, several = false },
  }
  by_key[key] = session
  return session
end

---@param agent? string
---@return acp.Session
function M.add(key, agent, cwd)
  uses = uses + 1
  vim.g.acp_nvim_last_session = math.max(vim.g.acp_nvim_last_session or 0, key)
  return add(key, agent, cwd, uses)
end

---Adds the session of a subagent, or returns it if it is known.
---@param key integer that the host chose
---@param parent acp.Session in which the agent created it
---@return acp.Session
function M.add_child(key, parent)
  local session = by_key[key]
  if not session then
    session = add(key, parent.agent, parent.cwd, 0)
    session.parent = parent.key
    vim.g.acp_nvim_last_subagent = math.max(vim.g.acp_nvim_last_subagent or 0, key)
  end
  session.host = parent.host
  return session
end

---@return acp.Session? the session itself, or for that of a subagent the one that takes prompts
function M.owner(session)
  while session and session.parent do
    session = by_key[session.parent]
  end
  return session
end

---@return string name of the agent, or of the subagent
function M.name(session)
  local agent, title = session.agent or "the agent", cells.plain(session.status.title)
  return session.parent and ("%s (subagent of %s)"):format(title ~= "" and title or "a subagent", agent) or agent
end

---Adds a session under a key that this Neovim has not used, not even before a reload of the modules.
---@param agent? string
---@return acp.Session
function M.new(agent, cwd)
  local highest = vim.g.acp_nvim_last_session or 0
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local key = vim.b[bufnr].acp_nvim_session or 0
    highest = key < FIRST_CHILD_KEY and math.max(highest, key) or highest
  end
  for key in pairs(by_key) do
    highest = key < FIRST_CHILD_KEY and math.max(highest, key) or highest
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

---@return acp.Session[] of the subagents that a session has created
function M.children(session)
  return vim.tbl_filter(function(one)
    return one.parent == session.key
  end, M.all())
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

---@param text string what the session does, to be shown
function M.set_activity(session, text)
  session.status.activity = text
  for _, listener in ipairs(activity_listeners) do
    listener(session)
  end
end

---@param listener fun(session: acp.Session) called after `set_activity`
function M.on_activity(listener)
  table.insert(activity_listeners, listener)
end

function M.touch(session)
  uses = uses + 1
  session.used = uses
end

---@param outer string directory
---@return boolean the path is the directory, or in it
function M.is_within(path, outer)
  return path == outer or vim.startswith(path, vim.endswith(outer, "/") and outer or outer .. "/")
end

---@param place string directory
---@return integer how near its directories are: the greater, the nearer; 0: it has nothing to do with the place
local function nearness(session, place)
  local nearest = 0
  for _, own in ipairs({ session.begun_in, session.cwd, unpack(session.status.directories or {}) }) do
    local near = M.is_within(place, own) and #own + 1 or M.is_within(own, place) and 1 or 0
    nearest = math.max(nearest, near)
  end
  return nearest
end

---@return boolean the session works in this directory, or in one around or below it
function M.is_near(session, place)
  return nearness(session, place) > 0
end

---@param accept? fun(session: acp.Session): boolean
---@param place? string directory; nil: the working directory
---@return acp.Session? the one that works nearest to it; of those that are as near, or if none is, the one used last
function M.nearest(accept, place)
  local best, best_near
  place = place or vim.fn.getcwd()
  for _, session in pairs(by_key) do
    if not session.kept and not session.parent and (not accept or accept(session)) then
      local near = nearness(session, place)
      if not best or near > best_near or near == best_near and session.used > best.used then
        best, best_near = session, near
      end
    end
  end
  return best
end

---@return acp.Session? the session that has the focus, else the nearest one
function M.current()
  return by_buffer[vim.api.nvim_get_current_buf()] or M.nearest()
end

---@return acp.Session? as `current`, but never that of a subagent: the one that takes prompts and has options
function M.current_owner()
  return M.owner(M.current())
end

---@param agent? string
---@param place? string directory; nil: the working directory
---@return acp.Session? the session to use when none is named
function M.usable(agent, place)
  local focused = M.owner(by_buffer[vim.api.nvim_get_current_buf()])
  if focused and not focused.kept and (not agent or focused.agent == agent) then
    return focused
  end
  return M.nearest(function(session)
    return (session.status.state ~= "stopped" or session.status.asleep) and (not agent or session.agent == agent)
  end, place)
end

---@param id string|integer the agent's session id, or our key
---@return acp.Session?
function M.find(id)
  if by_key[id] then
    return by_key[id]
  end
  local latest
  for _, session in pairs(by_key) do -- of a subagent, too
    local is_it = not session.kept and session.status.session_id == id
    latest = is_it and (not latest or session.used > latest.used) and session or latest
  end
  return latest
end

return M
