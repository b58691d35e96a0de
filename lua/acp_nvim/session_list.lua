-- Lets the user choose among sessions: those that are open, those that agents keep, and the conversations kept here.
local agents = require("acp_nvim.agents")
local client = require("acp_nvim.client")
local message = require("acp_nvim.message")
local session_arguments = require("acp_nvim.session_arguments")
local session_entries = require("acp_nvim.session_entries")
local session_search = require("acp_nvim.session_search")
local session_ways = require("acp_nvim.session_ways")
local sessions = require("acp_nvim.sessions")

local M = {}

---A line of the list: a session, or something that can be done to see more of them.
---@class acp.SessionLine
---@field words string
---@field entry? acp.SessionEntry
---@field act? fun(search: acp.SessionSearch)

---@type acp.SessionSearch? the one that the user asked for last
local latest

---@return string changes when the user does anything
local function moment()
  local win = vim.api.nvim_get_current_win()
  local at = vim.api.nvim_win_get_cursor(win)
  local tick = vim.api.nvim_buf_get_changedtick(0)
  return table.concat({ win, vim.api.nvim_get_current_buf(), at[1], at[2], tick, vim.fn.mode() }, " ")
end

---@return string[] agents whose programs are on this machine
local function startable()
  return vim.tbl_filter(agents.command_here, agents.names())
end

local choose

---Shows the list when agents have answered, if the user has waited for it: nobody is taken from what they do.
---@param search acp.SessionSearch
---@param agent string
local function wait_for(search, agent)
  local before = moment()
  message.info(("asking %s for its sessions ..."):format(agent))
  search.on_news = function()
    if latest ~= search or next(search.waits) or not session_search.is_ready(search) then
      return
    end
    search.on_news = function() end
    if moment() == before then
      choose(search)
    elseif search.problems[agent] then
      message.news(search.problems[agent])
    else
      local words = ("%s has told its sessions: :AcpSessions agent:%s"):format(agent, agent)
      message.news(words, vim.log.levels.INFO)
    end
  end
  search.on_news()
end

---@param search acp.SessionSearch
local function ask_another(search)
  local names = vim.tbl_filter(function(name)
    return not search.listed[name]
  end, startable())
  vim.ui.select(names, { prompt = "Ask which agent for its sessions?", kind = "acp_agent" }, function(name)
    if name then
      session_search.ask(search, name)
      wait_for(search, name)
    end
  end)
end

---@param search acp.SessionSearch
---@return acp.SessionLine[] what stands below the sessions
local function more_lines(search)
  local lines = {}
  local function add(by_agent, words, act)
    local names = vim.tbl_keys(by_agent)
    table.sort(names)
    for _, name in ipairs(names) do
      table.insert(lines, {
        words = words:format(name),
        act = function()
          act(name)
        end,
      })
    end
  end
  add(search.cursors, "more sessions of %s ...", function(name)
    session_search.more(search, name)
    wait_for(search, name)
  end)
  add(search.waits, "%s has not answered yet: wait for it ...", function(name)
    wait_for(search, name)
  end)
  add(search.problems, "%s could not tell its sessions: why?", function(name)
    message.error(search.problems[name])
  end)
  if #startable() > 0 then
    table.insert(lines, { words = "ask an agent for its sessions ...", act = ask_another })
  end
  return lines
end

---@param search acp.SessionSearch
choose = function(search)
  local lines = vim.tbl_map(function(entry)
    return { words = session_entries.words(entry), entry = entry }
  end, session_search.entries(search))
  if #lines == 0 and not next(search.waits) and not next(search.problems) and not next(search.cursors) then
    local query = search.query
    local nothing = query == "" and "no conversations are kept yet" or ("%q was said in no conversation"):format(query)
    return message.info(nothing .. " (:AcpSessions agent:{name} asks an agent)")
  end
  local title = search.query == "" and "Sessions" or ("Sessions with %q"):format(search.query)
  vim.ui.select(vim.list_extend(lines, more_lines(search)), {
    prompt = title,
    kind = "acp_session",
    format_item = function(line)
      return line.words
    end,
  }, function(line)
    if not line then
      return
    elseif line.act then
      line.act(search)
    elseif line.entry.session then
      client.show(line.entry.session)
    else
      session_ways.choose(line.entry, search.query)
    end
  end)
end

---@param args acp.CommandArgs
function M.command(args)
  local query, asked = session_arguments.sessions(args.args)
  for _, name in ipairs(asked or {}) do
    local problem = agents.problem(name)
    if problem then
      return message.error(problem)
    end
  end
  latest = session_search.new({ query = query, agents = asked, everywhere = args.bang }, function(search)
    if latest == search and not asked then
      choose(search)
    end
  end)
  if latest and asked then
    wait_for(latest, asked[1])
  end
end

---@alias acp.OnSessions fun(entries: acp.SessionEntry[], more: string[], go_on: fun(agent: string))

---@param search acp.SessionSearch
---@param on_list acp.OnSessions
local function tell(search, on_list)
  local more = vim.list_extend(vim.tbl_keys(search.cursors), vim.tbl_keys(search.waits))
  table.sort(more)
  on_list(session_search.entries(search), more, function(agent)
    if search.cursors[agent] then
      session_search.more(search, agent)
    end
    search.on_news = function()
      if not search.waits[agent] then
        search.on_news = function() end
        tell(search, on_list)
      end
    end
    search.on_news()
  end)
end

---The sessions that there are, for other code.
---@param opts { text?: string, agents?: string[], everywhere?: boolean }
---@param on_list acp.OnSessions `more`: agents with another page, or without an answer; `go_on` calls again with that
function M.list(opts, on_list)
  session_search.new({ query = opts.text, agents = opts.agents, everywhere = opts.everywhere }, function(search)
    tell(search, on_list)
  end)
end

---Lets the user choose what is done with the session that is shown: an open one, or a kept conversation.
function M.actions()
  local session = sessions.current()
  if not session then
    return message.info("no session is open")
  end
  session_search.new({ agents = {} }, function(search)
    for _, entry in ipairs(session_search.entries(search)) do
      local is_it = entry.session == session
      for _, one in ipairs(session.kept and entry.kept or {}) do
        is_it = is_it or one.id == session.kept
      end
      if is_it then
        return session_ways.choose(entry, "")
      end
    end
    message.warn("this conversation is not kept any more")
  end)
end

return M
