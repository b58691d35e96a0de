-- Implements :AcpMcp: which MCP servers the agent has, and which tools of the editor it has called.
local message = require("acp_nvim.kernel.message")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---@param server acp.McpServer
---@return string
local function line_of(server)
  if not server.calls then
    return server.name
  end
  local calls = {}
  for tool, count in vim.spairs(server.calls) do
    calls[#calls + 1] = ("%s %d"):format(tool, count)
  end
  return ("%s (the editor): %s"):format(server.name, #calls > 0 and table.concat(calls, ", ") or "not used yet")
end

function M.command()
  local session = sessions.current()
  if not session then
    return message.warn("no session is open: :AcpChat opens one")
  end
  local servers = session.status.mcp or {}
  if #servers == 0 then
    return message.info(("%s has no MCP servers"):format(session.agent))
  end
  local lines = { ("MCP servers of %s:"):format(session.agent) }
  for _, server in ipairs(servers) do
    lines[#lines + 1] = "  " .. line_of(server)
  end
  message.info(table.concat(lines, "\n"))
end

return M
