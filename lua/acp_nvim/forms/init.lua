-- Handles questions of agents: shows them in the chat and in forms, and sends the answer of the user once.
local Lines = require("acp_nvim.render.lines")
local command_line_window = require("acp_nvim.kernel.command_line")
local config = require("acp_nvim.config")
local dialog = require("acp_nvim.kernel.dialog")
local editing = require("acp_nvim.forms.editing")
local fields = require("acp_nvim.forms.fields")
local help = require("acp_nvim.keys.help")
local host = require("acp_nvim.host")
local keymaps = require("acp_nvim.keys")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local questions = require("acp_nvim.forms.questions")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")
local typed_ahead = require("acp_nvim.keys.typed_ahead")
local window = require("acp_nvim.forms.window")

local M = {}

local api = vim.api

---@param step 1|-1
---@return fun(question: acp.Question)
local function stepping(step)
  return function(question)
    fields.step(question, step)
  end
end

---@param action "accept"|"decline"|"cancel"
---@return fun(question: acp.Question)
local function answering(action)
  return function(question)
    questions.answer(question, action)
  end
end

---The actions of the keys. `on`: the page that they work on, `fill`, `review` or `url`; nil: all pages.
---@type { name: string, run: fun(question: acp.Question), on?: string }[]
local ACTIONS = {
  { name = "form_edit", run = fields.edit, on = "fill" },
  { name = "form_review", run = questions.check, on = "fill" },
  { name = "form_next", run = stepping(1), on = "fill" },
  { name = "form_previous", run = stepping(-1), on = "fill" },
  { name = "form_send", run = answering("accept"), on = "review" },
  {
    name = "form_back",
    run = function(question)
      question.phase = "fill"
      window.draw(question)
      fields.go(question, 1)
    end,
    on = "review",
  },
  { name = "form_open", run = questions.open_url, on = "url" },
  { name = "form_decline", run = answering("decline") },
  { name = "form_cancel", run = answering("cancel") },
}

---Maps the keys of a form. The action of a key depends on the page that the form shows.
local function map_keys(bufnr, question)
  ---@type table<string, table[]> by key
  local by_key = {}
  for _, action in ipairs(ACTIONS) do
    for _, key in ipairs(config.keys(action.name)) do
      by_key[key] = by_key[key] or {}
      table.insert(by_key[key], action)
    end
  end
  for key, actions in pairs(by_key) do
    keymaps.map_key(bufnr, "n", key, function()
      local url = question.request.url
      local page = url and (url.refused and "refused" or "url") or question.phase
      local is_over = question.outcome or question.phase == "sent"
      local action = vim.iter(is_over and {} or actions):find(function(one)
        return (one.on or page) == page
      end)
      if action then
        action.run(question)
      end
    end, (actions[1].name:gsub("_", " ")))
  end
  keymaps.map(bufnr, "n", "close", window.close, question.request.id)
  keymaps.map(bufnr, "n", "help", help.show, "form", false)
end

---Opens the form of a question, or moves the focus to it.
---@param id integer of a question
---@return boolean done
function M.open(id)
  local question = questions.get(id)
  if not question or (question.outcome and not questions.is_touched(question)) then
    return false
  end
  local bufnr = window.open(question)
  if bufnr then
    map_keys(bufnr, question)
  end
  window.draw(question)
  fields.go(question, 1)
  return true
end

---@return boolean the user is in the chat or the prompt of that session, in Normal mode
local function is_at(session)
  local bufnr = api.nvim_get_current_buf()
  local is_there = bufnr == session.bufnr or bufnr == session.prompt_bufnr
  local mode = api.nvim_get_mode()
  return is_there and mode.mode == "n" and not mode.blocking and not command_line_window.has_focus()
end

---@param event acp.Event of type elicitation
---@return boolean new false for a redraw
function M.asked(session, event)
  local question, new = questions.add(session.key, event.block, event.request)
  window.draw_block(question)
  if new then
    late.when_idle(
      function()
        M.open(question.request.id)
      end,
      nil,
      function()
        return not question.outcome and is_at(session)
      end
    )
  end
  return new
end

---Closes the form of a question that is over. After an answer of the user the next question of the chat is opened.
local function close(question)
  local id = question.request.id
  local is_here = window.current() == id
  if question.outcome.why and (is_here or editing.has_focus()) then
    window.draw(question) -- the form stays open: keys that are being typed must not reach another window
    return
  end
  typed_ahead.closing(function()
    window.close(id)
  end)
  local waiting = is_here and sessions.get(question.session) and questions.waiting(question.session)[1]
  if waiting and not window.window(waiting.request.id) then
    M.open(waiting.request.id)
  end
end

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
      local words = "the question of %s is over; what you had filled in is kept in the chat"
      message.news(words:format(sessions.name(session)), vim.log.levels.WARN)
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

---Shows the result of a check: the problems, or the answers for review.
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

---Implements :AcpForms: opens the waiting question, or lets the user choose one.
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
    dialog.select(waiting, {
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

---@param action "accept"|"decline"|"cancel"
---@param values? table<string, string|boolean|string[]> replace the values of these fields
---@return boolean sent problems with the values are shown in the form
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

---Ends the questions that wait: nobody takes their answers any more.
---@param why "agent_gone"|"cancelled"
---@param session? integer only those of this one
---@return integer[] their ids
function M.abandon(why, session)
  local ids = {}
  for _, question in ipairs(questions.open()) do
    if not session or question.session == session then
      question.outcome = { action = "cancel", why = why, answers = {} }
      window.draw_block(question)
      close(question)
      table.insert(ids, question.request.id)
    end
  end
  return ids
end

host.on_exit(function()
  M.abandon("agent_gone")
  transcript.flush()
  questions.begin_host()
end)

return M
