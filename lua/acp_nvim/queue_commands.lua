-- What a person does with the prompts that wait.
local message = require("acp_nvim.message")
local prompt = require("acp_nvim.prompt.buffer")
local queue_buffer = require("acp_nvim.prompt.queue_buffer")
local requests = require("acp_nvim.requests")
local sessions = require("acp_nvim.sessions")

local M = {}

---Opens the buffer in which the queue can be edited.
function M.open()
  local session = sessions.current()
  if not session then
    return message.info("no agent runs here")
  end
  queue_buffer.open(session)
end

---Sends what stands in the prompt, else the first prompt that waits, into the turn that runs.
---@param session acp.Session
function M.steer(session)
  local has_text = prompt.has_text(session)
  local function steer(sent)
    if sent and not requests.steer(session, nil, has_text) then
      message.info("no agent runs here")
    end
  end
  if has_text then
    prompt.send(session, steer)
  else
    steer(true)
  end
end

return M
