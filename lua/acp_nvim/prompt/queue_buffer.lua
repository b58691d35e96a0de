-- The buffer in which the user edits the queue: each prompt has a section below a header with its number, which is its
-- position when the buffer was filled. Writing the buffer replaces the queue.
local autocmds = require("acp_nvim.kernel.autocmds")
local lazy = require("acp_nvim.lazy")
local config = require("acp_nvim.config")
local help = lazy("acp_nvim.keys.help")
local keymaps = require("acp_nvim.keys")
local mentions = require("acp_nvim.mentions")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local prompt_buffer = require("acp_nvim.prompt.buffer")
local queue = require("acp_nvim.prompt.queue")
local requests = require("acp_nvim.host.requests")
local sending = require("acp_nvim.prompt.sending")
local sessions = require("acp_nvim.host.sessions")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local EMPTY = api.nvim_create_namespace("acp_nvim.empty_queue")
local HEADER = "^%-%-%- prompt (%d*) ?%-%-%-"
local ESCAPED = "^\\+%-%-%- prompt %d* ?%-%-%-"
local OPTIONS = {
  bufhidden = "hide",
  buflisted = false,
  buftype = "acwrite",
  modifiable = true,
  swapfile = false,
  textwidth = 0,
}

---The contents of the buffer when it was last filled.
---@class acp.QueueView
---@field bufnr integer
---@field texts table<integer, string> by prompt id
---@field ids integer[] by the number in the header; includes sections that were added since

---@type table<integer, acp.QueueView> by session key
local views = {}

---@param prompts acp.QueuedPrompt[]
---@return string[] lines
local function render(prompts)
  local lines = {}
  for number, prompt in ipairs(prompts) do
    local names = #prompt.context_names > 0 and " + " .. table.concat(prompt.context_names, ", ") or ""
    table.insert(lines, ("--- prompt %d ---%s"):format(number, (names:gsub("%c", " "))))
    for _, line in ipairs(vim.split(prompt.text, "\n", { plain = true })) do
      table.insert(lines, (line:match(HEADER) or line:match(ESCAPED)) and "\\" .. line or line)
    end
  end
  return #lines > 0 and lines or { "--- prompt ---", "" }
end

---@param ids integer[] by number
---@return { id?: integer, text: string, row: integer }[] sections that are not empty. `row`: line of the header, or 0.
---A section with a repeated or unknown number has no id, which makes it a new prompt.
local function parse(lines, ids)
  local sections, seen = {}, {}
  local section = { lines = {}, row = 0 }
  local function close()
    local text = table.concat(section.lines, "\n")
    if vim.trim(text) ~= "" then
      table.insert(sections, { id = section.id, text = text, row = section.row })
    end
  end
  for row, line in ipairs(lines) do
    local written = line:match(HEADER)
    if written then
      close()
      local number = tonumber(written) or 0
      section = { id = not seen[number] and ids[number] or nil, lines = {}, row = row }
      seen[number] = true
    else
      table.insert(section.lines, line:match(ESCAPED) and line:sub(2) or line)
    end
  end
  close()
  return sections
end

---Says below an empty queue what can be done here.
local function explain_empty(bufnr, is_empty)
  api.nvim_buf_clear_namespace(bufnr, EMPTY, 0, -1)
  if is_empty then
    local key = config.keys("help")[1]
    local words = "Nothing waits" .. (key and (" (%s: keys)"):format(key) or "")
    api.nvim_buf_set_extmark(bufnr, EMPTY, 1, 0, { virt_lines = { { { words, "AcpPlaceholder" } } } })
  end
end

