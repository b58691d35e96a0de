-- Sends requests about sessions to the host, passes its answers to the callers, and describes entries of its lists.
local agents = require("acp_nvim.config.agents")
local host = require("acp_nvim.host")
local limits = require("acp_nvim.limits")
local names = require("acp_nvim.names")
local sessions = require("acp_nvim.host.sessions")
local states = require("acp_nvim.host.states")

local M = {}

---A conversation: open, kept here, or at an agent.
---@class acp.SessionEntry: acp.ListedEntry
---@field session? acp.Session it is open
---@field kept acp.FoundSession[] its transcripts, the newest first
---@field updated number seconds since 1970; 0 when unknown

---A list of sessions, as far as it is known.
---@class acp.SessionList
---@field id integer of the request
---@field query string
---@field entries acp.SessionEntry[] open ones first, then the newest
---@field asked string[] agents that have answered
---@field more string[] agents that have another page
---@field waits string[] agents that have not answered yet
---@field problems table<string, string> why agents could not answer, by their names
---@field is_ready boolean only agents that are slow have not answered
---@field on_news fun() called when the list has changed

---@type table<integer, fun(event: acp.Event): boolean?> by request; a listener that returns true is removed
local listeners = {}
local asked = 0
local LISTENERS = 20 -- requests that may have further answers: users do not look at more lists

---@param listener fun(event: acp.Event): boolean?
---@return integer id of a request
local function new_request(listener)
  asked = asked + 1
  listeners[asked] = listener
  listeners[asked - LISTENERS] = nil
  return asked
end

---Sends a request that has one answer.
---@param method string
---@param params table
---@param listener fun(event: acp.Event) called with the answer
function M.ask(method, params, listener)
  local id = new_request(function(event)
    listener(event)
    return true
  end)
  host.send(method, vim.tbl_extend("error", params, { id = id }))
end

---Passes an answer of the host to its listener.
function M.answer(event)
  local listener = listeners[event.id]
  if listener and listener(event) then
    listeners[event.id] = nil
  end
end

---@param listener fun(agents: table<string, acp.KnownAgent>) called with the known agents by name
function M.agents(listener)
  M.ask("agents_known", {}, function(event)
    local known = {}
    for _, one in ipairs(event.agents or {}) do
      known[one.agent] = one
    end
    listener(known)
  end)
end

---Requests the list of sessions and kept conversations.
---@param opts { query?: string, agents?: string[], everywhere?: boolean, archived?: boolean } `agents` are asked, and
---started if need be; nil: those that run. `archived`: only archived ones; else all others
---@param on_news fun(list: acp.SessionList) called each time the list has changed
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
  list.id = new_request(function(event)
    list.entries, list.asked, list.more = event.entries, event.asked, event.more
    list.waits, list.problems, list.is_ready = event.waits, event.problems, true
    for _, entry in ipairs(list.entries) do
      entry.session = entry.session and sessions.get(entry.session)
      entry.kept, entry.updated = entry.kept or {}, entry.updated or 0
    end
    list.on_news()
  end)
  local open = vim.tbl_filter(function(session)
    return not session.kept and not session.parent
  end, sessions.all())
  table.sort(open, function(one, other)
    return one.used > other.used
  end)
  open = vim.tbl_map(function(session)
    local status = session.status
    local agent, title = session.agent or "", status.title
    return { session = session.key, agent = agent, cwd = session.cwd, session_id = status.session_id, title = title }
  end, open)
  host.send("sessions_list", {
    id = list.id,
    cwd = vim.fn.getcwd(),
    open = open,
    query = query,
    agents = opts.agents,
    everywhere = opts.everywhere or false,
    archived = opts.archived or false,
  })
  return list
end

---Requests the first or the next page of an agent, and starts the agent if need be.
function M.more(list, agent)
  list.more = vim.tbl_filter(function(name)
    return name ~= agent
  end, list.more)
  table.insert(list.waits, agent)
  list.problems[agent] = nil
  host.send("sessions_more", { id = list.id, agent = agent })
end

---@param path string
local function real(path)
  return vim.uv.fs_realpath(path) or path
end

---@param entry acp.SessionEntry
---@param agent? string only of this one
---@return boolean it is not open, and its agent can go on with it
local function can_continue(entry, directory, agent)
  local is_there = #entry.kept > 0 or entry.session_id ~= nil
  return not entry.session
    and not entry.archived
    and is_there
    and (not agent or entry.agent == agent)
    and real(entry.cwd) == directory
    and agents.problem(entry.agent) == nil
end

---Finds the conversation that was used last in a directory and is not open.
---@param cwd string
---@param agent? string only of this one
---@param use fun(entry: acp.SessionEntry?) called once
function M.last(cwd, agent, use)
  local directory = real(cwd)
  M.list({ agents = {} }, function(list)
    list.on_news = function() end
    use(vim.iter(list.entries):find(function(entry)
      return can_continue(entry, directory, agent)
    end))
  end)
end

---@param text string?
local function one_line(text)
  return (vim.trim(text or ""):gsub("%s+", " "):gsub("%c", " "))
end

---@param seconds number since 1970
---@return string
function M.time_of(seconds)
  if seconds <= 0 then
    return "undated"
  end
  local today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", math.floor(seconds))
  return os.date(today and "today %H:%M" or "%Y-%m-%d %H:%M", math.floor(seconds)) --[[@as string]]
end

---@param seconds number since 1970
---@return string such as "2 hours ago"
function M.ago(seconds)
  local past = math.max(os.time() - seconds, 0)
  for _, unit in ipairs({ { "day", 86400 }, { "hour", 3600 }, { "minute", 60 } }) do
    local count = math.floor(past / unit[2])
    if count > 0 then
      return ("%d %s%s ago"):format(count, unit[1], count == 1 and "" or "s")
    end
  end
  return "just now"
end

---@return string title or id, on one line
function M.title(entry)
  local title = one_line(entry.title)
  return title ~= "" and vim.fn.strcharpart(title, 0, limits.list_columns) or one_line(entry.session_id)
end

---@return string for a list
function M.words(entry)
  local parts = {
    entry.session and "open" or M.time_of(entry.updated),
    one_line(entry.agent),
    entry.session and table.concat(states.words(entry.session), ", ") or "",
    names.below_home(entry.cwd),
    M.title(entry),
    one_line(entry.snippet),
    not entry.session and #entry.kept == 0 and "at the agent" or "",
  }
  return table.concat(
    vim.tbl_filter(function(part)
      return part ~= ""
    end, parts),
    " · "
  )
end

return M
