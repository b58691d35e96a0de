-- Draws a question again where it is seen: its block in the chat, and its form, if that is open.
local block = require("acp_nvim.chat.blocks.question")
local look = require("acp_nvim.forms.look")
local questions = require("acp_nvim.forms.questions")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")
local window = require("acp_nvim.forms.window")

local M = {}

---@param question acp.Question
function M.block(question)
  local session = sessions.get(question.session)
  if session then
    transcript.draw(session, question.block, "question", block(question, questions.is_touched(question)))
  end
end

---@param question acp.Question
---@param drawn acp.FormLook
---@return vim.Diagnostic.Set[]
local function diagnostics(question, drawn)
  local list = {}
  for index, field in ipairs(question.request.fields or {}) do
    local problem = question.problems[field.name]
    if problem and drawn.places[index] and not question.outcome then
      list[#list + 1] = {
        lnum = drawn.places[index],
        col = 0,
        severity = vim.diagnostic.severity.ERROR,
        source = "acp_nvim",
        message = ("%s %s"):format(field.title, problem),
      }
    end
  end
  return list
end

---@param question acp.Question
function M.form(question)
  local drawn = look.of(question)
  window.draw(question.request.id, drawn, question.phase == "fill" and diagnostics(question, drawn) or {})
end

return M
