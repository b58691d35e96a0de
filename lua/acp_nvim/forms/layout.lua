-- Lays out a question for its own buffer: the form to fill in, the answers to review, or the URL to open.
local Lines = require("acp_nvim.render.lines")
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")

local ENDS = { { "form_decline", "decline" }, { "form_cancel", "cancel" }, { "close", "later" } }
local FILL_KEYS = { { "form_edit", "fill in" }, { "form_next", "next" }, { "form_review", "review" } }
local REVIEW_KEYS = { { "form_send", "send" }, { "form_back", "back" } }
local URL_BYTES = 32000 -- the host refuses URLs of more than 8,000 characters: the user sees all of a URL
local URL_KEYS = { { "form_open", "open it" } }
local SECRET = "This looks like a secret. Agents must not ask for one in a form: you can decline."
---@type table<string, string>
local REASONS = {
  withdrawn = "the agent has withdrawn it",
  cancelled = "what it was about was cancelled",
  agent_gone = "the agent is gone",
}

---@class acp.FormLayout
---@field out acp.Lines
---@field rows table<integer, { field: integer, choice?: integer }> row -> field and choice in it
---@field places table<integer, integer> field -> row of its value

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

---@param keys string[][] action and words
---@param with_ends boolean followed by the keys that end the question
local function add_keys(out, keys, with_ends)
  local pieces = {}
  for _, one in ipairs(vim.list_extend(vim.list_slice(keys), with_ends and ENDS or {})) do
    local key = config.keys(one[1])[1]
    if key then
      vim.list_extend(pieces, { #pieces > 0 and " · " or "", { key, "AcpFormKey" }, " " .. one[2] })
    end
  end
  out:add(pieces)
end

---@param words string verb and object behind the agent's name
---@param keys string[][] action and words
---@param with_ends boolean
local function add_head(out, question, words, keys, with_ends)
  local request = question.request
  out:add({ { ("%s %s"):format(request.agent, words), "AcpForm" } })
  add_keys(out, keys, with_ends)
  if request.about then
    out:add({ { "about ", "AcpToolDetail" }, Lines.one_line(request.about) })
  end
  out:add_whole("")
  add_text(out, request.message, "")
  add_text(out, request.title, "", "AcpForm")
  add_text(out, request.description, "", "AcpToolDetail")
end

local function add_title(out, field)
  out:add({
    { field.required and "* " or "  ", "AcpFormRequired" },
    { Lines.one_line(field.title), "AcpFormField" },
    { field.hint and ("  (%s)"):format(field.hint) or "", "AcpToolDetail" },
  })
  add_text(out, field.description, "    ", "AcpToolDetail")
  add_text(out, field.secret and SECRET or nil, "    ", "AcpFormProblem")
end

---@param value? string[]
local function add_choices(layout, index, field, value)
  for number, choice in ipairs(field.choices) do
    local row = #layout.out.lines
    layout.rows[row] = { field = index, choice = number }
    layout.places[index] = layout.places[index] or row
    local mark = vim.list_contains(value or {}, choice.value) and "x" or " "
    local detail = choice.description and ("  " .. Lines.one_line(choice.description)) or ""
    local title = Lines.one_line(choice.title)
    layout.out:add({ "    [", { mark, "AcpFormValue" }, "] ", title, { detail, "AcpToolDetail" } })
  end
end

---@param value any
---@return string? words nil when the field is empty
local function value_words(field, value)
  if field.kind == "boolean" then
    return value == true and "yes" or value == false and "no" or nil
  elseif field.kind ~= "choice" then
    return value ~= nil and value ~= "" and tostring(value) or nil
  end
  for _, choice in ipairs(field.choices or {}) do
    if choice.value == value then
      return Lines.one_line(choice.title)
    end
  end
end

---@param value any
local function add_value(layout, index, field, value)
  if field.kind == "choices" and #(field.choices or {}) > 0 then
    return add_choices(layout, index, field, value)
  end
  layout.places[index] = #layout.out.lines
  local words = value_words(field, value)
  for number, line in ipairs(vim.split(words or "", "\n", { plain = true })) do
    layout.rows[#layout.out.lines] = { field = index }
    local empty = field.kind == "unknown" and "cannot be filled in here" or "nothing yet"
    local shown = words and { line, "AcpFormValue" } or { empty, "AcpPlaceholder" }
    layout.out:add({ number == 1 and "  > " or "    ", shown })
  end
end

local function add_form(layout, question)
  add_head(layout.out, question, "asks you", FILL_KEYS, true)
  for index, field in ipairs(question.request.fields or {}) do
    layout.out:add_whole("")
    add_title(layout.out, field)
    add_value(layout, index, field, question.values[field.name])
    local problem = question.problems[field.name]
    if problem then
      layout.out:add({ { "    ✗ " .. problem, "AcpFormProblem" } })
    end
  end
end

local function add_review(out, question)
  local answers, sent, missing = question.review or {}, {}, {}
  out:add({ { ("This will be sent to %s"):format(question.request.agent), "AcpForm" } })
  add_keys(out, REVIEW_KEYS, true)
  out:add_whole("")
  for _, answer in ipairs(answers) do
    sent[answer.field] = true
    local lines = vim.split(answer.text, "\n", { plain = true })
    out:add({ "  ", { Lines.one_line(answer.title), "AcpFormField" }, ": ", { lines[1], "AcpFormValue" } })
    for index = 2, #lines do
      out:add({ "    ", { lines[index], "AcpFormValue" } })
    end
  end
  if #answers == 0 then
    out:add_whole("  an empty form", "AcpPlaceholder")
  end
  for _, field in ipairs(question.request.fields or {}) do
    missing[#missing + 1] = not sent[field.name] and Lines.one_line(field.title) or nil
  end
  if #missing > 0 then
    out:add({ { "  not filled in: " .. table.concat(missing, ", "), "AcpToolDetail" } })
  end
  for _, name in ipairs(question.unchecked or {}) do
    out:add({ { ("  Nobody here can check the pattern of %q; the agent does."):format(name), "AcpFormProblem" } })
  end
end

local function add_url(layout, question)
  local out = layout.out
  local url = question.request.url --[[@as acp.FormUrl]]
  add_head(out, question, "asks you to open a web page", url.refused and {} or URL_KEYS, true)
  out.bytes = URL_BYTES
  out:add_whole("")
  layout.places[1] = #out.lines
  if url.refused then
    out:add({ "  ", url.url })
    out:add_whole("")
    out:add({ { ("It is not opened: %s."):format(url.refused), "AcpFormProblem" } })
    return
  end
  out:add({ "  ", url.url:sub(1, url.first), { url.host, "AcpFormHost" }, url.url:sub(url.last + 1) })
  out:add_whole("")
  out:add({ "The page is at ", { url.host, "AcpFormHost" } })
  for _, warning in ipairs(url.warnings or {}) do
    out:add({ { "! " .. warning, "AcpFormProblem" } })
  end
end

---Adds a closed question, with the values that were filled in, to be read and copied.
local function add_closed(layout, question)
  local why = REASONS[question.outcome.why] or "it was answered"
  add_head(layout.out, question, "asked you", { { "close", "close" } }, false)
  layout.out:add_whole("")
  layout.out:add({ { ("This question is over: %s. Nothing more is sent."):format(why), "AcpFormProblem" } })
  for index, field in ipairs(question.request.fields or {}) do
    layout.out:add_whole("")
    layout.out:add({ "  ", { Lines.one_line(field.title), "AcpFormField" } })
    add_value(layout, index, field, question.values[field.name])
  end
end

---@param question acp.Question
---@return acp.FormLayout
return function(question)
  local layout = { out = Lines.new(), rows = {}, places = {} }
  if question.outcome then
    add_closed(layout, question)
  elseif question.request.url then
    add_url(layout, question)
  elseif question.phase == "review" then
    add_review(layout.out, question)
  else
    add_form(layout, question)
  end
  return layout
end
