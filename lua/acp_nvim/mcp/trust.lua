-- Asks whether to use the MCP servers that a project brings with it: they are programs that run.
local dialog = require("acp_nvim.kernel.dialog")
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local names = require("acp_nvim.names")

local M = {}

---@class acp.mcp.Choice
---@field answer "use"|"never"|"later"
---@field words string

---@type acp.mcp.Choice[]
local CHOICES = {
  { answer = "later", words = "not now: ask me in the next Neovim" },
  { answer = "use", words = "use them in this project, until the file changes" },
  { answer = "never", words = "never use this content" },
}

---@param path string
local function shown(path)
  return names.short(path)
end

---@param event acp.event.ProjectServers
---@return string
local function question(event)
  local lines = { ("%s names MCP servers for agents:"):format(shown(event.path)) }
  for _, server in ipairs(event.servers) do
    lines[#lines + 1] = ("  %s: %s"):format(server.name, server.words)
  end
  if #(event.files or {}) > 0 then
    lines[#lines + 1] = "You are asked again when a file of the project that they run changes:"
    lines[#lines + 1] = "  " .. table.concat(event.files, ", ")
  end
  return table.concat(lines, "\n")
end

---@param event acp.event.ProjectServers
function M.ask(event)
  local function answer(choice)
    host.send("project_servers_answer", { id = event.id, answer = choice and choice.answer or "later" })
  end
  if #vim.api.nvim_list_uis() == 0 then
    return answer(nil) -- nobody could answer
  end
  late.when_idle(function()
    dialog.select(CHOICES, {
      prompt = question(event),
      kind = "acp_mcp_servers",
      format_item = function(choice)
        return choice.words
      end,
    }, answer)
  end, ("%s names MCP servers: you are asked about them when you stop typing"):format(shown(event.path)))
end

return M
