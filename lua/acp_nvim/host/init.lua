-- Starts the Python host and sends messages to it, without waiting for replies.
local lazy = require("acp_nvim.lazy")
local autocmds = lazy("acp_nvim.kernel.autocmds")
local building = lazy("acp_nvim.host.building")
local config = require("acp_nvim.config")
local log = require("acp_nvim.kernel.log")
local message = lazy("acp_nvim.kernel.message")
local python = require("acp_nvim.host.python")
local state_files = require("acp_nvim.kernel.state_files")
local version = require("acp_nvim.host.version")

local M = {}

local STDERR_LINES = 20 -- of the host's stderr, for the message when it ends

---@type integer? channel of the running host
local channel
---@type { method: string, params: table }[]? messages for a host that starts when its environment has been built
local held
---@type integer? id of the running host, or of the one that starts when its environment has been built
local current
local last_awaited = 0 -- ids of hosts that start later are negative, as they have no channel yet
---@type table<integer, true> ids of awaited hosts that were not started
local never_started = {}
local is_offered = false -- the user has declined to build the environment, or it failed
local is_ahead = false -- the host was started ahead of its first use, and nothing has used it yet
---@type string[] the last lines of its stderr
local tail = {}
---@type fun(words: string, code: integer, tail: string[])[]
local listeners = {}

---Tells the user, and their autocommands, that there is no host.
---@param words string
---@param code integer
local function tell(words, code)
  message.error(words)
  autocmds.fire("AcpError", { text = words, code = code })
end

---@type fun(words: string, code: integer, tail: string[]) called after these; this one as long as there was no session
local last_listener = tell

---@return boolean sent
local function notify(method, params)
  if vim.tbl_isempty(params) then
    params = vim.empty_dict()
  end
  if held then
    table.insert(held, { method = method, params = vim.deepcopy(params) })
    return true
  end
  local ok, err = pcall(vim.rpcnotify, channel, "acp_nvim", method, params)
  if not ok then
    log.write(("could not send %s: %s"):format(method, err))
  end
  return ok
end

local function hello()
  notify("hello", {
    version = version,
    log_path = log.path(),
    state_path = vim.fs.joinpath(vim.fn.stdpath("state"), "acp_nvim"),
    cache_path = vim.fs.joinpath(vim.fn.stdpath("cache"), "acp_nvim"),
    config = config.to_send(),
    temp_path = vim.fs.dirname(vim.fn.tempname()),
    last_subagent = vim.g.acp_nvim_last_subagent,
    instance = state_files.instance(),
  })
end

config.on_change(function()
  if channel then
    hello()
  end
end)

