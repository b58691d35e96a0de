-- Contains the errors of a part of the plugin, so that the other parts still run.
local lazy = require("acp_nvim.lazy")
local log = require("acp_nvim.kernel.log")
local message = lazy("acp_nvim.kernel.message")

local LOGGED_ERRORS = 50 -- of our own bugs: each may recur with every event

local has_reported = false
---@type table<string, true> logged errors
local logged = {}

---Calls `run`. Logs each distinct error once, and shows the first one.
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
    log.write("internal error: " .. words)
  end
  if not has_reported then
    has_reported = true
    message.news("something could not be shown, everything else continues: " .. words)
  end
  return false
end
