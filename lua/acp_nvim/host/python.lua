-- Finds the Python of the host, and the environment that it gets.
local M = {}

-- Once Neovim goes, what is still to be written is; nothing else is worth waiting for: Python would wait for idle
-- threads, and Neovim, for 2 s, for Python.
local HOST = [[
import gc
gc.disable() # until all is loaded: nothing of it is garbage
import atexit, os, pynvim, signal, traceback
code = 0
try:
    pynvim.start_host()
except (EOFError, OSError):
    pass
except BaseException:
    code = 1
    traceback.print_exc()
finally:
    signal.signal(signal.SIGTERM, signal.SIG_IGN) # Neovim sends it while it leaves
    atexit._run_exitfuncs()
    os._exit(code)
]]

local WINDOWS = vim.fn.has("win32") == 1

---@return string root of the plugin
function M.root()
  local here = debug.getinfo(1, "S").source:sub(2)
  return vim.fn.fnamemodify(here, ":p:h:h:h:h")
end

---@return string
local function venv_python()
  return M.root() .. (WINDOWS and "/.venv/Scripts/python.exe" or "/.venv/bin/python")
end

---@param configured? string the option `python`
---@return string? python
---@return string where it comes from, or why there is none
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

---`-P` and `-E`: neither the working directory nor PYTHONPATH, which may name the user's project, can bring a file called
---`anyio.py` into the host; the agents still inherit the variable.
---@param python string
---@return string[]
function M.argv(python)
  local file = M.root() .. "/rplugin/python3/acp_nvim_host.py"
  return { python, "-P", "-E", "-c", HOST, file }
end

---Runs `main` of a module of the package, as `argv` runs the host.
---@param python string
---@param module string
---@return string[]
function M.main_argv(python, module)
  local code = ("import sys; sys.path.insert(0, sys.argv[1]); from %s import main; main()"):format(module)
  return { python, "-P", "-E", "-c", code, M.root() }
end

---What to do when the host cannot run.
---@return string
function M.advice()
  return ("Type `make setup` in %s, or see :checkhealth acp_nvim."):format(M.root())
end

---Why the host ended, from its last words.
---@param python string
---@param code integer
---@param tail string[]
---@return string
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
