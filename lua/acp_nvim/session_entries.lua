-- Makes one list of the sessions that are open, those that agents keep, and the conversations that are kept here.
local limits = require("acp_nvim.limits")

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

---@param agent string
---@param session_id string
---@return string
local function name_of(agent, session_id)
  return agent .. "\0" .. session_id
end

---@class acp.EntryList
---@field entries acp.SessionEntry[]
---@field by_name table<string, acp.SessionEntry>

---@param list acp.EntryList
---@param agent string
---@param cwd string
---@param session_id? string that an agent may give again after it was restarted: the first has the name
---@return acp.SessionEntry
local function new_entry(list, agent, cwd, session_id)
  local entry = { agent = agent, cwd = cwd, session_id = session_id, kept = {}, updated = 0 }
  table.insert(list.entries, entry)
  local name = session_id and name_of(agent, session_id)
  if name and not list.by_name[name] then
    list.by_name[name] = entry
  end
  return entry
end

---@param list acp.EntryList
---@param open acp.Session[]
---@return table<integer, acp.SessionEntry> by the session's key
local function add_open(list, open)
  local by_key = {}
  for _, session in ipairs(open) do
    local entry = new_entry(list, session.agent or "", session.cwd, session.status.session_id)
    entry.session, entry.title = session, session.status.title
    by_key[session.key] = entry
  end
  return by_key
end

---@param list acp.EntryList
---@param found acp.FoundSession[] the newest first
---@param by_key table<integer, acp.SessionEntry>
local function add_kept(list, found, by_key)
  ---@type table<string, acp.SessionEntry> by the transcript that was kept before
  local superseding = {}
  for _, one in ipairs(found) do
    local entry = superseding[one.id] or by_key[one.session] or new_entry(list, one.agent, one.cwd, one.session_id)
    table.insert(entry.kept, one)
    entry.title = entry.title or one.title or one.prompt
    entry.updated = math.max(entry.updated, one.updated)
    entry.snippet = entry.snippet or one.snippet
    if one.supersedes then
      superseding[one.supersedes] = entry
    end
  end
end

---@param list acp.EntryList
---@param agent string
---@param listed acp.ListedSession[]
local function add_listed(list, agent, listed)
  for _, one in ipairs(listed) do
    local entry = list.by_name[name_of(agent, one.session_id)] or new_entry(list, agent, one.cwd, one.session_id)
    entry.listed = true
    entry.title = entry.session and entry.title or one.title or entry.title
    entry.updated = math.max(entry.updated, one.updated or 0)
  end
end

---@param entry acp.SessionEntry
---@param query string in lower case
---@return boolean
local function has(entry, query)
  if query == "" or entry.snippet or #entry.kept > 0 then
    return true -- the host has looked into what is kept
  end
  for _, text in ipairs({ entry.title or "", entry.agent, entry.session_id or "" }) do
    if text:lower():find(query, 1, true) then
      return true
    end
  end
  return false
end

---@param one acp.SessionEntry
---@param other acp.SessionEntry
---@return boolean
local function comes_before(one, other)
  if one.session or other.session then
    return (one.session and one.session.used or 0) > (other.session and other.session.used or 0)
  end
  return one.updated > other.updated
end

---@param open acp.Session[]
---@param found acp.FoundSession[] the newest first
---@param listed table<string, acp.ListedSession[]> by agent
---@param query string
---@return acp.SessionEntry[] those that are open first, then the newest
function M.merged(open, found, listed, query)
  local list = { entries = {}, by_name = {} }
  add_kept(list, found, add_open(list, open))
  local agents = vim.tbl_keys(listed)
  table.sort(agents)
  for _, agent in ipairs(agents) do
    add_listed(list, agent, listed[agent])
  end
  local entries = vim.tbl_filter(function(entry)
    return has(entry, query:lower())
  end, list.entries)
  table.sort(entries, comes_before)
  return entries
end

---@param text string?
---@return string
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

---@param entry acp.SessionEntry
---@return string what it is called, on one line
function M.title(entry)
  local title = one_line(entry.title)
  return title ~= "" and vim.fn.strcharpart(title, 0, limits.list_columns) or one_line(entry.session_id)
end

---@param entry acp.SessionEntry
---@return string for a list
function M.words(entry)
  local parts = {
    entry.session and "open" or M.time_of(entry.updated),
    one_line(entry.agent),
    vim.fn.fnamemodify(entry.cwd, ":~"),
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
