-- Has the host take up what was left to review in a directory, and waits until it has told all of it.
local buffers = require("acp_nvim.buffers")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")
local sessions = require("acp_nvim.sessions")

local M = {}

local NOBODY = 0 -- the session of those that are gone

---@type fun()? what is done with the files, once they are told
local waiting
---@type table<string, integer> directory -> channel of the host that was asked for it
local asked = {}
---@type table<string, true> directories of which the host has not told all yet
local loading = {}

---@return string
function M.directory()
  local session = sessions.current()
  return session and session.cwd or vim.fn.getcwd()
end

---@param cwd string
---@return boolean new false when this host was asked for that directory before
function M.load(cwd)
  host.ensure()
  local channel = host.channel()
  if asked[cwd] == channel then
    return false
  end
  asked[cwd] = channel
  buffers.set_roots(NOBODY, { vim.uv.fs_realpath(cwd) }) -- what is reviewed is to be what is in the files
  loading[cwd] = host.send("review_load", { cwd = cwd }) or nil
  return loading[cwd] ~= nil
end

---@param run fun() with files under review; a message says so when there are none
function M.with_files(run)
  local cwd = M.directory()
  if #files.all() > 0 then
    return run()
  elseif not M.load(cwd) and not loading[cwd] then
    return message.info("nothing to review")
  end
  waiting = run
end

---The host has told all of a directory.
---@param event acp.event.ReviewLoaded
function M.told(event)
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
    vim.schedule(run) -- once all of the batch are told
  end
end)

return M
