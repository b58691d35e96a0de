-- The keys of a form: which there are, and what each does while the form is filled in, looked at, or over.
local config = require("acp_nvim.config")
local fields = require("acp_nvim.forms.fields")
local help = require("acp_nvim.chat.help")
local keymaps = require("acp_nvim.keymaps")
local questions = require("acp_nvim.forms.questions")
local window = require("acp_nvim.forms.window")

local M = {}

---@class acp.FormAction
---@field name string of the keymap
---@field run fun(question: acp.Question)
---@field on? acp.FormPage where it means something; nil: everywhere, while the question waits

---@alias acp.FormPage "fill"|"review"|"url"|"refused"|"over"

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

---@param question acp.Question
local function back(question)
  question.phase = "fill"
  window.draw(question)
  fields.go(question, 1)
end

---@type acp.FormAction[]
local ACTIONS = {
  { name = "form_edit", run = fields.edit, on = "fill" },
  { name = "form_toggle", run = fields.toggle, on = "fill" },
  { name = "form_clear", run = fields.clear, on = "fill" },
  { name = "form_review", run = questions.check, on = "fill" },
  { name = "form_next", run = stepping(1), on = "fill" },
  { name = "form_previous", run = stepping(-1), on = "fill" },
  { name = "form_send", run = answering("accept"), on = "review" },
  { name = "form_back", run = back, on = "review" },
  { name = "form_open", run = questions.open_url, on = "url" },
  { name = "form_opened", run = answering("accept"), on = "url" },
  { name = "form_decline", run = answering("decline") },
  { name = "form_cancel", run = answering("cancel") },
}

---@param question acp.Question
---@return acp.FormPage
local function page(question)
  local url = question.request.url
  if question.outcome or question.phase == "sent" then
    return "over"
  end
  return url and (url.refused and "refused" or "url") or question.phase
end

---Maps the keys of a form.
---@param bufnr integer
---@param question acp.Question
function M.map(bufnr, question)
  ---@type table<string, acp.FormAction[]> by key: what it does depends on the page
  local by_key = {}
  for _, action in ipairs(ACTIONS) do
    for _, key in ipairs(config.keys(action.name)) do
      by_key[key] = by_key[key] or {}
      table.insert(by_key[key], action)
    end
  end
  for key, actions in pairs(by_key) do
    vim.keymap.set("n", key, function()
      local now = page(question)
      local action = vim.iter(actions):find(function(one)
        return now ~= "over" and (one.on or now) == now
      end)
      if action then
        action.run(question)
      end
    end, { buffer = bufnr, nowait = true, desc = "acp: " .. actions[1].name:gsub("_", " ") })
  end
  keymaps.map(bufnr, "n", "close", window.close, question.request.id)
  keymaps.map(bufnr, "n", "help", help.show, "form", false)
end

return M
