-- Lets the user choose among the sessions that are open and the conversations that are kept.
local client = require("acp_nvim.client")
local host = require("acp_nvim.host")
local kept_sessions = require("acp_nvim.kept_sessions")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

---@class acp.FoundSession
---@field id string
---@field agent string
---@field cwd string
---@field started number
---@field updated number
---@field title? string
---@field prompt? string
---@field snippet? string
---@field session? integer of the open one that this is the transcript of

---@class acp.SessionChoice
---@field session? acp.Session
---@field found? acp.FoundSession
---@field updated number

---@type { id: integer, query: string, found: acp.FoundSession[] }?
local question
local asked = 0

---@param text string?
---@return string
local function one_line(text)
  return (vim.trim(text or ""):gsub("%s+", " "):gsub("%c", " "))
end

---@param seconds number since 1970
---@return string
local function time_of(seconds)
  local today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", seconds)
  return os.date(today and "today %H:%M" or "%Y-%m-%d %H:%M", seconds) --[[@as string]]
end

---@param choice acp.SessionChoice
---@return string
local function words(choice)
  local session, found = choice.session, choice.found or {}
  local title = session and session.status.title or found.title or found.prompt
  local parts = {
    session and "open" or time_of(choice.updated),
    one_line(session and session.agent or found.agent),
    vim.fn.fnamemodify(session and session.cwd or found.cwd or "", ":~"),
    vim.fn.strcharpart(one_line(title), 0, limits.list_columns),
  }
  if found.snippet then
    table.insert(parts, one_line(found.snippet))
  end
  return table.concat(
    vim.tbl_filter(function(part)
      return part ~= ""
    end, parts),
    " · "
  )
end

---@param found acp.FoundSession[]
---@param query string
---@return acp.SessionChoice[] those that are open first, then the newest
local function choices(found, query)
  local list, open = {}, {}
  for _, one in ipairs(found) do
    local session = one.session and sessions.get(one.session)
    if session then
      open[session.key] = { session = session, found = one, updated = math.huge }
    else
      table.insert(list, { found = one, updated = one.updated })
    end
  end
  for _, session in ipairs(sessions.all()) do
    if not session.kept and (query == "" or open[session.key]) then
      open[session.key] = open[session.key] or { session = session, updated = math.huge }
      table.insert(list, open[session.key])
    end
  end
  table.sort(list, function(a, b)
    if a.session and b.session then
      return a.session.used > b.session.used
    end
    return a.updated > b.updated
  end)
  return list
end

---@param choice acp.SessionChoice
---@param query string
local function go(choice, query)
  if choice.session then
    client.show(choice.session)
  else
    kept_sessions.show(choice.found, query)
  end
end

---@param list acp.SessionChoice[]
---@param query string
local function choose(list, query)
  if #list == 0 then
    local nothing = query == "" and "no conversations are kept yet" or ("%q was said in no conversation"):format(query)
    return message.info(nothing)
  end
  vim.ui.select(list, {
    prompt = query == "" and "Sessions" or ("Sessions with %q"):format(query),
    kind = "acp_session",
    format_item = words,
  }, function(choice)
    if choice then
      go(choice, query)
    end
  end)
end

---The host has found some.
---@param event acp.Event of type sessions_found
function M.found(event)
  if not question or event.id ~= question.id then
    return
  end
  vim.list_extend(question.found, event.found or {})
  if event.done then
    local done = question
    question = nil
    choose(choices(done.found, done.query), done.query)
  end
end

---@param args acp.CommandArgs
function M.command(args)
  asked = asked + 1
  question = { id = asked, query = vim.trim(args.args), found = {} }
  host.send("sessions_find", { id = asked, query = question.query })
end

return M
