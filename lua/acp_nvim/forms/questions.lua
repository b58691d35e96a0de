-- The questions of agents to the user, and what the user has filled in so far; nothing of it is lost when one is over.
local M = {}

---@class acp.FormChoice
---@field value string
---@field title string
---@field description? string

---@class acp.FormField
---@field name string
---@field kind "text"|"integer"|"number"|"boolean"|"choice"|"choices"|"unknown"
---@field title string
---@field description? string
---@field required? boolean
---@field hint? string
---@field choices? acp.FormChoice[]
---@field default? string|boolean|string[]
---@field secret? boolean it asks for what looks like a secret

---@class acp.FormAnswer
---@field field string its name
---@field title string
---@field text string

---@class acp.FormUrl
---@field url string
---@field host string
---@field first integer byte where the host begins, counted from 0
---@field last integer byte behind it
---@field warnings string[]
---@field refused? string why it is not opened

---@class acp.FormRequest
---@field id integer
---@field agent string
---@field message string
---@field title? string
---@field description? string
---@field fields? acp.FormField[]
---@field url? acp.FormUrl
---@field about? string title of a tool call

---@class acp.Question
---@field session integer
---@field block integer
---@field request acp.FormRequest its id is unique in this Neovim
---@field host_id integer as the host numbers it
---@field values table<string, string|boolean|string[]> by the field's name
---@field problems table<string, string> by the field's name
---@field phase "fill"|"review"|"sent"|"over"
---@field version integer counts what was filled in
---@field review? acp.FormAnswer[] what would be sent
---@field unchecked? string[] names of fields whose pattern nobody could look at
---@field outcome? { action: string, why?: string, answers: acp.FormAnswer[] }
---@field complete? boolean what was to be done at the URL is done

---@type table<integer, acp.Question>
local questions = {}
local base = 0 -- of the ids of this host's questions
local HOST = 1000000 -- questions that one host asks at the most

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
---@return boolean new false when it is only told again
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

---@param id integer
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

---@param session integer
---@return acp.Question[] that nobody has answered
function M.open(session)
  return vim.tbl_filter(function(one)
    return one.session == session and not one.outcome
  end, vim.tbl_values(questions))
end

---@param question acp.Question
---@return boolean the user has filled in something
function M.is_touched(question)
  return not vim.deep_equal(question.values, defaults(question.request))
end

---@param question acp.Question
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

---Another host numbers its questions from 1 again.
function M.begin_host()
  base = base + HOST
end

return M
