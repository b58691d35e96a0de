-- Asks the host about sessions that are not open, and hands its answers to whoever asked.
local host = require("acp_nvim.host")

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
---@field session_id? string
---@field session? integer of the open one that this is the transcript of
---@field supersedes? string the transcript in which the same was kept before

---@class acp.ListedSession
---@field session_id string
---@field cwd string
---@field title? string
---@field updated? number seconds since 1970

---@class acp.KnownAgent
---@field agent string
---@field running boolean
---@field offers string[] of "list", "load", "resume", "fork", "close", "delete"

---@type table<integer, fun(event: acp.Event): boolean?> by the question; who returns true has heard all
local listeners = {}
local asked = 0

---@param listener fun(event: acp.Event): boolean?
---@return integer id of a question
function M.new(listener)
  asked = asked + 1
  listeners[asked] = listener
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

return M
