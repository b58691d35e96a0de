-- Says to the host what the user answers to a question; the host looks at it before it is sent.
local config = require("acp_nvim.config")
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")

local M = {}

---@param question acp.Question
---@param action "accept"|"decline"|"cancel"
---@return boolean sent
function M.answer(question, action)
  local refused = action == "accept" and question.request.url and question.request.url.refused
  if question.outcome or question.phase == "sent" or refused then
    return false
  end
  local sent = host.channel() ~= nil
    and host.send("elicitation_answer", {
      id = question.host_id,
      version = question.version,
      action = action,
      values = action == "accept" and question.values or vim.empty_dict(),
    })
  if sent then
    question.phase = "sent"
  else
    message.error("the host could not be reached: nothing was sent")
  end
  return sent
end

---@param question acp.Question
function M.review(question)
  local values = next(question.values) and question.values or vim.empty_dict()
  host.send("elicitation_check", { id = question.host_id, version = question.version, values = values })
end

---@param question acp.Question
function M.open_url(question)
  local url = question.request.url --[[@as acp.FormUrl]]
  local ok, started, problem = pcall(vim.ui.open, url.url)
  local why = not ok and started or problem
  if why then
    local key = config.keys("form_opened")[1] or "form_opened"
    return message.error(("it could not be opened: %s (%s: you open it yourself)"):format(tostring(why), key))
  end
  M.answer(question, "accept")
end

return M
