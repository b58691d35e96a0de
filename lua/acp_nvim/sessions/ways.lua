-- What can be done with a session: which ways there are, and going them.
local agents = require("acp_nvim.agents")
local client = require("acp_nvim.host.client")
local kept_sessions = require("acp_nvim.sessions.kept")
local message = require("acp_nvim.message")
local question = require("acp_nvim.sessions.question")
local session_closing = require("acp_nvim.sessions.closing")
local session_entries = require("acp_nvim.sessions.entries")

local M = {}

---@class acp.SessionWay
---@field id string "show", "go_on", "load", "look", "new", "fork", "close" or "delete"
---@field words string
---@field transcript? string that is looked at

---@param entry acp.SessionEntry
---@param offers? table<string, true> nil: nobody knows
---@return acp.SessionWay[]
local function ways_at_agent(entry, offers)
  local ways, is_kept = {}, #entry.kept > 0
  local may = offers or { resume = true, load = true }
  if is_kept and (may.resume or may.load) then
    table.insert(ways, { id = "go_on", words = "go on with it" })
    if offers and offers.load then
      table.insert(ways, { id = "load", words = ("go on with it, as %s tells it"):format(entry.agent) })
    end
  elseif may.load then
    table.insert(ways, { id = "load", words = "go on with it" })
  elseif may.resume then
    table.insert(ways, { id = "go_on", words = "go on with it; what was said is not shown" })
  end
  return ways
end

---@param entry acp.SessionEntry
---@return acp.SessionWay[]
local function ways_to_look(entry)
  local ways = {}
  for index, one in ipairs(entry.kept) do
    local words = "look at what is kept of it"
    if index > 1 then
      words = ("%s until %s"):format(words, session_entries.time_of(one.updated))
    end
    table.insert(ways, { id = "look", words = words, transcript = one.id })
  end
  return ways
end

---What can be done with it, what people want most often first.
---@param entry acp.SessionEntry
---@param offers? table<string, true> of its agent; nil: nobody knows
---@return acp.SessionWay[]
function M.list(entry, offers)
  local is_startable = agents.problem(entry.agent) == nil
  local ways = entry.session and { { id = "show", words = "go to it" } } or {}
  if not entry.session then
    if entry.session_id and is_startable then
      vim.list_extend(ways, ways_at_agent(entry, offers))
    end
    vim.list_extend(ways, ways_to_look(entry))
  end
  if entry.session_id and is_startable and offers and offers.fork then
    table.insert(ways, { id = "fork", words = "fork it: another session that begins with what was said" })
  end
  if not entry.session and #entry.kept > 0 and is_startable then
    table.insert(ways, { id = "new", words = "begin a new session, with what is kept in sight" })
  end
  if entry.session then
    table.insert(ways, { id = "close", words = "close it" })
  end
  if #entry.kept > 0 or (entry.session_id and offers and offers.delete) then
    table.insert(ways, { id = "delete", words = "delete it ..." })
  end
  return ways
end

---@param entry acp.SessionEntry
---@param beginning acp.SessionBeginning
local function begin(entry, beginning)
  local transcript = not beginning.source and entry.kept[1] and entry.kept[1].id or nil
  beginning = vim.tbl_extend("error", beginning, { transcript = transcript })
  return client.begin(entry.agent, entry.cwd, beginning, entry.title)
end

---@type table<string, fun(entry: acp.SessionEntry, way: acp.SessionWay, opts: { query?: string, offers?: table })>
local actions = {
  show = function(entry)
    client.show(entry.session)
  end,
  go_on = function(entry)
    begin(entry, { session_id = entry.session_id, how = "go_on" })
  end,
  load = function(entry)
    begin(entry, { session_id = entry.session_id, how = "load" })
  end,
  look = function(entry, way, opts)
    for _, one in ipairs(entry.kept) do
      if one.id == way.transcript or not way.transcript then
        return kept_sessions.show(one, opts.query or "")
      end
    end
  end,
  new = function(entry)
    begin(entry, {})
  end,
  fork = function(entry)
    local source = entry.session and entry.session.key or nil
    begin(entry, { session_id = entry.session_id, how = "fork", source = source })
  end,
  close = function(entry)
    session_closing.close(entry.session)
  end,
  delete = function(entry, _, opts)
    session_closing.delete(entry, opts.offers or {})
  end,
}

---Goes a way.
---@param entry acp.SessionEntry
---@param way acp.SessionWay
---@param opts? { query?: string, offers?: table<string, true> }
function M.go(entry, way, opts)
  local act = actions[way.id]
  if not act then
    return message.error(("nothing is called %q that could be done with a session"):format(tostring(way.id)))
  elseif (way.id == "show" or way.id == "close") and not entry.session then
    return message.error("this session is not open")
  end
  act(entry, way, opts or {})
end

---@param agent string
---@param use fun(offers: table<string, true>?) of it; nil: it has not run yet
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

---Forks an open session: another one, which begins with what was said.
---@param session acp.Session
function M.fork(session)
  with_offers(session.agent, function(offers)
    if offers and not offers.fork then
      return message.error(("%s cannot fork sessions"):format(session.agent))
    end
    local entry = { agent = session.agent, cwd = session.cwd, session = session, kept = {}, updated = 0 }
    entry.session_id, entry.title = session.status.session_id, session.status.title
    M.go(entry, { id = "fork", words = "" })
  end)
end

---What can be done with it, as far as it is known.
---@param entry acp.SessionEntry
---@param use fun(ways: acp.SessionWay[])
function M.ways(entry, use)
  with_offers(entry.agent, function(offers)
    use(M.list(entry, offers))
  end)
end

---@param entry acp.SessionEntry
---@param way acp.SessionWay
function M.go_with_offers(entry, way)
  with_offers(entry.agent, function(offers)
    M.go(entry, way, { offers = offers })
  end)
end

---Lets the user choose what is done with it.
---@param entry acp.SessionEntry
---@param query? string that was looked for
function M.choose(entry, query)
  with_offers(entry.agent, function(offers)
    local ways = M.list(entry, offers)
    if #ways == 0 then
      return message.warn(("nothing can be done with it: %s"):format(agents.problem(entry.agent) or "nothing is kept"))
    end
    vim.ui.select(ways, {
      prompt = session_entries.title(entry),
      kind = "acp_session_way",
      format_item = function(way)
        return way.words
      end,
    }, function(way)
      if way then
        M.go(entry, way, { query = query, offers = offers })
      end
    end)
  end)
end

return M
