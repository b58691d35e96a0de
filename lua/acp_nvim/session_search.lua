-- Looks for sessions: the open ones, what is kept here, and what agents keep; agents that are slow come in later.
local host = require("acp_nvim.host")
local limits = require("acp_nvim.limits")
local question = require("acp_nvim.session_question")
local sessions = require("acp_nvim.sessions")
local session_entries = require("acp_nvim.session_entries")

local M = {}

---@class acp.SessionSearch
---@field query string
---@field cwd string
---@field everywhere boolean agents are asked for their sessions of all directories
---@field agents? string[] who is asked, running or not; else those that run
---@field found acp.FoundSession[]
---@field listed table<string, acp.ListedSession[]> by agent
---@field cursors table<string, string> agents with another page
---@field waits table<string, true> agents that have not answered yet
---@field problems table<string, string> in words, by agent
---@field is_found? boolean all that is kept here
---@field is_asked? boolean agents
---@field on_news fun() something is known that was not known before

---@param search acp.SessionSearch
---@param agent string
---@param cursor? string of a further page
local function list(search, agent, cursor)
  search.waits[agent], search.cursors[agent], search.problems[agent] = true, nil, nil
  local params = { agent = agent, cwd = search.cwd, everywhere = search.everywhere, cursor = cursor }
  question.ask("agent_sessions", params, function(event)
    search.waits[agent] = nil
    search.problems[agent] = event.problem
    search.cursors[agent] = event.next_cursor
    search.listed[agent] = vim.list_extend(search.listed[agent] or {}, event.sessions or {})
    search.on_news()
  end)
end

---Asks for the next page of an agent's sessions.
---@param search acp.SessionSearch
---@param agent string
function M.more(search, agent)
  list(search, agent, search.cursors[agent])
end

---Asks an agent, which is started if need be.
---@param search acp.SessionSearch
---@param agent string
function M.ask(search, agent)
  list(search, agent)
end

---@param search acp.SessionSearch
local function ask_agents(search)
  question.agents(function(known)
    for name, one in pairs(known) do
      if not search.agents and one.running and vim.list_contains(one.offers, "list") then
        list(search, name)
      end
    end
    for _, name in ipairs(search.agents or {}) do
      list(search, name)
    end
    search.is_asked = true
    search.on_news()
  end)
end

---@param search acp.SessionSearch
local function ask_kept(search)
  local id = question.new(function(event)
    vim.list_extend(search.found, event.found or {})
    search.is_found = event.done
    if event.done then
      search.on_news()
    end
    return event.done
  end)
  host.send("sessions_find", { id = id, query = search.query })
end

---@param search acp.SessionSearch
---@return boolean all that is known without agents is known
function M.is_ready(search)
  return search.is_found == true and search.is_asked == true
end

---@param opts { query?: string, agents?: string[], everywhere?: boolean }
---@param on_ready fun(search: acp.SessionSearch) once: everybody has answered, or `limits.agents_wait_ms` have passed
---@return acp.SessionSearch? nil when the host cannot run
function M.new(opts, on_ready)
  if not host.ensure() then
    return nil
  end
  ---@type acp.SessionSearch
  local search = {
    query = vim.trim(opts.query or ""),
    cwd = vim.fn.getcwd(),
    everywhere = opts.everywhere or false,
    agents = opts.agents,
    found = {},
    listed = {},
    cursors = {},
    waits = {},
    problems = {},
    on_news = function() end,
  }
  M.when_ready(search, on_ready)
  ask_kept(search)
  ask_agents(search)
  return search
end

---@param search acp.SessionSearch
---@param on_ready fun(search: acp.SessionSearch)
function M.when_ready(search, on_ready)
  local is_late, is_told = false, false
  search.on_news = function()
    if not is_told and M.is_ready(search) and (is_late or not next(search.waits)) then
      is_told = true
      search.on_news = function() end
      on_ready(search)
    end
  end
  vim.defer_fn(function()
    is_late = true
    search.on_news()
  end, limits.agents_wait_ms)
end

---@param search acp.SessionSearch
---@return acp.SessionEntry[]
function M.entries(search)
  local open = vim.tbl_filter(function(session)
    return not session.kept
  end, sessions.all())
  return session_entries.merged(open, search.found, search.listed, search.query)
end

return M
