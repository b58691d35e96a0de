-- What a person does with the prompts that wait.
local config = require("acp_nvim.config")
local message = require("acp_nvim.message")
local prompt = require("acp_nvim.prompt.buffer")
local queue_buffer = require("acp_nvim.prompt.queue_buffer")
local requests = require("acp_nvim.requests")
local sessions = require("acp_nvim.sessions")

local M = {}

---@param session acp.Session
---@param bufnr integer of the queue
local function steer_section(session, bufnr)
  local id = queue_buffer.id_at(session, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if vim.bo[bufnr].modified then
    message.error("write what you have edited first")
  elseif id and not requests.steer(session, id) then
    message.info("no agent runs here")
  end
end

---Opens the buffer in which the queue can be edited.
function M.open()
  local session = sessions.current()
  if not session then
    return message.info("no agent runs here")
  end
  local bufnr = queue_buffer.open(session)
  for _, key in ipairs(config.keys("steer")) do
    vim.keymap.set("n", key, function()
      steer_section(session, bufnr)
    end, { buffer = bufnr, desc = "acp: steer" })
  end
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
