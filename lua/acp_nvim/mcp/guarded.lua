-- Answers a tool call whose callback fails: nothing else would, and the agent would wait for the whole limit.
local log = require("acp_nvim.kernel.log")

local LOGGED_BYTES = 8000 -- of an error, which may have what a language server has sent
local FAILED = "Neovim failed to carry this out; `:AcpLog` has the reason. Go on without it."

---Wraps a function that answers a tool call now or later; if it fails, the answer says so.
---@generic F: function
---@param answer acp.mcp.Answer
---@param run F without results
---@return F
return function(answer, run)
  return function(...)
    local ok, err = xpcall(run, debug.traceback, ...)
    if not ok then
      log.write(("a tool of the MCP server failed: %s"):format(err:sub(1, LOGGED_BYTES)))
      answer({ error = FAILED })
    end
  end
end
