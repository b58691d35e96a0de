-- The log file and the recordings: where they are, and the few lines that Lua itself adds to it.
local state_files = require("acp_nvim.health.state_files")

local M = {}

---@return string
function M.path()
  return vim.fn.stdpath("log") .. "/acp_nvim.log"
end

---@return string directory of the recordings (`log.traffic`)
function M.traffic()
  return vim.fn.stdpath("log") .. "/acp_nvim/traffic"
end

---@param text string
function M.write(text)
  state_files.append(M.path(), ("%s lua %s\n"):format(os.date("!%Y-%m-%dT%H:%M:%SZ"), text))
end

return M
