-- Lists sessions, to choose one: open ones, those that agents keep, and the conversations kept here.
local agents = require("acp_nvim.config.agents")
local client = require("acp_nvim.sessions.client")
local dialog = require("acp_nvim.kernel.dialog")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local question = require("acp_nvim.host.question")
local session_arguments = require("acp_nvim.sessions.arguments")
local session_ways = require("acp_nvim.sessions.ways")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---A line of the list: a session, or an action that shows more sessions.
---@class acp.SessionLine
---@field words string
---@field entry? acp.SessionEntry
---@field act? fun()

---@type acp.SessionList? requested last by the user
local latest

---@return string[] agents whose programs are installed
local function startable()
  return vim.tbl_filter(agents.command_here, agents.names())
end

local choose

---Shows the list when agents have answered.
local function wait_for(list, agent)
  local on_answer = late.wait()
  message.info(("asking %s for its sessions ..."):format(agent))
  list.on_news = function()
    if latest ~= list or #list.waits > 0 or not list.is_ready then
      return
    end
    list.on_news = function() end
    on_answer(function()
      choose(list)
    end, list.problems[agent] or ("%s has sent its sessions: :AcpSessions agent:%s"):format(agent, agent))
  end
  list.on_news()
end

---@return acp.SessionLine[] below the sessions
local function more_lines(list)
  local lines = {}
  local function add(names, words, act)
    for _, name in ipairs(names) do
      local run = function()
        act(name)
      end
      table.insert(lines, { words = words:format(name), act = run })
    end
  end
  local function ask(name)
    question.more(list, name)
    wait_for(list, name)
  end
  add(list.more, "more sessions of %s ...", ask)
  add(list.waits, "%s has not answered yet: wait for it ...", function(name)
    wait_for(list, name)
  end)
  local failed = vim.tbl_keys(list.problems)
  table.sort(failed)
  add(failed, "%s could not tell its sessions: why?", function(name)
    message.error(list.problems[name])
  end)
  local function ask_another()
    local names = vim.tbl_filter(function(name)
      return not vim.list_contains(list.asked, name)
    end, startable())
    dialog.select(names, { prompt = "Ask which agent for its sessions?", kind = "acp_agent" }, function(name)
      if name then
        ask(name)
      end
    end)
  end
  if #startable() > 0 then
    table.insert(lines, { words = "ask an agent for its sessions ...", act = ask_another })
  end
  return lines
end

---@param list acp.SessionList
choose = function(list)
  local lines = vim.tbl_map(function(entry)
    return { words = question.words(entry), entry = entry }
  end, list.entries)
  local query = list.query
  if #lines == 0 and #list.waits == 0 and not next(list.problems) and #list.more == 0 then
    local nothing = query == "" and "no conversations are stored yet" or ("no conversation contains %q"):format(query)
    return message.info(nothing .. " (:AcpSessions agent:{name} asks an agent)")
  end
  dialog.select(vim.list_extend(lines, more_lines(list)), {
    prompt = query == "" and "Sessions" or ("Sessions with %q"):format(query),
    kind = "acp_session",
    format_item = function(line)
      return line.words
    end,
  }, function(line)
    if not line then
      return
    elseif line.act then
      line.act()
    elseif line.entry.session then
      client.show(line.entry.session)
    else
      session_ways.choose(line.entry, query)
    end
  end)
end

---@param opts { query?: string, agents?: string[], everywhere?: boolean, archived?: boolean }
---@param on_ready fun(list: acp.SessionList) called once, when only slow agents have not answered
---@return acp.SessionList?
local function when_ready(opts, on_ready)
  return question.list(opts, function(list)
    list.on_news = function() end
    on_ready(list)
  end)
end

---Implements :AcpSessions.
function M.command(args)
  local query, asked, archived = session_arguments.sessions(args.args)
  for _, name in ipairs(asked or {}) do
    local problem = agents.problem(name)
    if problem then
      return message.error(problem)
    end
  end
  local opts = { query = query, agents = asked, everywhere = args.bang, archived = archived }
  local on_answer = late.wait()
  latest = when_ready(opts, function(list)
    if latest == list and not asked then
      on_answer(function()
        choose(list)
      end, "the sessions are listed: type :AcpSessions again")
    end
  end)
  if latest and asked then
    wait_for(latest, asked[1])
  end
end

---@alias acp.OnSessions fun(entries: acp.SessionEntry[], more: string[], go_on: fun(agent: string))

---@param on_list acp.OnSessions
local function tell(list, on_list)
  local more = vim.list_extend(vim.list_slice(list.more), list.waits)
  table.sort(more)
  on_list(list.entries, more, function(agent)
    if vim.list_contains(list.more, agent) then
      question.more(list, agent)
    end
    list.on_news = function()
      if not vim.list_contains(list.waits, agent) then
        list.on_news = function() end
        tell(list, on_list)
      end
    end
    list.on_news()
  end)
end

---Lists sessions for other code.
---@param opts { text?: string, agents?: string[], everywhere?: boolean, archived?: boolean }
---@param on_list acp.OnSessions `more`: agents with another page, or without an answer; `go_on` waits for one of them
function M.list(opts, on_list)
  local asked = { query = opts.text, agents = opts.agents, everywhere = opts.everywhere, archived = opts.archived }
  when_ready(asked, function(list)
    tell(list, on_list)
  end)
end

---Lets the user choose an action for the session that is shown: an open one, or a kept conversation.
function M.actions()
  local session = sessions.current()
  if not session then
    return message.info("no session is open")
  end
  when_ready({ agents = {} }, function(list)
    local entry = vim.iter(list.entries):find(function(one)
      return one.session == session
        or vim.iter(session.kept and one.kept or {}):any(function(kept)
          return kept.id == session.kept
        end)
    end)
    if entry then
      session_ways.choose(entry, "")
    else
      message.warn("this conversation is no longer stored")
    end
  end)
end

return M
