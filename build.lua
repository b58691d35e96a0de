-- Makes the Python environment of the host in .venv, for plugin managers: lazy.nvim runs this file by itself,
-- others can run `nvim -l build.lua`. It installs what runs; `make setup` also installs what tests need.
local root = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
local windows = vim.fn.has("win32") == 1
local venv = vim.fs.joinpath(root, ".venv")
local venv_python = vim.fs.joinpath(venv, windows and "Scripts/python.exe" or "bin/python")

local IS_GOOD = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
local CANDIDATES = { "python3", "python3.14", "python3.13", "python3.12", "python3.11", "python" }

---lazy.nvim runs this in a coroutine of its own: it shows what is yielded, and comes back.
---@return boolean
local function in_lazy()
  local thread, is_main = coroutine.running()
  return thread ~= nil and not is_main and package.loaded["lazy.async"] ~= nil
end

---@param words string
local function say(words)
  if in_lazy() then
    coroutine.yield(words)
  else
    io.stdout:write("acp_nvim: ", words, "\n")
  end
end

---@param command string[]
---@return vim.SystemCompleted
local function run(command)
  local result
  local ok, process = pcall(vim.system, command, { text = true, cwd = root }, function(done)
    result = done
  end)
  if not ok then
    return { code = -1, signal = 0, stdout = "", stderr = tostring(process) }
  end
  if in_lazy() then
    while not result do
      coroutine.yield()
    end
    return result
  end
  return process:wait()
end

---@param command string[]
---@param what string
local function must(command, what)
  local result = run(command)
  if result.code ~= 0 then
    local said = vim.trim((result.stderr or "") .. "\n" .. (result.stdout or ""))
    error(("acp_nvim: %s failed (exit code %d): %s"):format(what, result.code, said), 0)
  end
end

---@param python string
---@return boolean
local function is_good(python)
  return vim.fn.executable(python) == 1 and run({ python, "-c", IS_GOOD }).code == 0
end

---@return string python that makes the environment
local function find_python()
  local candidates = vim.list_slice(CANDIDATES)
  if type(vim.g.python3_host_prog) == "string" then
    table.insert(candidates, 1, vim.fn.expand(vim.g.python3_host_prog))
  end
  for _, python in ipairs(candidates) do
    if is_good(python) then
      return python
    end
  end
  error("acp_nvim: no Python >= 3.11 with its venv module found (on Debian and Ubuntu: apt install python3-venv)", 0)
end

local function build()
  if not is_good(venv_python) then
    local python = find_python()
    say("making .venv with " .. python)
    must({ python, "-m", "venv", "--clear", venv }, "making .venv")
  end
  say("installing the host's packages into .venv")
  must({ venv_python, vim.fs.joinpath(root, "requirements/install.py"), "run" }, "installing the host's packages")
  local folders = { vim.fs.joinpath(root, "acp_nvim"), vim.fs.joinpath(root, "rplugin") }
  must(vim.list_extend({ venv_python, "-m", "compileall", "-q" }, folders), "compiling the host")
  say("ready; see :checkhealth acp_nvim")
end

if in_lazy() then
  build()
  return
end
local ok, problem = pcall(build)
if not ok then
  io.stderr:write(problem, "\n")
  os.exit(1)
end
