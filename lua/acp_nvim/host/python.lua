-- Finds the Python interpreter of the host, and builds its command line.
local M = {}

local PACKAGE = "acp_nvim/__init__.py"
local WINDOWS = vim.fn.has("win32") == 1

---Returns the directory that has the Python package. LuaRocks installs Lua modules elsewhere; then 'runtimepath' has it.
---@return string root of the plugin
function M.root()
  local here = debug.getinfo(1, "S").source:sub(2)
  local root = vim.fn.fnamemodify(here, ":p:h:h:h:h")
  if not vim.uv.fs_stat(root .. "/" .. PACKAGE) then
    local found = vim.api.nvim_get_runtime_file(PACKAGE, false)[1]
    root = found and vim.fn.fnamemodify(found, ":p:h:h") or root
  end
  return root
end

local function venv_python()
  return M.root() .. (WINDOWS and "/.venv/Scripts/python.exe" or "/.venv/bin/python")
end

---@param configured? string the option `python`
---@return string? python
---@return string where the path comes from, or why there is none
function M.find(configured)
  if configured then
    if vim.fn.executable(vim.fn.expand(configured)) == 1 then
      return vim.fn.expand(configured), "the option `python`"
    end
    return nil, ("the option `python` names %q, which cannot be run"):format(configured)
  elseif vim.fn.executable(venv_python()) == 1 then
    return venv_python(), "the plugin's .venv"
  end
  local global = vim.g.python3_host_prog
  if type(global) == "string" and vim.fn.executable(vim.fn.expand(global)) == 1 then
    return vim.fn.expand(global), "g:python3_host_prog"
  end
  return nil, ("there is no %s, and neither the option `python` nor g:python3_host_prog is set"):format(venv_python())
end

---Returns the command that runs `main` of a module of the package. `-P` and `-E` keep modules in the working directory
---or in PYTHONPATH, such as a project's `anyio.py`, out of it. Agents still inherit PYTHONPATH.
function M.main_argv(python, module)
  local code = ("import sys; sys.path.insert(0, sys.argv[1]); from %s import main; main()"):format(module)
  return { python, "-P", "-E", "-c", code, M.root() }
end

---Returns the command that runs the host.
function M.argv(python)
  return M.main_argv(python, "acp_nvim.start")
end

---Returns what the user can do when the host cannot run.
function M.advice()
  return ("Type `make setup` in %s, or see :checkhealth acp_nvim."):format(M.root())
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
  local last = tail[#tail] and (" Its last words: " .. tail[#tail]) or ""
  return ("the host ended unexpectedly (exit code %d); the next command starts it again.%s"):format(code, last)
end

return M
