-- Cancels what is under the cursor in a chat: one tool call or command, where the agent can.
local host = require("acp_nvim.host")
local message = require("acp_nvim.kernel.message")
local question = require("acp_nvim.host.question")
local targets = require("acp_nvim.actions.targets")
local transcript = require("acp_nvim.transcript")

local M = {}

---Cancels only the tool call or the command under the cursor.
---@param or_turn? boolean cancel the turn if nothing there can be cancelled alone
---@return boolean sent false when the running host does not know the session
function M.block(session, or_turn)
  if not session.host or session.host ~= host.channel() then
    return false
  end
  local block, target = targets.at_cursor(session)
  local id = block and transcript.block(session, block.id) == block and tonumber(block.id) or 0 -- 0: not of this host
  local params = { session = session.key, block = id, terminal = target and target.terminal, or_turn = or_turn }
  question.ask("cancel_block", params, function(event)
    if event.problem then
      message.warn(event.problem)
    elseif event.words then
      message.info(event.words)
    end
  end)
  return true
end

---Does the same for the key, which never cancels the turn.
function M.key(session)
  if not M.block(session) then
    message.info("no agent is running here (:AcpChat starts one)")
  end
end

return M
