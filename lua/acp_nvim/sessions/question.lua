-- Asks the host about sessions, and hands its answers to whoever asked.
local host = require("acp_nvim.host")
local sessions = require("acp_nvim.sessions")

local M = {}

---One conversation, wherever it is.
---@class acp.SessionEntry
---@field agent string
---@field cwd string
---@field session_id? string at the agent
---@field session? acp.Session it is open
---@field kept acp.FoundSession[] its transcripts, the newest first
---@field listed? boolean the agent says that it keeps it
---@field title? string
---@field updated number seconds since 1970; 0 when nobody knows
---@field snippet? string

---A list of sessions, as far as it is known.
---@class acp.SessionList
---@field id integer of the question
---@field query string
---@field entries acp.SessionEntry[] those that are open first, then the newest
---@field asked string[] agents that have answered
---@field more string[] agents with another page
---@field waits string[] agents that have not answered yet
---@field problems table<string, string> in words, by agent
---@field is_ready boolean all that is known without slow agents is known
---@field on_news fun() something is known that was not known before

---@type table<integer, fun(event: acp.Event): boolean?> by the question; who returns true has heard all
local listeners = {}
local asked = 0
local LISTENERS = 20 -- questions that may have further answers: nobody looks at more lists

---@param listener fun(event: acp.Event): boolean?
---@return integer id of a question
function M.new(listener)
  asked = asked + 1
  listeners[asked] = listener
  listeners[asked - LISTENERS] = nil
  return asked
end

---@param method string
---@param params table
---@param listener fun(event: acp.Event): boolean? of the one answer
function M.ask(method, params, listener)
  local id = M.new(function(event)
    listener(event)
    return true
  end)
  host.send(method, vim.tbl_extend("error", params, { id = id }))
end

---The host has answered.
---@param event acp.Event
function M.answer(event)
  local listener = listeners[event.id]
  if listener and listener(event) then
    listeners[event.id] = nil
  end
end

---@param listener fun(agents: table<string, acp.KnownAgent>) by their names
function M.agents(listener)
  M.ask("agents_known", {}, function(event)
    local known = {}
    for _, one in ipairs(event.agents or {}) do
      known[one.agent] = one
    end
    listener(known)
  end)
end

---@return table[] what the host should know of the sessions that are open, the one used last first
local function open_sessions()
  local open = vim.tbl_filter(function(session)
    return not session.kept
  end, sessions.all())
  table.sort(open, function(one, other)
    return one.used > other.used
  end)
  return vim.tbl_map(function(session)
    local status = session.status
    local agent, title = session.agent or "", status.title
    return { session = session.key, agent = agent, cwd = session.cwd, session_id = status.session_id, title = title }
  end, open)
end

---Lists sessions and kept conversations.
---@param opts { query?: string, agents?: string[], everywhere?: boolean } `agents` are asked, running or not; else those
---that run
---@param on_news fun(list: acp.SessionList) called each time that more is known
---@return acp.SessionList? nil when the host cannot run
function M.list(opts, on_news)
  if not host.ensure() then
    return nil
  end
  local query = vim.trim(opts.query or "")
  ---@type acp.SessionList
  local list =
    { id = 0, query = query, entries = {}, asked = {}, more = {}, waits = {}, problems = {}, is_ready = false }
  list.on_news = function()
    on_news(list)
  end
  list.id = M.new(function(event)
    list.entries, list.asked, list.more = event.entries, event.asked, event.more
    list.waits, list.problems, list.is_ready = event.waits, event.problems, true
    for _, entry in ipairs(list.entries) do
      entry.session = entry.session and sessions.get(entry.session)
      entry.kept, entry.updated = entry.kept or {}, entry.updated or 0
    end
    list.on_news()
  end)
  host.send("sessions_list", {
    id = list.id,
    cwd = vim.fn.getcwd(),
    open = open_sessions(),
    query = query,
    agents = opts.agents,
    everywhere = opts.everywhere or false,
  })
  return list
end

---Asks an agent, which is started if need be, for its next page, or its first one.
---@param list acp.SessionList
---@param agent string
function M.more(list, agent)
  list.more = vim.tbl_filter(function(name)
    return name ~= agent
  end, list.more)
  table.insert(list.waits, agent)
  list.problems[agent] = nil
  host.send("sessions_more", { id = list.id, agent = agent })
end

return M
