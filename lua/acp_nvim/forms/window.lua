-- The window and the buffer of one question, below all others; to close it answers nothing.
local Lines = require("acp_nvim.chat.blocks.lines")
local block = require("acp_nvim.chat.blocks.question")
local dress = require("acp_nvim.chat.transcript.dress")
local limits = require("acp_nvim.limits")
local look = require("acp_nvim.forms.look")
local named = require("acp_nvim.buffers.named")
local questions = require("acp_nvim.forms.questions")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local api = vim.api
local FILETYPE = "acp_form"
local PROBLEMS = api.nvim_create_namespace("acp_nvim.form_problems")

vim.diagnostic.config({ virtual_text = false, virtual_lines = false, underline = false, signs = true }, PROBLEMS)

---@class acp.OpenForm
---@field bufnr integer
---@field from integer window to go back to
---@field look? acp.FormLook what the buffer shows

---@type table<integer, acp.OpenForm> by the question's id
local open = {}

---@param id integer
---@return integer? bufnr
local function buffer_of(id)
  local form = open[id]
  return form and api.nvim_buf_is_loaded(form.bufnr) and form.bufnr or nil
end

---@param id integer
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

---@param id integer
---@return acp.FormLook?
function M.look(id)
  return open[id] and open[id].look
end

---Draws a question in its chat.
---@param question acp.Question
function M.draw_block(question)
  local session = sessions.get(question.session)
  if session then
    transcript.draw(session, question.block, "question", block(question, questions.is_touched(question)))
  end
end

---@param question acp.Question
---@param drawn acp.FormLook
---@return vim.Diagnostic.Set[]
local function diagnostics(question, drawn)
  local list = {}
  for index, field in ipairs(question.request.fields or {}) do
    local problem = question.problems[field.name]
    if problem and drawn.places[index] and not question.outcome then
      list[#list + 1] = {
        lnum = drawn.places[index],
        col = 0,
        severity = vim.diagnostic.severity.ERROR,
        source = "acp_nvim",
        message = ("%s %s"):format(field.title, problem),
      }
    end
  end
  return list
end

---Draws the form of a question, if it is open.
---@param question acp.Question
function M.draw(question)
  local bufnr = buffer_of(question.request.id)
  if not bufnr then
    return
  end
  local drawn = look.of(question)
  open[question.request.id].look = drawn
  dress.fill(bufnr, drawn.out.lines, drawn.out.highlights)
  vim.bo[bufnr].modified = false
  vim.diagnostic.set(PROBLEMS, bufnr, question.phase == "fill" and diagnostics(question, drawn) or {})
end

---@param bufnr integer
---@param lines integer
local function show(bufnr, lines)
  local height = math.max(5, math.min(lines + 1, math.floor(vim.o.lines * limits.details_part)))
  if not pcall(api.nvim_open_win, bufnr, true, { split = "below", win = -1, height = height }) then -- no room
    vim.cmd(("tab sbuffer %d"):format(bufnr))
  else
    api.nvim_win_set_height(0, height) -- 'equalalways' has made it as high as the others
  end
  local shown = vim.wo[api.nvim_get_current_win()][0]
  shown.number, shown.relativenumber, shown.signcolumn, shown.spell, shown.list = false, false, "no", false, false
  shown.foldenable, shown.wrap, shown.linebreak, shown.winfixbuf = false, true, true, true
end

---Opens the form of a question, or goes to it.
---@param question acp.Question
---@return integer? bufnr when it is a new one, which has no keys yet
function M.open(question)
  local id, title = question.request.id, Lines.one_line(question.request.message)
  local win = M.window(id)
  if win then
    return api.nvim_set_current_win(win)
  end
  local bufnr = named.scratch(("acp://form/%d %s"):format(id, vim.fn.strcharpart(title, 0, limits.terminal_name)))
  open[id] = { bufnr = bufnr, from = api.nvim_get_current_win() }
  show(bufnr, #look.of(question).out.lines)
  vim.bo[bufnr].filetype = FILETYPE
  return bufnr
end

---@param id integer
---@param row integer 0-based
function M.go(id, row)
  local win = M.window(id)
  if win then
    api.nvim_win_set_cursor(win, { math.max(1, math.min(row + 1, vim.fn.line("$", win))), 4 })
  end
end

---Closes the window; who was in it goes back to where they were.
---@param id integer
function M.close(id)
  local win, form = M.window(id), open[id] or {}
  local is_here = win ~= nil and api.nvim_get_current_win() == win
  if win and not pcall(api.nvim_win_close, win, true) then -- the last window
    vim.wo[win][0].winfixbuf = false
    vim.cmd("enew")
  elseif is_here and api.nvim_win_is_valid(form.from) then
    api.nvim_set_current_win(form.from)
  end
  if form.bufnr and api.nvim_buf_is_valid(form.bufnr) then
    pcall(api.nvim_buf_delete, form.bufnr, { force = true })
  end
  open[id] = nil
end

return M
