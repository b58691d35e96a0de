-- Checks agents for :checkhealth: starts each configured agent, initializes it, and stops it.
local agents = require("acp_nvim.config.agents")
local catalogue = require("acp_nvim.config.catalogue")
local config = require("acp_nvim.config")
local from_home = require("acp_nvim.names").from_home
local python = require("acp_nvim.host.python")

local M = {}

local HEALTH_AGENTS_MS = 38000 -- for all agents; each has less (the host's CHECKUP_...)

local health = vim.health

---@class acp.Checkup result of the host's `checkup` for one agent
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
---@field account? string in words
---@field why? string
---@field hint? string how to sign in
---@field place? string where it listens
---@field remark? string what the chat would say of the process, or what to know of the place

---@return boolean the agent can be started; else the problem is reported
local function is_installed(name)
  local configured, bundled = config.get().agents[name] or {}, catalogue[name]
  local prefix = configured.prefix and configured.prefix[1]
  local program = prefix or (configured.command or bundled and bundled.commands[1] or {})[1]
  if agents.address(name) or (not program and name == "demo") then
    return true
  elseif not program then
    health.error(("default_agent: %s"):format(agents.problem(name)))
    return false
  elseif agents.command_here(name) then
    return true
  end
  local field = prefix and "prefix" or "command"
  local advice = ("Install it, or correct agents.%s.%s in your configuration."):format(name, field)
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
  local request = { names = names, cwd = vim.fn.getcwd(), config = config.to_send() }
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

---@param one? acp.Checkup
local function report(name, one)
  if not one then
    health.error(("%s: it did not answer in time"):format(name))
  elseif one.problem then
    health.error(("%s: %s"):format(name, one.problem), vim.list_extend({ one.next_step }, one.detail))
  else
    local prefix, command = (config.get().agents[name] or {}).prefix, agents.command_here(name)
    local place = command and vim.fn.exepath(from_home(command[1])) or "bundled"
    place = prefix and prefix[1] and "behind " .. table.concat(prefix, " ") or place
    local program = one.program ~= "" and one.program or "no name"
    local words = "%s: %s, ACP version %d, answered in %.1f s (%s)"
    health.ok(words:format(name, program, one.protocol, one.seconds, one.place or place))
    if one.remark and one.place then
      local advice = { "Set agents." .. name .. ".tls, or use an ssh tunnel." }
      health.warn(("%s: %s"):format(name, (one.remark:gsub("\n", " "))), advice)
    elseif one.remark then
      health.info(("%s: %s"):format(name, (one.remark:gsub("\n", " "))))
    end
    if #one.can > 0 then
      health.info(("%s can: %s"):format(name, table.concat(one.can, ", ")))
    end
    if one.account then
      health.info(("%s: account: %s"):format(name, one.account))
    end
    if one.signed_in then
      health.ok(("%s: signed in, or needs no sign-in: it opens a session"):format(name))
    elseif one.signed_in == false then
      local advice = { (":AcpChat %s, then :AcpLogin"):format(name), one.hint }
      if #one.methods > 0 then
        advice[1] = ("%s: %s"):format(advice[1], table.concat(one.methods, ", "))
      end
      health.warn(("%s: not signed in (%s)"):format(name, one.why), advice)
    else
      health.warn(("%s: opens no session: %s"):format(name, one.why), { one.hint })
    end
  end
end

---@param program? string the host's Python; nil when it cannot be run
function M.check(program)
  health.start("acp_nvim: agents")
  local names, default = vim.tbl_keys(config.get().agents), agents.default()
  if default ~= "demo" and not vim.list_contains(names, default) then
    names[#names + 1] = default
  end
  table.sort(names)
  if #names == 0 then
    health.info("no agent is configured; :AcpChat starts the demo agent. See :help acp_nvim-agents.")
  end
  local here = vim.tbl_filter(is_installed, names)
  if #here > 0 and not program then
    health.warn("agents are started by the host, which has no Python", { python.advice() })
  elseif #here > 0 then
    local found, problem = examined(here, program)
    for _, name in ipairs(here) do
      report(name, found[name])
    end
    if problem and vim.tbl_count(found) < #here then
      health.error("the agents could not be checked: " .. problem, { python.advice() })
    end
  end
  local found, installed, missing = agents.found(), {}, {}
  for name in vim.spairs(catalogue) do
    if not vim.list_contains(names, name) then
      table.insert(vim.list_contains(found, name) and installed or missing, name)
    end
  end
  if #installed > 0 then
    health.info("on this machine, but not configured, and therefore not checked: " .. table.concat(installed, ", "))
  end
  health.info(
    ("known agents that are not on this machine: %s (:help acp_nvim-agents)"):format(table.concat(missing, ", "))
  )
end

return M
