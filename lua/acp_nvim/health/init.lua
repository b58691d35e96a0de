-- Implements :checkhealth acp_nvim.
local agents = require("acp_nvim.health.agents")
local config = require("acp_nvim.config")
local environment = require("acp_nvim.host.environment")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.kernel.log")
local python = require("acp_nvim.host.python")
local state_files = require("acp_nvim.kernel.state_files")
local version = require("acp_nvim.host.version")

local M = {}

local health = vim.health

-- prints names with versions, and in other lines what is wrong with the Python
local PROBE = [[
import sys
print("python", "%d.%d.%d" % sys.version_info[:3])
sys.path.insert(0, sys.argv[1])
from acp_nvim import pythons
print(*pythons.shortcomings(), sep="\n")
from importlib import metadata
for name in ("pynvim", "anyio", "msgspec", "unidiff", "tree-sitter", "tree-sitter-bash"):
    try:
        print(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        print(name, "unreleased" if pythons.newness() and name.startswith("tree-sitter") else "missing")
]]

local MERGE_NEEDS = "2.20"
local WORKTREES = "worktrees"
local WITHOUT_GIT = "When you and the agent have changed the same file, the changes cannot be merged: "
  .. "your text stays, and the agent is told to read the file again."

local function check_neovim()
  health.start("acp_nvim: Neovim")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok(("Neovim %s, acp_nvim %s"):format(tostring(vim.version()), version))
  else
    health.error("Neovim is older than 0.11", { "Install Neovim 0.11 or newer." })
  end
end

local function check_options()
  health.start("acp_nvim: options")
  local is_valid = true
  for from, problems in vim.spairs(config.problems()) do
    for _, problem in ipairs(problems) do
      is_valid = false
      health.warn(("%s, ignored: %s"):format(from, problem), { "Correct it: |acp_nvim-options|." })
    end
  end
  if is_valid then
    health.ok("all options that you set are valid")
  end
end

---@return string? program that can run the host
local function check_python()
  health.start("acp_nvim: Python host")
  local advice = { python.advice() }
  local program, where = python.find()
  if not program then
    health.error("no Python for the host: " .. where, advice)
    return
  end
  health.ok(("%s (%s)"):format(program, where))
  if python.unbuilt() == "outdated" then
    health.warn("the plugin needs other Python packages since its environment was built", advice)
  end
  local ok, result = pcall(function()
    local options = { text = true, cwd = vim.uv.os_tmpdir() }
    return vim.system({ program, "-P", "-E", "-c", PROBE, environment.root() }, options):wait(limits.health_ms)
  end)
  if not ok or result.code ~= 0 then
    local why = ok and vim.trim(result.stderr or "") or tostring(result)
    if why:match("[Uu]nknown option:? %-P") then
      why = "it is older than Python 3.11"
    end
    health.error("this Python could not be run: " .. (why ~= "" and why or "no answer in time"), advice)
    return
  end
  for line in result.stdout:gmatch("[^\n]+") do
    local name, found = line:match("^(%S+) (%S+)$")
    if not name then
      health.warn(line, { "Name another Python with g:python3_host_prog, and type :AcpBuild." })
    elseif found == "unreleased" then
      health.warn(("the Python package %s is not released for this Python"):format(name))
    elseif found == "missing" then
      health.error(("the Python package %s is missing"):format(name), advice)
    elseif name == "python" and vim.version.lt(found, "3.11") then
      health.error(("Python %s is older than 3.11"):format(found), advice)
    else
      health.ok(("%s %s"):format(name, found))
    end
  end
  return program
end

local function check_protocol()
  health.start("acp_nvim: protocol")
  local options = config.get()
  health.info(
    options.protocol.v2 and "version 2 (a Preview) with agents that speak it, else version 1 (protocol.v2 is on)"
      or "version 1 (protocol.v2 is off)"
  )
  health.info("log: " .. log.path())
  health.info(
    options.log.traffic
        and "recordings of all agent connections are written into " .. log.traffic() .. " (log.traffic is on)"
      or "agent connections are not recorded (log.traffic is off)"
  )
end

local function check_git()
  local problem, found = "git was not found", nil
  if vim.fn.executable("git") == 1 then
    local ok, result = pcall(function()
      return vim.system({ "git", "--version" }, { text = true, cwd = vim.uv.os_tmpdir() }):wait(limits.health_ms)
    end)
    found = ok and result.code == 0 and result.stdout:match("^git version (%d+%.%d[^\n]*)")
    local why = ok and vim.trim(result.stderr or "") or tostring(result)
    problem = "git does not report its version: " .. (why ~= "" and why or "no answer that can be read")
  end
  if found and not vim.version.lt(found:match("^%d+%.%d+"), MERGE_NEEDS) then
    health.ok(("git %s: your unsaved edits are merged with what the agent writes"):format(found))
    return
  elseif found then
    problem = ("git %s is older than %s"):format(found, MERGE_NEEDS)
  end
  health.warn(problem, { WITHOUT_GIT, ("Install git %s or newer."):format(MERGE_NEEDS) })
end

---@param name string for stdpath()
local function check_directory(name)
  local path = vim.fn.stdpath(name) --[[@as string]]
  pcall(vim.fn.mkdir, path, "p")
  -- writes a file, since permissions do not show full and read-only disks
  local descriptor, probe = vim.uv.fs_mkstemp(path .. "/acp_nvim-health-XXXXXX")
  if not descriptor then
    local advice = ("Make it a directory that you may write, or set $XDG_%s_HOME."):format(name:upper())
    local why = probe:gsub("[: ]*$", "") -- the name of the file is missing at its end
    health.error(("the %s directory cannot be written: %s: %s"):format(name, path, why), { advice })
    return
  end
  local written, why = vim.uv.fs_write(descriptor, "x")
  vim.uv.fs_close(descriptor)
  vim.uv.fs_unlink(probe)
  if written then
    health.ok(("%s directory: %s"):format(name, path))
  else
    health.error(("the %s directory cannot be written: %s: %s"):format(name, path, why), { "Make room on its disk." })
  end
end

---@return integer bytes of all files in the state directory, without worktrees, which are the user's
---@return boolean all false when the time was too short
local function size_of_state(root)
  local deadline, bytes = vim.uv.hrtime() + limits.health_ms * 1e6, 0
  local function is_ours(directory)
    return directory ~= WORKTREES
  end
  for name, kind in vim.fs.dir(root, { depth = math.huge, skip = is_ours }) do
    if kind ~= "directory" then
      bytes = bytes + (vim.uv.fs_lstat(vim.fs.joinpath(root, name)) or { size = 0 }).size
    end
    if vim.uv.hrtime() > deadline then
      return bytes, false
    end
  end
  return bytes, true
end

---Reports the size of the state directory, and how to clean it.
local function check_state()
  local root = state_files.root()
  local bytes, all = size_of_state(root)
  local limit = config.get().state.megabytes * 1e6
  local words = ("%s%.0f MB of at most %.0f MB are kept in %s"):format(
    all and "" or "more than ",
    bytes / 1e6,
    limit / 1e6,
    root
  )
  local workspaces = vim.fs.joinpath(root, "workspaces")
  local advice = {
    "What is too much is removed when the next session begins, except what is in use or left to review.",
    ("To clean by hand, quit all Neovims and delete directories in %s: all that can be restored and reviewed of their projects goes with them."):format(
      workspaces
    ),
    "The limit is the option state.megabytes.",
  }
  if bytes > limit then
    health.warn(words, advice)
  else
    health.ok(words .. " (state.megabytes). To clean by hand: |acp_nvim-state|")
  end
end

---Checks everything.
function M.check()
  check_neovim()
  check_options()
  agents.check(check_python())
  check_protocol()
  health.start("acp_nvim: files")
  check_git()
  check_directory("state")
  check_directory("cache")
  check_state()
end

return M
