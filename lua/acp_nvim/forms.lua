-- Questions of agents to the user: shown in the chat, filled in or looked at in a buffer, answered once by the user.
local Lines = require("acp_nvim.chat.blocks.lines")
local command_line_window = require("acp_nvim.windows.command_line")
local editing = require("acp_nvim.forms.editing")
local fields = require("acp_nvim.forms.fields")
local host = require("acp_nvim.host")
local keys = require("acp_nvim.forms.keys")
local message = require("acp_nvim.message")
local questions = require("acp_nvim.forms.questions")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")
local window = require("acp_nvim.forms.window")

local M = {}

local api = vim.api

---Opens the form, or goes to it.
---@param id integer of a question
---@return boolean done
function M.open(id)
  local question = questions.get(id)
  if not question or (question.outcome and not questions.is_touched(question)) then
    return false
  end
  local bufnr = window.open(question)
  if bufnr then
    keys.map(bufnr, question)
  end
  window.draw(question)
  fields.go(question, 1)
  return true
end

---@param session acp.Session
---@return boolean the user is in the chat of that session, and types nothing
local function is_at(session)
  local bufnr = api.nvim_get_current_buf()
  local is_there = bufnr == session.bufnr or bufnr == session.prompt_bufnr
  local mode = api.nvim_get_mode()
  return is_there and mode.mode == "n" and not mode.blocking and vim.fn.getcmdwintype() == ""
end

---@param session acp.Session
---@param event acp.Event of type elicitation
---@return boolean new false when it is only told again
function M.asked(session, event)
  local question, new = questions.add(session.key, event.block, event.request)
  window.draw_block(question)
  if new then
    vim.schedule(function()
      if is_at(session) and not question.outcome and vim.fn.state("m") == "" then
        M.open(question.request.id)
      end
    end)
  end
  return new
end

---The next question of the same chat takes the place of one that the user has answered.
---@param question acp.Question
local function go_on(question)
  local session = sessions.get(question.session)
  local waiting = questions.waiting(question.session)[1]
  if session and waiting and not window.window(waiting.request.id) then
    M.open(waiting.request.id)
  end
end

---@param question acp.Question
local function close(question)
  local id = question.request.id
  local is_here = window.current() == id
  if question.outcome.why and (is_here or editing.has_focus()) then
    window.draw(question) -- what is typed right now goes nowhere else
    return
  end
  window.close(id)
  if is_here then
    go_on(question)
  end
end

---@param session acp.Session
---@param event acp.Event of type elicitation_done
---@return boolean new
function M.done(session, event)
  local question = questions.of_host(event.id)
  if not question then
    return false
  end
  local new = not question.outcome
  question.outcome = { action = event.action, why = event.why, answers = event.answers or {} }
  window.draw_block(question)
  if new then
    vim.schedule(function()
      close(question)
    end)
    if event.why and questions.is_touched(question) then
      local agent = session.agent or "the agent"
      message.news(
        ("the question of %s is over; what you had filled in is kept in the chat"):format(agent),
        vim.log.levels.WARN
      )
    end
  end
  return new
end

---@param event acp.Event of type elicitation_complete
function M.complete(event)
  local question = questions.of_host(event.id)
  if question then
    question.complete = true
    window.draw_block(question)
  end
end

---The host has looked at what was filled in.
---@param event acp.Event of type elicitation_checked
function M.checked(event)
  local question = questions.of_host(event.id)
  if not question or question.outcome or question.version ~= event.version then
    return
  end
  question.problems = {}
  for _, problem in ipairs(event.problems or {}) do
    question.problems[problem.field] = problem.text
  end
  local is_wrong = #(event.problems or {}) > 0
  question.phase = is_wrong and "fill" or "review"
  question.review, question.unchecked = event.answers or {}, event.unchecked or {}
  window.draw(question)
  if is_wrong then
    for index, field in ipairs(question.request.fields or {}) do
      if question.problems[field.name] then
        return fields.go(question, index)
      end
    end
  end
  window.go(question.request.id, 0)
end

---@return { id: integer, session: integer, agent: string, message: string, url?: string, fields?: acp.FormField[] }[]
function M.list()
  return vim.tbl_map(function(one)
    local request = one.request
    return {
      id = request.id,
      session = one.session,
      agent = request.agent,
      message = request.message,
      url = request.url and request.url.url,
      fields = request.fields and vim.deepcopy(request.fields),
    }
  end, questions.waiting())
end

---The body of :AcpForms: opens the question that waits, or asks which.
function M.choose()
  if command_line_window.refuses() then
    return
  end
  local waiting = M.list()
  if #waiting == 0 then
    message.info("no agent has a question")
  elseif #waiting == 1 then
    M.open(waiting[1].id)
  else
    vim.ui.select(waiting, {
      prompt = ("%d questions wait"):format(#waiting),
      kind = "acp_forms",
      format_item = function(one)
        return ("%s: %s"):format(one.agent, Lines.one_line(one.message))
      end,
    }, function(one)
      if one then
        M.open(one.id)
      end
    end)
  end
end

---@param id integer
---@param action "accept"|"decline"|"cancel"
---@param values? table<string, string|boolean|string[]> instead of what is filled in
---@return boolean sent what is wrong is told at the fields
---@return string? problem
function M.answer(id, action, values)
  local question = questions.get(id)
  if not question or question.outcome or question.phase == "sent" then
    return false, ("no question %s waits for an answer"):format(tostring(id))
  elseif not vim.list_contains({ "accept", "decline", "cancel" }, action) then
    return false, ("%q is none of accept, decline and cancel"):format(tostring(action))
  end
  for name, value in pairs(values or {}) do
    questions.set(question, name, value)
  end
  return questions.answer(question, action)
end

---The host is gone, and with it all who wait for answers.
host.on_exit(function()
  for _, question in ipairs(questions.open()) do
    question.outcome = { action = "cancel", why = "agent_gone", answers = {} }
    window.draw_block(question)
    close(question)
  end
  transcript.flush()
  questions.begin_host()
end)

return M
