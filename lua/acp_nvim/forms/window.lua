-- Opens and closes the window of a question, and draws its buffer. Closing the window answers nothing.
local Lines = require("acp_nvim.render.lines")
local block = require("acp_nvim.forms.question")
local decoration = require("acp_nvim.render.decoration")
local edge = require("acp_nvim.windows.edge")
local layout_of = require("acp_nvim.forms.layout")
local limits = require("acp_nvim.limits")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local questions = require("acp_nvim.forms.questions")
local sessions = require("acp_nvim.host.sessions")
local switch = require("acp_nvim.windows.switch")
local transcript = require("acp_nvim.transcript")

local M = {}

local api = vim.api
local PROBLEMS = api.nvim_create_namespace("acp_nvim.form_problems")

vim.diagnostic.config({ virtual_text = false, virtual_lines = false, underline = false, signs = true }, PROBLEMS)

---@class acp.OpenForm
---@field bufnr integer
---@field from integer window that had the focus before
---@field layout? acp.FormLayout of the buffer

---@type table<integer, acp.OpenForm> by the question's id
local open = {}

---@return integer? bufnr
local function buffer_of(id)
  local form = open[id]
  return form and api.nvim_buf_is_loaded(form.bufnr) and form.bufnr or nil
end

---@return integer? win
function M.window(id)
  local bufnr = buffer_of(id)
  return bufnr and vim.fn.win_findbuf(bufnr)[1] or nil
end

---@return integer? id of the question whose form has the focus
function M.current()
  local current = api.nvim_get_current_buf()
  for id, form in pairs(open) do
    if form.bufnr == current then
      return id
    end
  end
end

---@return acp.FormLayout?
function M.layout(id)
  return open[id] and open[id].layout
end

---Draws a question in its chat.
function M.draw_block(question)
  local session = sessions.get(question.session)
  if session then
    transcript.draw(session, question.block, "question", block(question, questions.is_touched(question)))
  end
end

---Draws the form of a question, if it is open.
function M.draw(question)
  local bufnr = buffer_of(question.request.id)
  if not bufnr then
    return
  end
  local layout = layout_of(question)
  open[question.request.id].layout = layout
  decoration.fill(bufnr, layout.out.lines, layout.out.highlights)
  vim.bo[bufnr].modified = false
  local diagnostics = {}
  local is_form = question.phase == "fill" and not question.outcome
  for index, field in ipairs(is_form and question.request.fields or {}) do
    local problem = question.problems[field.name]
    if problem and layout.places[index] then
      diagnostics[#diagnostics + 1] = {
        lnum = layout.places[index],
        col = 0,
        severity = vim.diagnostic.severity.ERROR,
        source = "acp_nvim",
        message = Lines.one_line(("%s %s"):format(field.title, problem)),
      }
    end
  end
  vim.diagnostic.set(PROBLEMS, bufnr, diagnostics)
end

---Opens the form of a question, or moves the focus to it.
---@return integer? bufnr a new one, without keymaps; nil when the form was open
function M.open(question)
  local id, title = question.request.id, Lines.one_line(question.request.message)
  local win = M.window(id)
  if win then
    return api.nvim_set_current_win(win)
  end
  local bufnr = named.scratch(named.name(("form %d %s"):format(id, vim.fn.strcharpart(title, 0, limits.terminal_name))))
  open[id] = { bufnr = bufnr, from = api.nvim_get_current_win() }
  local lines = #layout_of(question).out.lines
  edge.below(bufnr, math.min(lines + 1, math.floor(vim.o.lines * limits.details_part)))
  win = api.nvim_get_current_win()
  own.set_options(win, {})
  own.set_filetype(win, "acp_form")
  return bufnr
end

---Moves the cursor of the form.
---@param row integer 0-based
function M.go(id, row)
  local win = M.window(id)
  if win then
    api.nvim_win_set_cursor(win, { math.max(1, math.min(row + 1, vim.fn.line("$", win))), 4 })
  end
end

---Closes the form, and gives the focus back.
function M.close(id)
  local win, form = M.window(id), open[id] or {}
  local is_here = win ~= nil and api.nvim_get_current_win() == win
  if win then
    edge.closing(function()
      own.close(win, true)
    end)
  end
  if is_here and api.nvim_win_is_valid(form.from) then
    api.nvim_set_current_win(form.from)
  end
  if form.bufnr and api.nvim_buf_is_valid(form.bufnr) then
    switch.delete(form.bufnr)
  end
  open[id] = nil
end

return M
