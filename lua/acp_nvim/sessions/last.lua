-- Continues the conversation that was used last in a directory.
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local question = require("acp_nvim.host.question")
local session_closing = require("acp_nvim.sessions.closing")
local ways = require("acp_nvim.sessions.ways")

local M = {}

---Continues the conversation used last, in a chat of its own.
---@param agent? string only of this one
---@param empty? acp.Session a new one, which is closed then
function M.continue(agent, empty)
  local cwd = empty and empty.cwd or vim.fn.getcwd()
  local on_answer = late.wait()
  question.last(cwd, agent, function(entry)
    if not entry then
      local whose = agent and (" of %s"):format(agent) or ""
      return message.info(("no earlier conversation%s is stored for %s"):format(whose, names.below_home(cwd)))
    end
    on_answer(function()
      ways.continue(entry, function()
        if empty then
          session_closing.drop(empty)
        end
      end)
    end, "the conversation is found: type :AcpContinue again")
  end)
end

return M