local function fill(session, bufnr)
  local prompts, texts, ids = queue.prompts(session), {}, {}
  local levels = vim.bo[bufnr].undolevels
  vim.bo[bufnr].undolevels = -1 -- the filling cannot be undone
  api.nvim_buf_set_lines(bufnr, 0, -1, true, render(prompts))
  vim.bo[bufnr].undolevels = levels
  vim.bo[bufnr].modified = false
  for number, prompt in ipairs(prompts) do
    texts[prompt.id], ids[number] = prompt.text, prompt.id
  end
  views[session.key] = { bufnr = bufnr, texts = texts, ids = ids }
  explain_empty(bufnr, #prompts == 0)
end

---Resolves the mentions of the texts.
---@param changed acp.OutgoingPrompt[] their `context` is set
---@param done fun(problem?: string) called once
local function attach(session, changed, done)
  local left, first_problem = #changed + 1, nil
  local function one_less(problem)
    first_problem = first_problem or problem
    left = left - 1
    if left == 0 then
      done(first_problem)
    end
  end
  for _, prompt in ipairs(changed) do
    mentions.resolve(session, prompt.text, function(items, problem)
      prompt.context = #items > 0 and items or nil
      one_less(problem)
    end)
  end
  one_less()
end

---Gives new sections an id and a number in their headers, so that writing the buffer again does not create the prompts
---again.
---@param wanted { id?: integer, row: integer }[]
---@param view acp.QueueView
local function number_new(bufnr, wanted, view)
  local moved = 0 -- rows, by headers that were added
  for _, section in ipairs(wanted) do
    local row = section.row + moved
    if not section.id then
      section.id = queue.new_id()
      table.insert(view.ids, section.id)
      api.nvim_buf_set_lines(bufnr, math.max(row - 1, 0), row, true, { ("--- prompt %d ---"):format(#view.ids) })
      moved = row == 0 and 1 or moved
    end
    section.row = nil
  end
end

local function write(session, bufnr)
  local view, changed = views[session.key], {}
  local texts = view.texts
  local known = vim.tbl_keys(texts)
  table.sort(known)
  local wanted = parse(api.nvim_buf_get_lines(bufnr, 0, -1, true), view.ids)
  number_new(bufnr, wanted, view)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  for _, prompt in ipairs(wanted) do
    if texts[prompt.id] ~= prompt.text then
      table.insert(changed, prompt)
    end
  end
  attach(session, changed, function(problem)
    if problem then
      return message.error(problem)
    elseif not sending.queue_set(session, wanted, known) then
      return message.error("the queue could not be changed, because the host has ended: your text stays in this buffer")
    end
    if api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_changedtick(bufnr) == tick then
      vim.bo[bufnr].modified = false
    end
  end)
end

local function watch(session, buffer)
  autocmds.on_buffer("acp_nvim.queue", buffer, {
    BufWriteCmd = function(bufnr)
      write(session, bufnr)
    end,
    BufUnload = function()
      views[session.key] = nil
    end,
  })
end

---Refills the buffer after a change of the queue, unless the user has edited it.
function M.refresh(session)
  local view = views[session.key]
  if view and api.nvim_buf_is_loaded(view.bufnr) and not vim.bo[view.bufnr].modified then
    fill(session, view.bufnr)
  end
end

---@return integer bufnr in the current window
local function show(session)
  local bufnr = views[session.key] and views[session.key].bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    bufnr = named.get(named.name(("%s queue %d"):format(session.agent or "agent", session.key)))
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
    switch.open(bufnr)
    win = api.nvim_get_current_win()
    own.set_options(win, {})
    own.set_filetype(win, "acp_queue")
  end
  return bufnr
end

---@param id? integer of a queued prompt; nil: the first one
local function steer(session, id)
  if not requests.send(session, "steer", { id = id }) then
    message.info("no agent is running here (:AcpChat starts one)")
  end
end

---Sends the prompt of the section at the cursor into the running turn.
local function steer_section(session, bufnr)
  local lines, number = api.nvim_buf_get_lines(bufnr, 0, api.nvim_win_get_cursor(0)[1], true), nil
  for index = #lines, 1, -1 do
    number = number or tonumber(lines[index]:match(HEADER))
  end
  local id = views[session.key].ids[number]
  if vim.bo[bufnr].modified then
    message.error("write your changes first (:write)")
  elseif id then
    steer(session, id)
  end
end

---Implements :AcpQueue.
function M.open()
  local session = sessions.current_owner()
  if not session then
    return message.info("no agent is running here (:AcpChat starts one)")
  end
  local bufnr = show(session)
  keymaps.map(bufnr, "n", "steer", steer_section, session, bufnr)
  keymaps.map(bufnr, "n", "help", help.show, "queue", false)
end

---Sends the text of the prompt, or else the first queued prompt, into the running turn.
function M.steer(session)
  if prompt_buffer.has_text(session) then
    prompt_buffer.send(session, function(id)
      steer(session, id)
    end)
  else
    steer(session)
  end
end

return M
