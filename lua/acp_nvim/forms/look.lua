-- Draws a question in its own buffer: the form to be filled in, what would be sent, or the URL to be opened.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")

local M = {}

local ENDS = { { "form_decline", "decline" }, { "form_cancel", "cancel" }, { "close", "later" } }
local FILLING = { { "form_edit", "fill in" }, { "form_next", "next" }, { "form_review", "review" } }
local LOOKING = { { "form_send", "send" }, { "form_back", "back" } }
local OPENING = { { "form_open", "open it in the browser" }, { "form_opened", "I open it myself" } }

---@class acp.FormRow
---@field field integer
---@field choice? integer

---@class acp.FormLook
---@field out acp.Lines
---@field rows table<integer, acp.FormRow> row -> what stands there
---@field places table<integer, integer> field -> row of its value

---@param out acp.Lines
---@param text? string
---@param indent string
---@param group? string
local function add_text(out, text, indent, group)
  if text and text ~= "" then
    local lines = vim.split(vim.trim(text), "\r?\n")
    for index = 1, math.min(#lines, limits.request_lines) do
      out:add_whole(lines[index] == "" and "" or indent .. lines[index], group)
    end
    if #lines > limits.request_lines then
      out:add_count(#lines - limits.request_lines)
    end
  end
end

---@param out acp.Lines
---@param actions string[][] action and words
local function add_keys(out, actions)
  local pieces = {}
  for _, one in ipairs(actions) do
    local key = config.keys(one[1])[1]
    if key then
      vim.list_extend(pieces, { #pieces > 0 and " · " or "", { key, "AcpFormKey" }, " " .. one[2] })
    end
  end
  out:add(pieces)
end

---@param out acp.Lines
---@param question acp.Question
---@param words string what it wants
---@param actions string[][] action and words
local function add_head(out, question, words, actions)
  local request = question.request
  out:add({ { ("%s %s"):format(request.agent, words), "AcpForm" } })
  add_keys(out, actions)
  if request.about then
    out:add({ { "about ", "AcpToolDetail" }, Lines.one_line(request.about) })
  end
  out:add_whole("")
  add_text(out, request.message, "")
  add_text(out, request.title, "", "AcpForm")
  add_text(out, request.description, "", "AcpToolDetail")
end

---@param out acp.Lines
---@param field acp.FormField
local function add_title(out, field)
  local hint = field.hint and ("  (%s)"):format(field.hint) or ""
  local title = Lines.one_line(field.title)
  out:add({
    { field.required and "* " or "  ", "AcpFormRequired" },
    { title, "AcpFormField" },
    { hint, "AcpToolDetail" },
  })
  add_text(out, field.description, "    ", "AcpToolDetail")
  if field.secret then
    add_text(
      out,
      "This looks like a secret. Agents must not ask for one in a form: you can decline.",
      "    ",
      "AcpFormProblem"
    )
  end
end

---@param choice acp.FormChoice
---@return (string|string[])[]
local function choice_words(choice)
  local detail = choice.description and ("  " .. Lines.one_line(choice.description)) or ""
  return { Lines.one_line(choice.title), { detail, "AcpToolDetail" } }
end

---@param field acp.FormField
---@param value any
---@return string? title of what is chosen
local function chosen_title(field, value)
  for _, choice in ipairs(field.choices or {}) do
    if choice.value == value then
      return Lines.one_line(choice.title)
    end
  end
end

---@param look acp.FormLook
---@param index integer
---@param field acp.FormField
---@param value? string[]
local function add_choices(look, index, field, value)
  for number, choice in ipairs(field.choices) do
    local row = #look.out.lines
    look.rows[row] = { field = index, choice = number }
    look.places[index] = look.places[index] or row
    local mark = vim.list_contains(value or {}, choice.value) and "x" or " "
    local pieces = { "    [", { mark, "AcpFormValue" }, "] " }
    look.out:add(vim.list_extend(pieces, choice_words(choice)))
  end
end

---@param field acp.FormField
---@param value any
---@return string? words nil where nothing was filled in
local function value_words(field, value)
  if field.kind == "boolean" then
    return value == true and "yes" or value == false and "no" or nil
  elseif field.kind == "choice" then
    return chosen_title(field, value)
  end
  return value ~= nil and value ~= "" and tostring(value) or nil
end

---@param look acp.FormLook
---@param index integer
---@param field acp.FormField
---@param value any
local function add_value(look, index, field, value)
  if field.kind == "choices" and #(field.choices or {}) > 0 then
    return add_choices(look, index, field, value)
  end
  local row = #look.out.lines
  look.places[index] = row
  local words = value_words(field, value)
  for number, line in ipairs(vim.split(words or "", "\n", { plain = true })) do
    look.rows[#look.out.lines] = { field = index }
    local empty = field.kind == "unknown" and "cannot be filled in here" or "nothing yet"
    local shown = words and { line, "AcpFormValue" } or { empty, "AcpPlaceholder" }
    look.out:add({ number == 1 and "  > " or "    ", shown })
  end
end

---@return acp.FormLook
local function new()
  return { out = Lines.new(), rows = {}, places = {} }
end

---@param question acp.Question
---@return acp.FormLook
local function fill(question)
  local look = new()
  add_head(look.out, question, "asks you", vim.list_extend(vim.list_slice(FILLING), ENDS))
  for index, field in ipairs(question.request.fields or {}) do
    look.out:add_whole("")
    add_title(look.out, field)
    add_value(look, index, field, question.values[field.name])
    local problem = question.problems[field.name]
    if problem then
      look.out:add({ { "    ✗ " .. problem, "AcpFormProblem" } })
    end
  end
  return look
end

---@param question acp.Question
---@return string[] titles of fields that are not sent
local function left_out(question)
  local titles, said = {}, {}
  for _, answer in ipairs(question.review or {}) do
    said[answer.field] = true
  end
  for _, field in ipairs(question.request.fields or {}) do
    if not said[field.name] then
      titles[#titles + 1] = Lines.one_line(field.title)
    end
  end
  return titles
end

---@param out acp.Lines
---@param answers acp.FormAnswer[]
local function add_answers(out, answers)
  for _, answer in ipairs(answers) do
    local lines = vim.split(answer.text, "\n", { plain = true })
    out:add({ "  ", { Lines.one_line(answer.title), "AcpFormField" }, ": ", { lines[1], "AcpFormValue" } })
    for index = 2, #lines do
      out:add({ "    ", { lines[index], "AcpFormValue" } })
    end
  end
end

---@param question acp.Question
---@return acp.FormLook
local function review(question)
  local look = new()
  look.out:add({ { ("This will be sent to %s"):format(question.request.agent), "AcpForm" } })
  add_keys(look.out, vim.list_extend(vim.list_slice(LOOKING), ENDS))
  look.out:add_whole("")
  add_answers(look.out, question.review or {})
  if #(question.review or {}) == 0 then
    look.out:add_whole("  an empty form", "AcpPlaceholder")
  end
  local rest = left_out(question)
  if #rest > 0 then
    look.out:add({ { "  not filled in: " .. table.concat(rest, ", "), "AcpToolDetail" } })
  end
  for _, name in ipairs(question.unchecked or {}) do
    look.out:add({ { ("  Nobody here can check the pattern of %q; the agent does."):format(name), "AcpFormProblem" } })
  end
  return look
end

---@param question acp.Question
---@return acp.FormLook
local function url(question)
  local look, url = new(), question.request.url --[[@as acp.FormUrl]]
  local out = look.out
  local opening = url.refused and {} or vim.list_slice(OPENING)
  add_head(out, question, "asks you to open a web page", vim.list_extend(opening, ENDS))
  out:add_whole("")
  look.places[1] = #out.lines
  if url.refused then
    out:add({ "  ", url.url })
    out:add_whole("")
    out:add({ { ("It is not opened: %s."):format(url.refused), "AcpFormProblem" } })
  else
    out:add({ "  ", url.url:sub(1, url.first), { url.host, "AcpFormHost" }, url.url:sub(url.last + 1) })
    out:add_whole("")
    out:add({ "The page is at ", { url.host, "AcpFormHost" } })
    for _, warning in ipairs(url.warnings or {}) do
      out:add({ { "! " .. warning, "AcpFormProblem" } })
    end
  end
  return look
end

---@type table<string, string>
local WHY = {
  withdrawn = "the agent has taken it back",
  cancelled = "what it was about was cancelled",
  agent_gone = "the agent is gone",
}

---A question that is over, with what was filled in: it can still be read and copied.
---@param question acp.Question
---@return acp.FormLook
local function over(question)
  local look = new()
  local why = WHY[question.outcome and question.outcome.why] or "it was answered"
  add_head(look.out, question, "asked you", { { "close", "close" } })
  look.out:add_whole("")
  look.out:add({ { ("This question is over: %s. Nothing more is sent."):format(why), "AcpFormProblem" } })
  for index, field in ipairs(question.request.fields or {}) do
    look.out:add_whole("")
    look.out:add({ "  ", { Lines.one_line(field.title), "AcpFormField" } })
    add_value(look, index, field, question.values[field.name])
  end
  return look
end

---@param question acp.Question
---@return acp.FormLook
function M.of(question)
  if question.outcome then
    return over(question)
  elseif question.request.url then
    return url(question)
  end
  return question.phase == "review" and review(question) or fill(question)
end

return M
