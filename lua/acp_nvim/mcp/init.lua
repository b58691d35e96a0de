-- Carries out the tools that the MCP server of the host offers to agents. No tool runs code that its caller chooses.
local bounded = require("acp_nvim.mcp.bounded")
local guarded = require("acp_nvim.mcp.guarded")
local host = require("acp_nvim.host")
local lazy = require("acp_nvim.lazy")

local M = {}

---@alias acp.mcp.Answer fun(answer: acp.ToolAnswer) called once, at once or later
---@alias acp.mcp.Tool fun(args: table<string, any>, answer: acp.mcp.Answer)

---@type table<string, acp.mcp.Tool>
local TOOLS = {
  ready = function(_, answer) -- no tool of agents: the host asks before it reads buffers
    answer({})
  end,
  editor_state = lazy.fn("acp_nvim.mcp.state", "editor_state"),
  unsaved_diff = lazy.fn("acp_nvim.mcp.state", "unsaved_diff"),
  terminal_output = lazy.fn("acp_nvim.mcp.terminals", "output"),
  debug_state = lazy.fn("acp_nvim.mcp.debugger", "state"),
  review_comments = lazy.fn("acp_nvim.mcp.comments", "list"),
  diagnostics = lazy.fn("acp_nvim.mcp.diagnostics", "list"),
  definition = lazy.fn("acp_nvim.mcp.symbols", "definition"),
  references = lazy.fn("acp_nvim.mcp.symbols", "references"),
  implementations = lazy.fn("acp_nvim.mcp.symbols", "implementations"),
  hover = lazy.fn("acp_nvim.mcp.symbols", "hover"),
  symbols = lazy.fn("acp_nvim.mcp.symbols", "list"),
  rename = lazy.fn("acp_nvim.mcp.edits", "rename"),
  code_action = lazy.fn("acp_nvim.mcp.edits", "code_action"),
  format = lazy.fn("acp_nvim.mcp.edits", "format"),
  open = lazy.fn("acp_nvim.mcp.edits", "open"),
}

---@return fun(answer: acp.ToolAnswer) with_debugger the same, but only the first time
local function once(answer)
  local is_answered = false
  return function(found)
    if not is_answered then
      is_answered = true
      found.has_debugger = package.loaded["dap"] ~= nil
      answer(bounded(found))
    end
  end
end

---@param call integer id of the call
---@param tool string
---@param args table<string, any>
---@return acp.ToolAnswer? nil: the message `tool_answered` will have it
function M.call(call, tool, args)
  local result, is_late ---@type acp.ToolAnswer?, boolean?
  local answer = once(function(found)
    if is_late then
      host.send("tool_answered", { call = call, answer = found })
    else
      result = found
    end
  end)
  guarded(answer, TOOLS[tool])(args, answer)
  is_late = true
  return result
end

return M
