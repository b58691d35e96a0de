-- Finds and builds the Python environment of the host, `.venv` in the plugin's directory. build.lua runs this file when
-- the plugin is not loaded yet, or another version of it is. Therefore it requires no module, but loads the file beside it.
local HERE = debug.getinfo(1, "S").source:sub(2)
local names = dofile(vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(HERE)), "names.lua"))

local M = {}

local PACKAGE = "acp_nvim/__init__.py"
local WINDOWS = vim.fn.has("win32") == 1
local CANDIDATES = { "python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.15", "python" }
local NEEDED = "the host needs Python 3.11 or newer"

-- exit codes of requirements/probe.py; the last two can run the host, and are taken if there is no better Python
local TOO_OLD, WITHOUT_VENV, DEFECTIVE, TOO_NEW = 3, 4, 5, 6

---@param path string
---@param levels integer
---@return string directory that many levels above
local function above(path, levels)
  for _ = 1, levels do
    path = vim.fs.dirname(path)
  end
  return path
end

---Returns the directory that has the Python package. LuaRocks installs Lua modules elsewhere; then 'runtimepath' has it.
---@return string root of the plugin
function M.root()
  local root = above(names.absolute(HERE), 4)
  if not vim.uv.fs_stat(root .. "/" .. PACKAGE) then
    local found = vim.api.nvim_get_runtime_file(PACKAGE, false)[1]
    root = found and above(names.absolute(found), 2) or root
  end
  return root
end

---@param name string in the plugin's directory
local function path(name)
  return M.root() .. "/" .. name
end

---@return string path of the environment's Python, which need not exist
function M.python()
  return path(WINDOWS and ".venv/Scripts/python.exe" or ".venv/bin/python")
end

---@return string? text of a file of the plugin; nil when it cannot be read
local function read(name)
  local descriptor = vim.uv.fs_open(path(name), "r", 0)
  if not descriptor then
    return nil
  end
  local text = vim.uv.fs_read(descriptor, vim.uv.fs_fstat(descriptor).size)
  vim.uv.fs_close(descriptor)
  return text
end

---@return "ready"|"missing"|"outdated" outdated: the plugin has locked other packages since the environment was built
function M.state()
  if vim.fn.executable(M.python()) == 0 then
    return "missing"
  end
  return read(".venv/requirements.txt") == read("requirements/run.txt") and "ready" or "outdated"
end

---Runs a program and calls `on_end` with its exit code and what it wrote.
---@param command string[]
---@param on_line fun(line: string) called with each line of its stdout
---@param on_end fun(code: integer, stderr: string)
local function run(command, on_line, on_end)
  local rest, errors = "", {}
  local ok, problem = pcall(vim.fn.jobstart, command, {
    cwd = M.root(),
    stderr_buffered = true,
    on_stdout = function(_, lines)
      lines[1] = rest .. lines[1]
      rest = table.remove(lines)
      vim.tbl_map(on_line, lines)
    end,
    on_stderr = function(_, lines)
      errors = lines
    end,
    on_exit = function(_, code)
      on_end(code, table.concat(errors, "\n"))
    end,
  })
  if not ok then
    on_end(-1, tostring(problem))
  end
end

---@class acp.FoundPython
---@field program string
---@field version string
---@field code integer of the probe; 0: nothing is missing
---@field said string the first line of its stderr

---@param found acp.FoundPython[]
---@return acp.FoundPython? first with one of the codes
local function first(found, ...)
  for _, code in ipairs({ ... }) do
    for _, one in ipairs(found) do
      if one.code == code then
        return one
      end
    end
  end
end

---@param found acp.FoundPython[]
---@return string which of them does not run, and what it says; "" if each runs
local function broken(found)
  for _, one in ipairs(found) do
    if one.code ~= TOO_OLD and one.code ~= WITHOUT_VENV then
      local said = one.said ~= "" and one.said:gsub("%.$", "") or ("exit code %d"):format(one.code)
      return (" %s does not run: %s."):format(one.program, said)
    end
  end
  return ""
end

---@param found acp.FoundPython[] none of which can make the environment
---@return string what is missing, and what to do
local function missing(found)
  local one = first(found, WITHOUT_VENV)
  if one then
    local words = "Python %s (%s) cannot make environments: its venv module is missing. "
      .. "Install it (on Debian and Ubuntu: apt install python3-venv)."
    return words:format(one.version, one.program)
  end
  one = first(found, TOO_OLD)
  if one then
    local words =
      "Python %s (%s) is too old: %s.%s Install one beside it, and set g:python3_host_prog if it is not in $PATH."
    return words:format(one.version, one.program, NEEDED, broken(found))
  end
  local words = "no Python was found: %s.%s Install it, and set g:python3_host_prog if it is not in $PATH."
  return words:format(NEEDED, broken(found))
end

---Looks for a Python that can make the environment: the one that the user has named, or else the best one.
---@param on_end fun(program: string?, problem: string?)
local function find_python(on_end)
  local candidates, found = vim.list_slice(CANDIDATES), {}
  local named = type(vim.g.python3_host_prog) == "string" and names.expanded(vim.g.python3_host_prog)
  if named then
    table.insert(candidates, 1, named)
  end
  local function try(number)
    local program = candidates[number] and vim.fn.exepath(candidates[number])
    if not program then
      local one = first(found, DEFECTIVE, TOO_NEW)
      return on_end(one and one.program, not one and missing(found) or nil)
    elseif program == "" then
      return try(number + 1)
    end
    local one = { program = program, version = "?" }
    run({ program, "-E", "-B", path("requirements/probe.py") }, function(line)
      one.version = one.version == "?" and line or one.version
    end, function(code, stderr)
      one.code, one.said = code, vim.trim(stderr):match("^[^\n]*")
      table.insert(found, one)
      if code == 0 or (named and number == 1 and first({ one }, DEFECTIVE, TOO_NEW)) then
        on_end(program)
      else
        try(number + 1)
      end
    end)
  end
  try(1)
end

---@param stderr string of the script
---@return string its reason: what follows the last "acp_nvim: " at the beginning of a line
local function reason(stderr)
  local text = ("\n" .. stderr):match(".*\nacp_nvim: (.*)") or stderr
  text = vim.trim((text:gsub("%s+", " ")))
  return text ~= "" and text or "the script that builds it ended without a reason."
end

---Builds the environment, without waiting: other events are handled meanwhile.
---@param again boolean also build an environment that is ready
---@param on_progress fun(words: string) called with each step
---@param on_end fun(problem: string?, output: string?) what failed and what to do, and all that the programs said
function M.build(again, on_progress, on_end)
  local is_development = read(".venv/.stamp") or vim.startswith(vim.v.progpath, path(".venv/"))
  if is_development and (again or M.state() ~= "ready") then
    local words = "%s has the tools of development. To update it, type `make setup` in %s."
    return on_end(words:format(path(".venv"), M.root()))
  end
  local function fail(problem, output)
    on_end(("the Python environment was not built: %s Then type :AcpBuild."):format(problem), output)
  end
  find_python(function(program, problem)
    if not program then
      return fail(problem)
    end
    local command = { program, "-I", path("requirements/build.py"), again and "again" or nil }
    run(command, on_progress, function(code, stderr)
      if code ~= 0 then
        return fail(reason(stderr), stderr)
      end
      pcall(names.make_helptags, path("doc"))
      on_end()
    end)
  end)
end

return M
