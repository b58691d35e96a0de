-- Lists the actions for a session, and runs them.
local agents = require("acp_nvim.config.agents")
local client = require("acp_nvim.sessions.client")
local dialog = require("acp_nvim.kernel.dialog")
local kept_sessions = require("acp_nvim.sessions.kept")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local question = require("acp_nvim.host.question")
local session_closing = require("acp_nvim.sessions.closing")

local M = {}

---@class acp.SessionWay
---@field id string "show", "go_on", "load", "look", "new", "fork", "rename", "archive", "unarchive", "close" or
---"delete"
---@field words string
---@field transcript? string id of the transcript to show

---@param entry acp.SessionEntry with an id at the agent
---@param offers? table<string, true> of its agent; nil: unknown
---@return acp.SessionWay[] that continue the session
local function continuations(entry, offers)
  local ways, is_kept = {}, #entry.kept > 0
  local may = offers or { resume = true, load = true }
  if entry.archived then -- the agent continues it only when it is not archived any more
    return { { id = "unarchive", words = "not archived any more: list it again" } }
  end
  if is_kept and (may.resume or may.load) then
    table.insert(ways, { id = "go_on", words = "continue" })
    if offers and offers.load then
      table.insert(ways, { id = "load", words = ("continue, with the version of %s"):format(entry.agent) })
    end
  elseif may.load then
    table.insert(ways, { id = "load", words = "continue" })
  elseif may.resume then
    table.insert(ways, { id = "go_on", words = "continue; earlier messages are not shown" })
  end
  return ways
end

---@param offers? table<string, true> of its agent; nil: unknown
---@return acp.SessionWay[] the most usual first
local function ways_of(entry, offers)
  local is_startable, is_kept = agents.problem(entry.agent) == nil, #entry.kept > 0
  local ways = {}
  local function add(id, words, transcript)
    table.insert(ways, { id = id, words = words, transcript = transcript })
  end
  if entry.session then
    add("show", "go to it")
  elseif entry.session_id and is_startable then
    ways = continuations(entry, offers)
  end
  for index, one in ipairs(entry.session and {} or entry.kept) do
    local words = "view the stored conversation"
    add("look", index > 1 and ("%s until %s"):format(words, question.time_of(one.updated)) or words, one.id)
  end
  local at_agent = entry.session_id and is_startable and offers or {}
  if at_agent.fork and not entry.archived then
    add("fork", "fork: another session with the conversation so far")
  end
  if not entry.session and is_kept and is_startable then
    add("new", "new session, with the stored conversation in the chat")
  end
  if at_agent.rename then
    add("rename", "rename ...")
  end
  if at_agent.archive and not entry.archived then
    add(
      "archive",
      ("archive: %s lists it no more"):format(entry.agent) .. (entry.session and "; its chat is closed" or "")
    )
  end
  if entry.session then
    add("close", "close")
  end
  if is_kept or (entry.session_id and offers and offers.delete) then
    add("delete", "delete ...")
  end
  return ways
end

---@param beginning acp.message.Resume
local function begin(entry, beginning)
  local transcript = not beginning.source and entry.kept[1] and entry.kept[1].id or nil
  beginning = vim.tbl_extend("error", beginning, { transcript = transcript })
  return client.begin(entry.agent, entry.cwd, beginning, entry.title)
end

---What the actions do; those that begin a session return it, if it has begun.
---@type table<string, fun(entry: acp.SessionEntry, way: acp.SessionWay, opts: { query?: string, offers?: table }): acp.Session?>
local actions = {
  show = function(entry)
    client.show(entry.session)
  end,
  go_on = function(entry)
    return begin(entry, { session_id = entry.session_id, how = "go_on" })
  end,
  load = function(entry)
    return begin(entry, { session_id = entry.session_id, how = "load" })
  end,
  look = function(entry, way, opts)
    for _, one in ipairs(entry.kept) do
      if one.id == way.transcript or not way.transcript then
        return kept_sessions.show(one, opts.query or "")
      end
    end
  end,
  new = function(entry)
    return begin(entry, {})
  end,
  fork = function(entry)
    local source = entry.session and entry.session.key or nil
    begin(entry, { session_id = entry.session_id, how = "fork", source = source })
  end,
  rename = function(entry)
    session_closing.rename(entry)
  end,
  archive = function(entry)
    session_closing.archive(entry, true)
  end,
  unarchive = function(entry)
    session_closing.archive(entry, false)
  end,
  close = function(entry)
    session_closing.close(entry.session)
  end,
  delete = function(entry, _, opts)
    session_closing.delete(entry, opts.offers or {})
  end,
}

---@param way acp.SessionWay
---@param opts { query?: string, offers?: table<string, true> }
---@return acp.Session? that the action has begun
local function run(entry, way, opts)
  local act = actions[way.id]
  if not act then
    return message.error(("there is no action %q for sessions"):format(tostring(way.id)))
  elseif (way.id == "show" or way.id == "close") and not entry.session then
    return message.error("this session is not open")
  end
  return act(entry, way, opts)
end

---@param use fun(offers: table<string, true>?) called with what the agent can do with sessions; nil: it has not run yet
local function with_offers(agent, use)
  question.agents(function(known)
    local offers
    for _, offer in ipairs(known[agent] and known[agent].offers or {}) do
      offers = offers or {}
      offers[offer] = true
    end
    use(offers or known[agent] and {} or nil)
  end)
end

---Forks an open session: starts another one that begins with the same conversation.
function M.fork(session)
  with_offers(session.agent, function(offers)
    if offers and not offers.fork then
      return message.error(("%s cannot fork sessions"):format(session.agent))
    end
    local entry = { agent = session.agent, cwd = session.cwd, session = session, kept = {}, updated = 0 }
    entry.session_id, entry.title = session.status.session_id, session.status.title
    run(entry, { id = "fork", words = "" }, {})
  end)
end

---Lists the actions for a session, as far as the offers of its agent are known.
---@param use fun(ways: acp.SessionWay[])
function M.ways(entry, use)
  with_offers(entry.agent, function(offers)
    use(ways_of(entry, offers))
  end)
end

---Runs an action.
---@param way acp.SessionWay
function M.go_with_offers(entry, way)
  with_offers(entry.agent, function(offers)
    run(entry, way, { offers = offers })
  end)
end

local CONTINUES = { "go_on", "load", "new" }

---Continues a session that is not open, in the most usual way.
---@param on_begin fun() called if it has begun
function M.continue(entry, on_begin)
  with_offers(entry.agent, function(offers)
    local way = vim.iter(ways_of(entry, offers)):find(function(one)
      return vim.list_contains(CONTINUES, one.id)
    end)
    if not way then
      message.warn(("%s cannot continue this conversation"):format(entry.agent))
    elseif run(entry, way, { offers = offers }) then
      on_begin()
    end
  end)
end

---Lets the user choose an action.
---@param query? string that was searched for
function M.choose(entry, query)
  local on_answer = late.wait()
  with_offers(entry.agent, function(offers)
    local ways = ways_of(entry, offers)
    if #ways == 0 then
      return message.warn(
        ("nothing can be done with this session: %s"):format(agents.problem(entry.agent) or "nothing is stored")
      )
    end
    on_answer(function()
      dialog.select(ways, {
        prompt = question.title(entry),
        kind = "acp_session_way",
        format_item = function(way)
          return way.words
        end,
      }, function(way)
        if way then
          run(entry, way, { query = query, offers = offers })
        end
      end)
    end, "what can be done with the session is listed: choose the session again")
  end)
end

return M
