-- Says to the host what is wanted of the changes under review, and of the turns to go back to.
local buffers = require("acp_nvim.buffers")
local host = require("acp_nvim.host")

local M = {}

local NOBODY = 0 -- the session of those that are gone

---@class acp.Judge
---@field action "keep"|"reject"|"mine"|"theirs"|"both"
---@field path? string nil: all files of the session, or of all sessions
---@field hunks? integer[] ids; nil: the whole file
---@field session? integer
---@field force? boolean of many files also those that nobody saw the agent change

---@param asked acp.Judge
---@return boolean sent
function M.review(asked)
  return host.send("review", asked)
end

---@param path string of a file whose hunks are wanted, whether it has a buffer or not
---@return boolean sent
function M.review_open(path)
  return host.send("review_open", { path = path })
end

---@param cwd string where something may have been left to review
---@return boolean sent
function M.review_load(cwd)
  local real = vim.uv.fs_realpath(cwd)
  buffers.set_roots(NOBODY, { real }) -- what is reviewed is to be what is in the files
  return host.send("review_load", { cwd = cwd })
end

---@param cwd string
---@return boolean sent
function M.checkpoints(cwd)
  return host.send("checkpoints", { cwd = cwd })
end

---@param id string of a checkpoint
---@param cwd string
---@param force? boolean also files that nobody saw the agent change
---@return boolean sent
function M.restore_plan(id, cwd, force)
  return host.send("restore_plan", { id = id, cwd = cwd, force = force })
end

---@param id string of a checkpoint
---@param cwd string
---@param force? boolean as for restore_plan
---@return boolean sent
function M.restore(id, cwd, force)
  return host.send("restore", { id = id, cwd = cwd, force = force })
end

return M
