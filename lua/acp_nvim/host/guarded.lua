-- Calls what must not end the caller with it: a bug in one part costs that part, and is told once.
local log = require("acp_nvim.log")
local message = require("acp_nvim.message")

local LOGGED_ERRORS = 50 -- of our own bugs: each may come with every event of a flood

local told = false
---@type table<string, true> errors that were logged
local logged = {}

---Whatever `run` raises is logged (each error once) and shown (the first of all).
---@param run fun(...)
---@param ... any
---@return boolean ok
return function(run, ...)
  local ok, err = xpcall(run, debug.traceback, ...)
  if ok then
    return true
  end
  local words = tostring(err)
  if not logged[words] and vim.tbl_count(logged) < LOGGED_ERRORS then
    logged[words] = true
    log.write("something failed: " .. words)
  end
  if not told then
    told = true
    message.news("something could not be shown, the rest goes on: " .. words)
  end
  return false
end
