-- Finds the Python interpreter of the host, and builds its command line.
local config = require("acp_nvim.config")
local environment = require("acp_nvim.host.environment")
local names = require("acp_nvim.names")

local M = {}

---@return string? python
---@return string where the path comes from, or why there is none
function M.find()
  local configured = config.get().python
  if configured then
    if vim.fn.executable(names.expanded(configured)) == 1 then
      return names.expanded(configured), "the option `python`"
    end
    return nil, ("the option `python` names %q, which cannot be run"):format(configured)
  elseif vim.fn.executable(environment.python()) == 1 then
    return environment.python(), "the plugin's .venv"
  end
  local global = vim.g.python3_host_prog
  if type(global) == "string" and vim.fn.executable(names.expanded(global)) == 1 then
    return names.expanded(global), "g:python3_host_prog"
  end
  return nil, "its environment is not built"
end

---Returns why the environment has to be built before the host can start; nil when it need not, or cannot be.
---@return "missing"|"outdated"|nil
function M.unbuilt()
  local state = not config.get().python and environment.state() or "ready"
  if state == "ready" or M.find() and not vim.uv.fs_access(environment.root(), "W") then
    return nil -- a system package is read-only, and brings its Python
  end
  return state
end

---Returns the command that runs `main` of a module of the package. `-P` and `-E` keep modules in the working directory
---or in PYTHONPATH, such as a project's `anyio.py`, out of it. Agents still inherit PYTHONPATH.
function M.main_argv(python, module)
  local code = ("import sys; sys.path.insert(0, sys.argv[1]); from %s import main; main()"):format(module)
  return { python, "-P", "-E", "-c", code, environment.root() }
end

---Returns the command that runs the host.
function M.argv(python)
  return M.main_argv(python, "acp_nvim.start")
end

---Returns what the user can do when the host cannot run.
function M.advice()
  if config.get().python then
    return "Correct the option `python`, or remove it and type :AcpBuild. See :checkhealth acp_nvim."
  end
  return "Type :AcpBuild, or see :checkhealth acp_nvim."
end

---Explains why the host ended.
---@param tail string[] the last lines of its stderr
function M.explain(python, code, tail)
  local text = table.concat(tail, "\n")
  local missing = text:match("No module named '?([%w_.]+)")
  if missing then
    return ("the host needs the Python package %q: %s lacks it. %s"):format(missing, python, M.advice())
  elseif text:match("[Uu]nknown option:? %-P") then
    return ("the host needs Python 3.11: %s is older. %s"):format(python, M.advice())
  end
  local last = tail[#tail] and (" Its last output: " .. tail[#tail]) or ""
  return ("the host ended unexpectedly (exit code %d); the next command starts it again.%s"):format(code, last)
end

return M
