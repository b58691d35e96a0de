-- The keys of a form: which there are, and what each does while the form is filled in, looked at, or over.
local answering = require("acp_nvim.forms.answering")
local config = require("acp_nvim.config")
local drawing = require("acp_nvim.forms.drawing")
local fields = require("acp_nvim.forms.fields")
local help = require("acp_nvim.chat.help")
local window = require("acp_nvim.forms.window")

local M = {}

---@class acp.FormAction
---@field name string of the keymap
---@field run fun(question: acp.Question)
---@field phase? "fill"|"review"
---@field of? "form"|"url"

---@type acp.FormAction[]
local ACTIONS = {
  { name = "form_edit", run = fields.edit, phase = "fill", of = "form" },
  { name = "form_toggle", run = fields.toggle, phase = "fill", of = "form" },
  { name = "form_clear", run = fields.clear, phase = "fill", of = "form" },
  { name = "form_review", run = answering.review, phase = "fill", of = "form" },
  {
    name = "form_next",
    phase = "fill",
    of = "form",
    run = function(question)
      fields.step(question, 1)
    end,
  },
  {
    name = "form_previous",
    phase = "fill",
    of = "form",
    run = function(question)
      fields.step(question, -1)
    end,
  },
  {
    name = "form_send",
    phase = "review",
    of = "form",
    run = function(question)
      answering.answer(question, "accept")
    end,
  },
  {
    name = "form_back",
    phase = "review",
    of = "form",
    run = function(question)
      question.phase = "fill"
      drawing.form(question)
      fields.go(question, 1)
    end,
  },
  { name = "form_open", run = answering.open_url, of = "url" },
  {
    name = "form_opened",
    of = "url",
    run = function(question)
      answering.answer(question, "accept")
    end,
  },
  {
    name = "form_decline",
    run = function(question)
      answering.answer(question, "decline")
    end,
  },
  {
    name = "form_cancel",
    run = function(question)
      answering.answer(question, "cancel")
    end,
  },
}

---@param question acp.Question
---@param action acp.FormAction
---@return boolean
local function means_something(question, action)
  local of = question.request.url and "url" or "form"
  local refused = of == "url" and question.request.url.refused and action.of == "url"
  return not question.outcome
    and question.phase ~= "sent"
    and not refused
    and (not action.of or action.of == of)
    and (not action.phase or action.phase == question.phase)
end

---@param question acp.Question
---@return fun(bufnr: integer)
function M.of(question)
  ---@type table<string, acp.FormAction[]> by key: what it does depends on the phase
  local by_key = {}
  for _, action in ipairs(ACTIONS) do
    for _, key in ipairs(config.keys(action.name)) do
      by_key[key] = by_key[key] or {}
      table.insert(by_key[key], action)
    end
  end
  return function(bufnr)
    local function map(key, run, desc)
      vim.keymap.set("n", key, run, { buffer = bufnr, nowait = true, desc = "acp: " .. desc })
    end
    for key, actions in pairs(by_key) do
      map(key, function()
        for _, action in ipairs(actions) do
          if means_something(question, action) then
            return action.run(question)
          end
        end
      end, actions[1].name:gsub("_", " "))
    end
    for _, key in ipairs(config.keys("close")) do
      map(key, function()
        window.close(question.request.id)
      end, "close")
    end
    for _, key in ipairs(config.keys("help")) do
      map(key, function()
        help.show("form", false)
      end, "help")
    end
  end
end

return M
