-- The part of :checkhealth about agents: each one that is configured is started, asked who it is, and ended again.
local agents = require("acp_nvim.agents")
local catalogue = require("acp_nvim.agents.catalogue")
local config = require("acp_nvim.config")
local python = require("acp_nvim.host.python")

local M = {}

-- How long :checkhealth waits for all agents that it starts; each has less (the host's CHECKUP_...)
local HEALTH_AGENTS_MS = 38000

local health = vim.health

---@class acp.Checkup what the host's `checkup` says of one agent
---@field name string
---@field seconds number until it had answered `initialize`
---@field problem? string
---@field next_step? string
---@field detail string[]
---@field program? string
---@field protocol? integer
---@field can string[]
---@field methods string[]
---@field signed_in? boolean
---@field why? string
---@field hint? string

---@return string[] names of the agents to look at
local function wanted()
  local names = vim.tbl_keys(config.get().agents)
  local default = agents.default()
  if default ~= "demo" and not vim.list_contains(names, default) then
    names[#names + 1] = default
  end
  table.sort(names)
  return names
end

---@param name string
---@return boolean can be started; else that is said
local function is_here(name)
  local configured, bundled = config.get().agents[name] or {}, catalogue[name]
  local prefix = configured.prefix and configured.prefix[1]
  local program = prefix or (configured.command or bundled and bundled.commands[1] or {})[1]
  if not program and name == "demo" then
    return true
  elseif not program then
    health.error(("default_agent: there is no agent called %q"):format(name))
    return false
  elseif agents.command_here(name) then
    return true
  end
  local advice = ("Install it, or correct agents.%s.%s in your configuration."):format(
    name,
    prefix and "prefix" or "command"
  )
  if bundled and not prefix then
    advice = ("To install it, type: %s (%s)"):format(bundled.install, bundled.url)
  end
  health.error(("%s: the command %q was not found"):format(name, program), { advice })
  return false
end

---@param names string[]
---@param program string the host's Python
---@return table<string, acp.Checkup> by name
---@return string? problem
local function examined(names, program)
  local request = { names = names, cwd = vim.fn.getcwd(), config = config.get() }
  local ok, result = pcall(function()
    local options = { stdin = vim.mpack.encode(request), text = true, cwd = vim.uv.os_tmpdir() }
    return vim.system(python.main_argv(program, "acp_nvim.checkup"), options):wait(HEALTH_AGENTS_MS)
  end)
  if not ok then
    return {}, tostring(result)
  end
  local found = {}
  for line in (result.stdout or ""):gmatch("[^\n]+") do
    local good, one = pcall(vim.json.decode, line, { luanil = { object = true } })
    if good and type(one) == "table" and one.name then
      found[one.name] = one
    end
  end
  return found, result.code ~= 0 and vim.trim(result.stderr or "") or nil
end

---@param name string
---@return string where it is started from
local function place(name)
  local configured = config.get().agents[name] or {}
  local command = agents.command_here(name)
  local program = command and vim.fn.exepath(command[1]) or "bundled"
  local behind = configured.prefix and configured.prefix[1] and "behind " .. table.concat(configured.prefix, " ")
  return behind or program
end

---@param one acp.Checkup
local function report_sign_in(one)
  if one.signed_in then
    health.ok(("%s: signed in, or needs no sign-in: it opens a session"):format(one.name))
  elseif one.signed_in == false then
    local advice = { (":AcpChat %s, then :AcpLogin"):format(one.name) }
    if #one.methods > 0 then
      advice[1] = ("%s: %s"):format(advice[1], table.concat(one.methods, ", "))
    end
    advice[2] = one.hint
    health.warn(("%s: not signed in (%s)"):format(one.name, one.why), advice)
  else
    health.warn(("%s: opens no session: %s"):format(one.name, one.why), { one.hint })
  end
end

---@param name string
---@param one? acp.Checkup
local function report(name, one)
  if not one then
    health.error(("%s: it could not be examined in time"):format(name))
  elseif one.problem then
    health.error(("%s: %s"):format(name, one.problem), vim.list_extend({ one.next_step }, one.detail))
  else
    local words = "%s: %s, ACP version %d, answered in %.1f s (%s)"
    health.ok(
      words:format(name, one.program ~= "" and one.program or "no name", one.protocol, one.seconds, place(name))
    )
    if #one.can > 0 then
      health.info(("%s can: %s"):format(name, table.concat(one.can, ", ")))
    end
    report_sign_in(one)
  end
end

---Those that come with the plugin and are not looked at.
---@param looked_at string[]
local function report_others(looked_at)
  local here, others = agents.found(), {}
  here = vim.tbl_filter(function(name)
    return not vim.list_contains(looked_at, name)
  end, here)
  for name in vim.spairs(catalogue) do
    if not vim.list_contains(here, name) and not vim.list_contains(looked_at, name) then
      others[#others + 1] = name
    end
  end
  if #here > 0 then
    health.info("on this machine, not configured, not started here: " .. table.concat(here, ", "))
  end
  health.info(("known, not on this machine: %s (:help acp_nvim-agents)"):format(table.concat(others, ", ")))
end

---@param program? string the host's Python, when it can be run
function M.check(program)
  health.start("acp_nvim: agents")
  local names = wanted()
  if #names == 0 then
    health.info("no agent is configured; :AcpChat starts the demo agent. See :help acp_nvim-agents.")
  end
  local here = vim.tbl_filter(is_here, names)
  if #here > 0 and not program then
    health.warn("agents are started by the host, which has no Python", { python.advice() })
  elseif #here > 0 then
    local found, problem = examined(here, program)
    for _, name in ipairs(here) do
      report(name, found[name])
    end
    if problem and vim.tbl_count(found) < #here then
      health.error("the agents could not be examined: " .. problem, { python.advice() })
    end
  end
  report_others(names)
end

return M