---@param lines string[] as jobstart passes them: the first continues the last line
local function keep_tail(_, lines)
  local at = math.max(#tail, 1)
  tail[at] = (tail[at] or "") .. lines[1]
  vim.list_extend(tail, lines, 2)
  if #tail > STDERR_LINES + 1 then
    tail = vim.list_slice(tail, #tail - STDERR_LINES)
  end
end

---Tells the listeners that the host has ended, or could not be started.
---@param words string
---@param code integer
---@param last string[]
local function report_end(words, code, last)
  current = nil
  log.write(words .. "\n" .. table.concat(last, "\n"))
  if is_ahead then
    return -- its first use starts it again, and the user is told if it ends again
  end
  for _, listener in ipairs(listeners) do
    listener(words, code, last)
  end
  last_listener(words, code, last)
end

function M.on_end(program, code)
  channel = nil
  vim.g.acp_nvim_channel = nil
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local last = vim.tbl_filter(function(line)
    return vim.trim(line) ~= ""
  end, tail)
  report_end(python.explain(program, code, last), code, last)
end

---Returns the channel of a host that this Neovim started before its modules were reloaded.
---@return integer?
local function left_running()
  local id = vim.g.acp_nvim_channel
  return id and vim.fn.jobwait({ id }, 0)[1] == -1 and id or nil
end

---@return integer? channel
---@return string? problem
local function spawn(program)
  local cwd = vim.fn.stdpath("state") --[[@as string]]
  pcall(vim.fn.mkdir, cwd, "p")
  if vim.fn.isdirectory(cwd) == 0 then
    cwd = vim.uv.os_tmpdir() or "/"
  end
  tail = {}
  local ok, id = pcall(vim.fn.jobstart, python.argv(program), {
    rpc = true,
    cwd = cwd,
    on_stderr = keep_tail,
    on_exit = function(id, code)
      -- the modules may have been reloaded since
      local host = package.loaded["acp_nvim.host"]
      if host and host.is_at(id) then
        host.on_end(program, code)
      end
    end,
  })
  if ok and id > 0 then
    return id
  end
  return nil, ok and "jobstart failed" or tostring(id)
end

---@param id? integer of a host that was awaited, which keeps it; nil: its channel
---@return string? problem
local function start(id)
  local program, where = python.find()
  if not program then
    return ("no Python for the host: %s. %s"):format(where, python.advice())
  end
  local job, problem = spawn(program)
  if not job then
    return ("the host could not be started with %s: %s. %s"):format(program, problem, python.advice())
  end
  channel, current = job, id or job
  vim.g.acp_nvim_channel = job
  hello()
end

---Starts the awaited host and sends it what was held, or reports why it does not start.
---@param built boolean
---@param problem? string why it was not built; nil: the user has declined
local function start_awaited(built, problem)
  local id, messages = current or 0, held or {}
  held, is_offered = nil, not built
  local has_python = python.find() ~= nil
  if problem and has_python then
    message.error(problem) -- the outdated environment may do
    problem = nil
  end
  problem = problem or start(id)
  if problem then
    never_started[id] = true
    return report_end(problem, -1, {})
  end
  for _, one in ipairs(messages) do
    notify(one.method, one.params)
  end
end

---Offers to build the environment if that is needed. The host starts afterwards; messages are held until then.
---@return boolean awaited
local function await_environment()
  local why = not (is_offered and python.find()) and python.unbuilt()
  if not why then
    return false
  end
  last_awaited = last_awaited - 1
  held, current = {}, last_awaited
  building.offer(why, function(built, problem)
    if package.loaded["acp_nvim.host"] == M then -- else the modules were reloaded
      start_awaited(built, problem)
    end
  end)
  return true
end

---Uses a host that was started before the modules were reloaded.
---@return boolean
local function is_left_running()
  channel = left_running()
  current = channel
  if channel then
    hello()
  end
  return channel ~= nil
end

---@return integer? id of the running or awaited host, a new one after each start
function M.channel()
  return current
end

---@return boolean the host starts when its environment has been built; messages are held until then
function M.is_awaited()
  return held ~= nil
end

---@param id integer of a host
---@return boolean false: its environment was not built
function M.was_started(id)
  return not never_started[id]
end

---@param job integer
---@return boolean the running host is this job
function M.is_at(job)
  return channel == job
end

---Starts the host if none runs, ahead of its first use. A failure is not reported: `ensure` tries again.
function M.prepare()
  if not current and not is_left_running() and not python.unbuilt() then
    is_ahead = true
    start()
  end
end

---Starts the host if none runs, or offers to build its environment first. Shows the user why it cannot be started.
---@return boolean running or awaited
function M.ensure()
  is_ahead = false
  local problem = not current and not is_left_running() and not await_environment() and start() or nil
  if problem then
    tell(problem, -1)
  end
  return problem == nil
end

---@param method string
---@param params table
---@return boolean sent
function M.send(method, params)
  return M.ensure() and notify(method, params)
end

---@param listener fun(words: string, code: integer, tail: string[]) called after the host has ended
function M.on_exit(listener)
  listeners[#listeners + 1] = listener
end

---@param listener fun(words: string, code: integer, tail: string[]) called when the other listeners, whose modules may
---be loaded later, have dropped what they had of the host
function M.on_exit_last(listener)
  last_listener = listener
end

---@param theirs string version of the host
function M.check_version(theirs)
  if theirs ~= version then
    local words = "the plugin has version %s, its host has version %s: restart Neovim; if that does not help: %s"
    message.error(words:format(version, theirs, python.advice()))
  end
end

return M
