-- Keeps the questions of agents and the values that the user has filled in, also after a question is over.
local dialog = require("acp_nvim.kernel.dialog")
local external = require("acp_nvim.kernel.external")
local host = require("acp_nvim.host")
local message = require("acp_nvim.kernel.message")

local M = {}

---@class acp.Question
---@field session integer
---@field block integer
---@field request acp.FormRequest its id is unique in this Neovim
---@field host_id integer as the host numbers it
---@field values table<string, string|boolean|string[]> by the field's name
---@field problems table<string, string> by the field's name
---@field phase "fill"|"review"|"sent"
---@field version integer counts the changes of values
---@field review? acp.FormAnswer[] what would be sent
---@field unchecked? string[] names of fields whose pattern the host cannot check
---@field outcome? { action: string, why?: string, answers: acp.FormAnswer[] }
---@field complete? boolean the task at the URL is done

---@type table<integer, acp.Question>
local questions = {}
local base = 0 -- added to the ids of this host
local BROWSER, MYSELF = "open it in the browser", "I open it myself"
local HOST_QUESTIONS = 1000000 -- of one host at the most

---@param request acp.FormRequest
---@return table<string, string|boolean|string[]>
local function defaults(request)
  local values = {}
  for _, field in ipairs(request.fields or {}) do
    if field.default ~= nil then
      values[field.name] = vim.deepcopy(field.default)
    end
  end
  return values
end

---@param session integer
---@param block integer
---@param request acp.FormRequest
---@return acp.Question
---@return boolean new false for a redraw
function M.add(session, block, request)
  local known = questions[request.id + base]
  if known then
    known.block = block
    return known, false
  end
  request.id = request.id + base
  local question = {
    host_id = request.id - base,
    session = session,
    block = block,
    request = request,
    values = defaults(request),
    problems = {},
    phase = "fill",
    version = 0,
  }
  questions[request.id] = question
  return question, true
end

---@return acp.Question?
function M.get(id)
  return questions[id]
end

---@param host_id integer
---@return acp.Question?
function M.of_host(host_id)
  return questions[host_id + base]
end

---@param session? integer
---@return acp.Question[] that wait for the user, oldest first
function M.waiting(session)
  local list = vim.tbl_filter(function(one)
    return not one.outcome and one.phase ~= "sent" and (not session or one.session == session)
  end, vim.tbl_values(questions))
  table.sort(list, function(a, b)
    return a.request.id < b.request.id
  end)
  return list
end

---@return acp.Question[] without an outcome
function M.open()
  return vim.tbl_filter(function(one)
    return not one.outcome
  end, vim.tbl_values(questions))
end

---@return boolean the user has changed a value
function M.is_touched(question)
  return not vim.deep_equal(question.values, defaults(question.request))
end

---@param name string of a field
---@param value? string|boolean|string[]
function M.set(question, name, value)
  if not vim.deep_equal(question.values[name], value) then
    question.values[name] = value
    question.problems[name] = nil
    question.version = question.version + 1
    question.review = nil
  end
end

---Sends an answer to the host, which checks the values before the agent gets them.
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

---Makes the host check the values.
function M.check(question)
  local values = next(question.values) and question.values or vim.empty_dict()
  host.send("elicitation_check", { id = question.host_id, version = question.version, values = values })
end

---Lets the user choose how the URL of a question is opened, and accepts the question.
function M.open_url(question)
  local url = question.request.url --[[@as acp.FormUrl]]
  dialog.select({ BROWSER, MYSELF }, { prompt = url.host, kind = "acp_form_url" }, function(choice)
    if not choice or question.outcome then
      return
    end
    local why = choice == BROWSER and external.start(url.url) or nil
    if why then
      return message.error(("the page could not be opened: %s (choose %q instead)"):format(why, MYSELF))
    end
    M.answer(question, "accept")
  end)
end

---Prepares for a new host, which numbers its questions from 1 again.
function M.begin_host()
  base = base + HOST_QUESTIONS
end

return M
