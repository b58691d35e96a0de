-- Runs git in a project, without any program that its configuration names: hooks, filters, monitors, diff programs.
local limits = require("acp_nvim.limits")

local M = {}

-- These take precedence over every configuration file. The host uses the same ones (acp_nvim/process/git.py).
local OPTIONS = vim.split(
  "--no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null -c submodule.recurse=false",
  " "
)

---@type table<vim.SystemObj, true>
local running = {}

vim.api.nvim_create_autocmd("VimLeavePre", {
  group = vim.api.nvim_create_augroup("acp_nvim.git", {}),
  callback = function()
    for process in pairs(running) do
      process:kill("sigkill") -- one that waits for a FIFO would never end
    end
  end,
})

---@return table<string, string> variables without those that redirect git, and without access to the network
local function environment()
  local env = {}
  for name, value in pairs(vim.uv.os_environ()) do
    env[name] = not vim.startswith(name, "GIT_") and value or nil
  end
  env.GIT_ALLOW_PROTOCOL = "none" -- fetching the missing objects of a partial clone would run the remote's program
  env.GIT_NO_LAZY_FETCH = "1"
  env.GIT_TERMINAL_PROMPT = "0"
  return env
end

---Runs git, for at most `limits.git_ms`.
---@param arguments string[]
---@param stdout? fun(err?: string, chunk?: string) called in fast events; nil: the result has the whole output
---@param ended fun(result: { code: integer, stdout?: string }) not called in a fast event; code 124: timeout
---@return vim.SystemObj? process nil when git cannot be started; `ended` is called nevertheless
function M.run(cwd, arguments, stdout, ended)
  local command = vim.list_extend({ "git", "-C", cwd }, OPTIONS)
  local options = {
    stdout = stdout or true,
    stderr = false,
    env = environment(),
    clear_env = true,
    timeout = limits.git_ms,
  }
  local ok, process
  ok, process = pcall(vim.system, vim.list_extend(command, arguments), options, function(result)
    running[process] = nil
    vim.schedule(function()
      ended(result)
    end)
  end)
  if ok then
    running[process] = true
    return process
  end
  vim.schedule(function()
    ended({ code = 127 })
  end)
end

---@param listed string names of configuration variables, each followed by a NUL
---@return string[]? options that disable their programs; nil when a name cannot be written as an option
local function disabling(listed)
  local options, seen = {}, {}
  for name in listed:gmatch("[^%z]+") do
    local driver = name:match("^(.*)%.[^.]*$")
    if driver:find("=", 1, true) then
      return nil
    elseif not seen[driver] then
      seen[driver] = true
      local filters = { "clean=", "smudge=", "process=", "required=false" }
      for _, off in ipairs(vim.startswith(driver, "filter.") and filters or { "enabled=false", "command=" }) do
        vim.list_extend(options, { "-c", ("%s.%s"):format(driver, off) })
      end
    end
  end
  return options
end

---Like `run`, for commands that read or write the contents of files: disables filters, too.
---@param arguments string[]
---@param stdout? fun(err?: string, chunk?: string)
---@param ended fun(result: { code: integer, stdout?: string })
---@param started fun(process: vim.SystemObj)
function M.run_without_filters(cwd, arguments, stdout, ended, started)
  local list = { "config", "-z", "--name-only", "--get-regexp", [[^(filter|hook)\..]] }
  M.run(cwd, list, nil, function(result)
    local options = result.code <= 1 and disabling(result.stdout or "") -- 1: none is set
    if not options then
      return ended({ code = result.code })
    end
    local process = M.run(cwd, vim.list_extend(options, arguments), stdout, ended)
    if process then
      started(process)
    end
  end)
end

return M
