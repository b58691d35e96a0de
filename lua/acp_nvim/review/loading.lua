-- Makes the host load what was left to review in a directory, and waits for its files.
local buffers = require("acp_nvim.buffers")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local late = require("acp_nvim.windows.late")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

local NO_SESSION = 0 -- stands for the sessions of earlier hosts

---@type fun()? called when there are files
local waiting
---@type table<string, integer> directory -> channel of the host that was asked to load it
local asked = {}
---@type table<string, true> directories that the host is loading
local loading = {}

---@return string
function M.directory()
  local session = sessions.current()
  return session and session.cwd or vim.fn.getcwd()
end

---@return boolean new false when this host was asked before
function M.load(cwd)
  host.ensure()
  local channel = host.channel()
  if asked[cwd] == channel then
    return false
  end
  asked[cwd] = channel
  buffers.set_roots(NO_SESSION, { vim.uv.fs_realpath(cwd) }) -- buffers under review must match their files
  loading[cwd] = host.send("review_load", { cwd = cwd }) or nil
  return loading[cwd] ~= nil
end

---Calls `run` when there are files under review; shows a message when there are none.
---@param run fun() opens a window
function M.with_files(run)
  local cwd = M.directory()
  if #files.all() > 0 then
    return run()
  elseif not M.load(cwd) and not loading[cwd] then
    return message.info("nothing to review")
  end
  local on_answer = late.wait()
  waiting = function()
    on_answer(run, "the files to review are loaded: type :AcpReview again")
  end
end

---@param event acp.event.ReviewLoaded all files of a directory were sent
function M.received(event)
  loading[event.cwd] = nil
  if waiting and next(loading) == nil then
    waiting = nil
    message.info("nothing to review")
  end
end

host.on_exit(function()
  waiting, loading = nil, {}
end)

files.on_change(function()
  local run = waiting
  waiting = nil
  if run then
    vim.schedule(run) -- after all files of the batch
  end
end)

return M
