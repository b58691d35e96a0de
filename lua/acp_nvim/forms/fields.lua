-- What the keys of a form do with its fields: type, toggle, choose, clear, and go from one to the next.
local Lines = require("acp_nvim.chat.blocks.lines")
local editing = require("acp_nvim.forms.editing")
local questions = require("acp_nvim.forms.questions")
local window = require("acp_nvim.forms.window")

local M = {}

local api = vim.api

---@param question acp.Question
---@return integer? index of the field under the cursor
---@return integer? choice
local function at_cursor(question)
  local look = window.look(question.request.id)
  local row = look and look.rows[api.nvim_win_get_cursor(0)[1] - 1]
  return row and row.field, row and row.choice
end

---@param question acp.Question
---@param index integer
function M.go(question, index)
  local look = window.look(question.request.id)
  if look and look.places[index] then
    window.go(question.request.id, look.places[index])
  end
end

---@param question acp.Question
---@return integer index of the field at the cursor, or of the last one above it
local function nearest(question)
  local look, line = window.look(question.request.id), api.nvim_win_get_cursor(0)[1] - 1
  local found = 0
  for index, row in pairs(look and look.places or {}) do
    if row <= line then
      found = math.max(found, index)
    end
  end
  return found
end

---@param question acp.Question
---@param step 1|-1
---@param from? integer
function M.step(question, step, from)
  local count = #(question.request.fields or {})
  if count > 0 then
    local index = from or nearest(question)
    local before = not from and step < 0 and index > 0 and at_cursor(question) ~= index
    M.go(question, before and index or math.max(1, (index + step - 1) % count + 1))
  end
end

---@param question acp.Question
---@param index integer
---@param value? string|boolean|string[]
local function set(question, index, value)
  questions.set(question, question.request.fields[index].name, value)
  window.draw(question)
end

---@param question acp.Question
---@param index integer
local function type_text(question, index)
  local field = question.request.fields[index]
  local id = question.request.id
  local win, look = window.window(id), window.look(id)
  if not win or not look then
    return
  end
  local value = question.values[field.name]
  editing.open({
    title = Lines.one_line(field.title),
    text = type(value) == "string" and value or "",
    win = win,
    row = look.places[index],
    on_change = function(text)
      questions.set(question, field.name, text ~= "" and text or nil)
    end,
    on_close = function(goes_on)
      window.draw(question)
      local form = window.window(id)
      if form and goes_on then
        api.nvim_set_current_win(form)
        M.step(question, 1, index)
      end
    end,
  })
end

---@param question acp.Question
---@param index integer
local function choose(question, index)
  local field = question.request.fields[index]
  local from = api.nvim_get_current_win()
  vim.ui.select(field.choices or {}, {
    prompt = Lines.one_line(field.title),
    kind = "acp_form",
    format_item = function(choice)
      local detail = choice.description and ("  (%s)"):format(Lines.one_line(choice.description)) or ""
      return Lines.one_line(choice.title) .. detail
    end,
  }, function(choice)
    if choice then
      set(question, index, choice.value)
      if api.nvim_win_is_valid(from) and api.nvim_get_current_win() == from then
        M.step(question, 1, index)
      end
    end
  end)
end

---@param question acp.Question
---@param index integer
---@param number integer of the choice
local function flip(question, index, number)
  local field = question.request.fields[index]
  local value = field.choices[number].value
  local chosen, kept = question.values[field.name] or {}, {}
  for _, choice in ipairs(field.choices) do -- in their order
    local has = vim.list_contains(chosen --[[@as string[] ]], choice.value)
    if has ~= (choice.value == value) then
      kept[#kept + 1] = choice.value
    end
  end
  set(question, index, kept)
end

---@param question acp.Question
---@param index integer
local function flip_boolean(question, index)
  local field = question.request.fields[index]
  local value = question.values[field.name]
  if value == false and not field.required then
    return set(question, index, nil)
  end
  set(question, index, value ~= true)
end

---@param question acp.Question
---@param index integer
local function next_choice(question, index)
  local field, at = question.request.fields[index], 0
  local choices = field.choices or {}
  for number, choice in ipairs(choices) do
    at = choice.value == question.values[field.name] and number or at
  end
  local choice = choices[at % math.max(1, #choices) + 1]
  if choice then
    set(question, index, choice.value)
  end
end

---Fills in the field under the cursor, in the way that it has.
---@param question acp.Question
function M.edit(question)
  local index, number = at_cursor(question)
  if not index then
    return M.step(question, 1)
  end
  local kind = question.request.fields[index].kind
  if number then
    flip(question, index, number)
  elseif kind == "boolean" then
    flip_boolean(question, index)
  elseif kind == "choice" then
    choose(question, index)
  elseif kind ~= "unknown" and kind ~= "choices" then
    type_text(question, index)
  end
end

---The next value of the field under the cursor; a text is typed.
---@param question acp.Question
function M.toggle(question)
  local index, number = at_cursor(question)
  if index and not number and question.request.fields[index].kind == "choice" then
    return next_choice(question, index)
  end
  M.edit(question)
end

---Nothing is filled in there.
---@param question acp.Question
function M.clear(question)
  local index = at_cursor(question)
  if index then
    set(question, index, nil)
  end
end

return M
