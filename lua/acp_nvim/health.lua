-- :checkhealth acp_nvim
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.log")
local python = require("acp_nvim.host.python")
local version = require("acp_nvim.version")

local M = {}

local health = vim.health

local PROBE = [[
import sys
print("python", "%d.%d.%d" % sys.version_info[:3])
from importlib import metadata
for name in ("pynvim", "anyio", "msgspec", "unidiff", "acp_nvim"):
    try:
        print(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        print(name, "missing")
]]

local function check_neovim()
  health.start("acp_nvim: Neovim")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok(("Neovim %s, acp_nvim %s"):format(tostring(vim.version()), version))
  else
    health.error("Neovim is older than 0.11", { "Install Neovim 0.11 or newer." })
  end
end

---@param name string
---@param found string
local function report_package(name, found)
  if found == "missing" then
    health.error(("the Python package %s is missing"):format(name), { python.advice() })
  elseif name == "python" and vim.version.lt(found, "3.11") then
    health.error(("Python %s is older than 3.11"):format(found), { python.advice() })
  elseif name == "acp_nvim" and found ~= version then
    health.error(("the package acp_nvim is %s, the Lua side is %s"):format(found, version), { python.advice() })
  else
    health.ok(("%s %s"):format(name, found))
  end
end

local function check_python()
  health.start("acp_nvim: Python host")
  local program, where = python.find(config.get().python)
  if not program then
    health.error("no Python for the host: " .. where, { python.advice() })
    return
  end
  health.ok(("%s (%s)"):format(program, where))
  local ok, result = pcall(function()
    local options = { text = true, cwd = vim.uv.os_tmpdir() }
    return vim.system({ program, "-P", "-E", "-c", PROBE }, options):wait(limits.health_ms)
  end)
  if not ok or result.code ~= 0 then
    local why = ok and vim.trim(result.stderr or "") or tostring(result)
    if why:match("[Uu]nknown option:? %-P") then
      why = "it is older than Python 3.11"
    end
    health.error("it could not be run: " .. (why ~= "" and why or "no answer in time"), { python.advice() })
    return
  end
  for name, found in result.stdout:gmatch("(%S+) (%S+)\n") do
    report_package(name, found)
  end
end

local function check_agents()
  health.start("acp_nvim: agents")
  local agents = config.get().agents
  if next(agents) == nil then
    health.info("no agent is configured; :AcpChat starts the demo agent. See :help acp_nvim-agents.")
  end
  for name, agent in vim.spairs(agents) do
    local program = agent.command[1]
    if vim.fn.executable(program) == 1 then
      health.ok(("%s: %s"):format(name, vim.fn.exepath(program)))
    else
      local advice = { ("Install it, or correct agents.%s.command in your configuration."):format(name) }
      health.error(("%s: the command %q was not found"):format(name, program), advice)
    end
  end
  local default = config.get().default_agent
  if default and not vim.list_contains(config.agent_names(), default) then
    health.error(("default_agent: there is no agent called %q"):format(default))
  end
end

local function check_protocol()
  health.start("acp_nvim: protocol")
  local options = config.get()
  if options.protocol.v2 then
    health.info("version 2 (a draft) with agents that speak it, else version 1 (protocol.v2 is on)")
  else
    health.info("version 1 (protocol.v2 is off)")
  end
  health.info("log: " .. log.path())
  if options.log.traffic then
    health.info("recordings of all agent connections are written into " .. log.traffic() .. " (log.traffic is on)")
  else
    health.info("agent connections are not recorded (log.traffic is off)")
  end
end

function M.check()
  check_neovim()
  check_python()
  check_agents()
  check_protocol()
end

return M
