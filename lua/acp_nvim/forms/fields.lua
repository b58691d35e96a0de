-- Edits the fields of a form: types, toggles, chooses and clears values, and moves from field to field.
local Lines = require("acp_nvim.render.lines")
local dialog = require("acp_nvim.kernel.dialog")
local editing = require("acp_nvim.forms.editing")
local questions = require("acp_nvim.forms.questions")
local window = require("acp_nvim.forms.window")

local M = {}

local api = vim.api
local NO_ANSWER = { title = "no answer" } -- an entry of the list

---@return integer? index of the field under the cursor
---@return integer? choice
local function at_cursor(question)
  local layout = window.layout(question.request.id)
  local row = layout and layout.rows[api.nvim_win_get_cursor(0)[1] - 1]
  return row and row.field, row and row.choice
end

---Moves the cursor to a field.
function M.go(question, index)
  local layout = window.layout(question.request.id)
  if layout and layout.places[index] then
    window.go(question.request.id, layout.places[index])
  end
end

---Moves the cursor to the next or previous field, in a circle.
---@param step 1|-1
---@param from? integer field to start at; nil: the one at the cursor, or the last one above it
function M.step(question, step, from)
  local count = #(question.request.fields or {})
  if count == 0 then
    return
  end
  local index = from or 0
  if not from then
    local layout, line = window.layout(question.request.id), api.nvim_win_get_cursor(0)[1] - 1
    for field, row in pairs(layout and layout.places or {}) do
      index = row <= line and math.max(index, field) or index
    end
    if step < 0 and index > 0 and at_cursor(question) ~= index then
      return M.go(question, index) -- the cursor is below the field
    end
  end
  M.go(question, math.max(1, (index + step - 1) % count + 1))
end

---@param value? string|boolean|string[]
local function set(question, index, value)
  questions.set(question, question.request.fields[index].name, value)
  window.draw(question)
end

local function type_text(question, index)
  local field = question.request.fields[index]
  local id = question.request.id
  local win, layout = window.window(id), window.layout(id)
  if not win or not layout then
    return
  end
  local value = question.values[field.name]
  editing.open({
    title = Lines.one_line(field.title),
    text = type(value) == "string" and value or "",
    win = win,
    row = layout.places[index],
    on_change = function(text)
      questions.set(question, field.name, text ~= "" and text or nil)
    end,
    on_close = function(to_next)
      window.draw(question)
      local form = window.window(id)
      if form and to_next then
        api.nvim_set_current_win(form)
        M.step(question, 1, index)
      end
    end,
  })
end

local function choose(question, index)
  local field = question.request.fields[index]
  local from, choices = api.nvim_get_current_win(), vim.list_slice(field.choices or {})
  if not field.required then
    choices[#choices + 1] = NO_ANSWER
  end
  dialog.select(choices, {
    prompt = Lines.one_line(field.title),
    kind = "acp_form",
    format_item = function(choice)
      local detail = choice.description and ("  (%s)"):format(Lines.one_line(choice.description)) or ""
      return Lines.one_line(choice.title) .. detail
    end,
  }, function(choice)
    if choice then
      set(question, index, choice ~= NO_ANSWER and choice.value or nil)
      if api.nvim_win_is_valid(from) and api.nvim_get_current_win() == from then
        M.step(question, 1, index)
      end
    end
  end)
end

---Selects or deselects one of several choices.
---@param number integer of the choice
local function toggle_choice(question, index, number)
  local field = question.request.fields[index]
  local chosen, kept = question.values[field.name] or {}, {}
  for _, choice in ipairs(field.choices) do -- in their order
    local has = vim.list_contains(chosen --[[@as string[] ]], choice.value)
    if has ~= (choice.value == field.choices[number].value) then
      kept[#kept + 1] = choice.value
    end
  end
  set(question, index, kept)
end

---Fills in the field under the cursor, as its kind requires.
function M.edit(question)
  local index, number = at_cursor(question)
  if not index then
    return M.step(question, 1)
  end
  local field = question.request.fields[index]
  if number then
    toggle_choice(question, index, number)
  elseif field.kind == "boolean" then
    local value = question.values[field.name]
    if value == false and not field.required then
      set(question, index, nil)
    else
      set(question, index, value ~= true)
    end
  elseif field.kind == "choice" then
    choose(question, index)
  elseif field.kind ~= "unknown" and field.kind ~= "choices" then
    type_text(question, index)
  end
end

return M
