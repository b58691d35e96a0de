-- The bodies of :AcpLogin and :AcpLogout.
local agents = require("acp_nvim.agents")
local command_line_window = require("acp_nvim.windows.command_line")
local login = require("acp_nvim.login")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

---@param words string[]
---@param lead string
---@return string[]
local function beginning(words, lead)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line, "%s+", { trimempty = true })
  local given = #words - 1 - (lead ~= "" and 1 or 0)
  if given == 0 then
    return beginning(agents.names(), lead)
  end
  return given == 1 and words[1]:find("Login", 1, true) and beginning(login.methods(words[2]), lead) or {}
end

---@param name? string
---@return string? agent nil when there is none of that name, which is said
local function agent_of(name)
  local session = sessions.current()
  local waiting = sessions.last_used(function(one)
    return one.status.sign_in ~= nil
  end)
  local here = session and session.status.sign_in and session
  local agent = name or (here or waiting or session or {}).agent or agents.default()
  local problem = agents.problem(agent)
  if problem then
    message.error(problem)
    return nil
  end
  return agent
end

---@param args acp.CommandArgs
function M.login(args)
  local name, method = unpack(vim.split(args.args, "%s+", { trimempty = true }))
  local agent = not command_line_window.refuses() and agent_of(name)
  if agent and args.bang then
    login.cancel(agent)
  elseif agent then
    login.ask(agent, method)
  end
end

---@param args acp.CommandArgs
function M.logout(args)
  local agent = agent_of(args.args ~= "" and args.args or nil)
  if agent then
    login.out(agent)
  end
end

return M
