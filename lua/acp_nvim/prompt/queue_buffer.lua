-- The buffer in which the prompts that wait can be edited; writing it makes the queue what it says.
local drafts = require("acp_nvim.prompt.drafts")
local history = require("acp_nvim.prompt.history")
local mentions = require("acp_nvim.prompt.mentions")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local queue_text = require("acp_nvim.prompt.queue_text")
local requests = require("acp_nvim.requests")

local M = {}

local api = vim.api
local OPTIONS = {
  bufhidden = "hide",
  buflisted = false,
  buftype = "acwrite",
  filetype = "acp_queue",
  modifiable = true,
  swapfile = false,
  textwidth = 0,
}

---@type table<integer, { bufnr: integer, known: integer[] }> by the session's key
local open = {}

---@param session acp.Session
---@return acp.QueuedPrompt[]
local function prompts_of(session)
  return session.queue and session.queue.prompts or {}
end

---@param session acp.Session
---@param bufnr integer
local function fill(session, bufnr)
  local prompts = prompts_of(session)
  local levels = vim.bo[bufnr].undolevels
  vim.bo[bufnr].undolevels = -1 -- what others do to the queue is not undone here
  api.nvim_buf_set_lines(bufnr, 0, -1, true, queue_text.render(prompts))
  vim.bo[bufnr].undolevels = levels
  vim.bo[bufnr].modified = false
  open[session.key] = {
    bufnr = bufnr,
    known = vim.tbl_map(function(prompt)
      return prompt.id
    end, prompts),
  }
end

---What is kept for the case that the host dies becomes what the user wants now.
---@param session acp.Session
---@param known integer[]
---@param wanted { id?: integer, text: string }[]
local function remember(session, known, wanted)
  local before = {}
  for _, prompt in ipairs(prompts_of(session)) do
    if vim.list_contains(known, prompt.id) then
      before[prompt.text] = true
    end
  end
  session.unseen = vim.tbl_filter(function(text)
    return not before[text]
  end, session.unseen)
  for _, one in ipairs(wanted) do
    table.insert(session.unseen, one.text)
    if not before[one.text] then
      history.add(session, one.text)
    end
  end
  drafts.changed(session)
end

---Looks up what new texts mention.
---@param session acp.Session
---@param wanted { id?: integer, text: string, context?: acp.ContextItem[] }[] gets what is attached
---@param done fun(problem?: string) called once
local function attach(session, wanted, done)
  local left, first_problem = 1, nil
  local function one_less(problem)
    first_problem = first_problem or problem
    left = left - 1
    if left == 0 then
      done(first_problem)
    end
  end
  local before = {}
  for _, prompt in ipairs(prompts_of(session)) do
    before[prompt.text] = true
  end
  for _, one in ipairs(wanted) do
    if not before[one.text] then
      left = left + 1
      mentions.resolve(session, one.text, function(items, problem)
        one.context = #items > 0 and items or nil
        one_less(problem)
      end)
    end
  end
  one_less()
end

---@param session acp.Session
---@param bufnr integer
local function write(session, bufnr)
  local state = open[session.key]
  local tick = api.nvim_buf_get_changedtick(bufnr)
  local wanted = queue_text.parse(api.nvim_buf_get_lines(bufnr, 0, -1, true))
  attach(session, wanted, function(problem)
    if problem then
      return message.error(problem)
    elseif not requests.queue_set(session, wanted, state.known) then
      return message.error("the queue could not be changed: its host is gone. What you typed stays in this buffer")
    end
    remember(session, state.known, wanted)
    if api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_changedtick(bufnr) == tick then
      vim.bo[bufnr].modified = false
    end
  end)
end

---@param session acp.Session
---@param bufnr integer
local function watch(session, bufnr)
  local group = api.nvim_create_augroup("acp_nvim.queue", { clear = false })
  api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  api.nvim_create_autocmd("BufWriteCmd", {
    group = group,
    buffer = bufnr,
    callback = function()
      write(session, bufnr)
    end,
  })
  api.nvim_create_autocmd("BufUnload", {
    group = group,
    buffer = bufnr,
    callback = function()
      open[session.key] = nil
    end,
  })
end

---The queue is another one: a buffer in which nothing was edited shows it.
---@param session acp.Session
function M.refresh(session)
  local state = open[session.key]
  if state and api.nvim_buf_is_loaded(state.bufnr) and not vim.bo[state.bufnr].modified then
    fill(session, state.bufnr)
  end
end

---@param session acp.Session
---@return integer bufnr
function M.open(session)
  local state = open[session.key]
  local bufnr = state and state.bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    bufnr = named.get(("acp://queue/%d/%s"):format(session.key, session.agent or "agent"))
    for option, value in pairs(OPTIONS) do
      vim.bo[bufnr][option] = value
    end
    watch(session, bufnr)
    fill(session, bufnr)
  end
  local win = vim.fn.bufwinid(bufnr)
  if win ~= -1 then
    api.nvim_set_current_win(win)
  else
    vim.cmd(("keepalt sbuffer %d"):format(bufnr))
  end
  return bufnr
end

---@param session acp.Session
---@param row integer 0-based
---@return integer? id of the prompt whose section that is
function M.id_at(session, row)
  local state = open[session.key]
  local lines = state and api.nvim_buf_get_lines(state.bufnr, 0, row + 1, true) or {}
  for index = #lines, 1, -1 do
    local id = lines[index]:match("^%-%-%- prompt (%d+) %-%-%-")
    if id then
      return tonumber(id)
    end
  end
end

return M
