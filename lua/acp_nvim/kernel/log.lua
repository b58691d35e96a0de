-- Paths of the log file and of the recordings, and the log entries that Lua writes.
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

function M.path()
  return vim.fn.stdpath("log") .. "/acp_nvim.log"
end

---@return string directory of the recordings (option `log.traffic`)
function M.traffic()
  return vim.fn.stdpath("log") .. "/acp_nvim/traffic"
end

---Appends a text to the log. The host writes it, because it masks secrets; without a host it is written as it is.
function M.write(text)
  local channel = vim.g.acp_nvim_channel
  if channel and pcall(vim.rpcnotify, channel, "acp_nvim", "log_line", { text = text }) then
    return
  end
  state_files.append(M.path(), ("%s lua %s\n"):format(os.date("!%Y-%m-%dT%H:%M:%SZ"), text))
end

return M
