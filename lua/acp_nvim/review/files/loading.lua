-- Makes the host load what was left to review in a directory, and waits for its files, and for those of a turn that is
-- over: the host may still be collecting its changes.
local buffers = require("acp_nvim.buffers")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local progress = require("acp_nvim.progress.review")
local sessions = require("acp_nvim.host.sessions")
local states = require("acp_nvim.host.states")

local M = {}

local NO_SESSION = 0 -- stands for the sessions of earlier hosts

---@type fun()? called when there are files
local waiting
---@type table<string, integer> directory -> channel of the host that was asked to load it
local asked = {}
---@type table<string, true> directories that the host is loading
local loading = {}
local has_turn_ended = false -- since the host was asked last
---@type fun()[] called when the host has sent all files
local when_loaded = {}

---@return string
function M.directory()
  local session = sessions.current()
  return session and session.cwd or vim.fn.getcwd()
end

---@return boolean new false when this host was asked before
function M.load(cwd)
  host.ensure()
  local channel = host.channel()
  if asked[cwd] == channel and not has_turn_ended then
    return false
  end
  asked[cwd], has_turn_ended = channel, false
  buffers.set_roots(NO_SESSION, { vim.uv.fs_realpath(cwd) }) -- buffers under review must match their files
  loading[cwd] = host.send("review_load", { cwd = cwd }) or nil
  return loading[cwd] ~= nil
end

---@return string[] names of the agents that work in a directory
function M.busy(cwd)
  local busy = {}
  for _, session in ipairs(sessions.all()) do
    if session.cwd == cwd and states.is_busy(session.status.state) then
      table.insert(busy, session.agent or "the agent")
    end
  end
  return busy
end

---@return string words for a list that is empty
function M.so_far(cwd)
  local busy = table.concat(M.busy(cwd), ", ")
  return busy ~= "" and (" so far (%s works here)"):format(busy) or ""
end

---A turn is over: what it has changed is asked for.
function M.turn_ended()
  has_turn_ended = true
end

---@param event acp.event.ReviewCollecting
function M.collecting(event)
  progress.awaited()
  local where = event.cwd and " in " .. names.below_home(event.cwd) or ""
  local words = "the changes of the last turn%s are still being collected: wait a moment"
  message.news(words:format(where), vim.log.levels.INFO) -- several answers may wait for them
end

---Calls `run` at once, or, after a turn, when the host has sent all that it has changed.
---@param run fun()
function M.when_known(run)
  if (has_turn_ended and M.load(M.directory())) or next(loading) ~= nil then
    table.insert(when_loaded, run)
  else
    run()
  end
end

---Calls `run` when there are files under review; shows a message when there are none.
---@param run fun() opens a window
function M.with_files(run)
  local cwd = M.directory()
  if #files.all() > 0 then
    if has_turn_ended then
      M.load(cwd) -- the host says if there will be more of them
    end
    return run()
  elseif not M.load(cwd) and not loading[cwd] then
    return message.info("nothing to review" .. M.so_far(cwd))
  end
  local on_answer = late.wait()
  waiting = function()
    on_answer(run, "the files to review are loaded: type :AcpReview again")
  end
end

---@param event acp.event.ReviewLoaded all files of a directory were sent
function M.received(event)
  loading[event.cwd] = nil
  if next(loading) ~= nil then
    return
  end
  local runs = when_loaded
  when_loaded = {}
  for _, run in ipairs(runs) do
    vim.schedule(run) -- after all files of the batch
  end
  if waiting then
    waiting = nil
    message.info("nothing to review" .. M.so_far(event.cwd))
  end
end

host.on_exit(function()
  waiting, loading, when_loaded, has_turn_ended = nil, {}, {}, false
  progress.reset()
end)

files.on_change(function()
  local run = waiting
  waiting = nil
  if run then
    vim.schedule(run) -- after all files of the batch
  end
end)

return M
