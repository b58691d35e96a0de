-- Answers a tool call whose callback fails: nothing else would, and the agent would wait for the whole limit.
local log = require("acp_nvim.log")

local FAILED = "Neovim failed to carry this out: %s. Go on without it."

---Wraps a function that answers a tool call now or later; its error becomes the answer. Language servers may send
---anything, so that each callback that reads their results can fail.
---@generic F: function
---@param answer acp.mcp.Answer
---@param run F without results
---@return F
return function(answer, run)
  return function(...)
    local ok, err = xpcall(run, debug.traceback, ...)
    if not ok then
      log.write(("a tool of the MCP server failed: %s"):format(err))
      answer({ error = FAILED:format(vim.split(tostring(err), "\n")[1]) })
    end
  end
end
