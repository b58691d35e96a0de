-- Builds the Python environment of the host when the user wants it: asks, shows the progress, runs one build at a time.
local dialog = require("acp_nvim.kernel.dialog")
local environment = require("acp_nvim.host.environment")
local log = require("acp_nvim.kernel.log")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local sessions = require("acp_nvim.host.sessions")

local M = {}

local WHY = {
  missing = "acp_nvim needs some Python packages. Download them now",
  outdated = "acp_nvim needs other Python packages than before. Download them now",
}
local YES, NO = "Yes", "Not now"

---@type fun(problem: string?)[]? called when the running build has ended; nil: none runs
local listeners

---@type fun(problem: string?)? who has offered a build, until the user answers
local unanswered

---@param problem? string
---@param output? string
local function finish(problem, output)
  local waiting = listeners or {}
  table.insert(waiting, unanswered)
  listeners, unanswered = nil, nil
  if problem then
    log.write(problem .. "\n" .. (output or ""))
  end
  for _, listener in ipairs(waiting) do
    listener(problem)
  end
end

---Shows what the build does, also in the chats that wait for it: in Insert mode messages are not visible.
---@param step string
local function show(step)
  message.news(step, vim.log.levels.INFO)
  for _, session in ipairs(sessions.all()) do
    if session.status.state == "starting" then
      sessions.set_activity(session, step)
    end
  end
end

---Builds the environment, without asking. If it is being built, waits for the end of that.
---@param on_end fun(problem: string?)
local function build(on_end)
  if listeners then
    table.insert(listeners, on_end)
    return
  end
  listeners = { on_end }
  show("looking for Python")
  environment.build(true, show, finish)
end

---Asks whether the environment is to be built, and builds it. :AcpBuild is an answer, too.
---@param why "missing"|"outdated"
---@param on_end fun(built: boolean, problem: string?) without a problem the user has declined
function M.offer(why, on_end)
  local function on_built(problem)
    if not problem then
      message.news("the Python environment is ready", vim.log.levels.INFO)
    end
    on_end(not problem, problem)
  end
  if listeners then
    return build(on_built)
  end
  unanswered = on_built
  vim.schedule(function() -- when the windows of the command are open
    local prompt = ("%s, into %s/.venv?"):format(WHY[why], names.below_home(environment.root()))
    dialog.confirm({ prompt = prompt, yes = YES, no = NO }, function(is_yes)
      if unanswered ~= on_built then
        return
      end
      unanswered = nil
      if is_yes then
        build(on_built)
      else
        on_end(false)
      end
    end)
  end)
end

---Builds the environment because the user has said so.
---@param on_end fun(problem: string?)
---@return boolean begun false: it is being built already
function M.begin(on_end)
  if listeners then
    message.info("the Python environment is being built")
    return false
  end
  build(function(problem)
    if problem then
      message.error(problem)
    else
      message.info("the Python environment is ready")
    end
    on_end(problem)
  end)
  return true
end

return M
