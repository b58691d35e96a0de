-- The buffer in which the user writes prompts. Its text is removed only once a prompt has been sent.
local autocmds = require("acp_nvim.kernel.autocmds")
local completion = require("acp_nvim.prompt.completion")
local drafts = require("acp_nvim.prompt.drafts")
local lazy = require("acp_nvim.lazy")
local context = lazy("acp_nvim.mentions.context")
local hints = require("acp_nvim.chat.winbar.hints")
local history = lazy("acp_nvim.prompt.history")
local mentions = require("acp_nvim.mentions")
local message = lazy("acp_nvim.kernel.message")
local modified_event = require("acp_nvim.buffers.modified_event")
local named = require("acp_nvim.buffers.named")
local queue = require("acp_nvim.prompt.queue")
local requests = require("acp_nvim.host.requests")
local sending = require("acp_nvim.prompt.sending")
local sessions = require("acp_nvim.host.sessions")
local suggestion = require("acp_nvim.prompt.suggestion")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local PLACEHOLDER = api.nvim_create_namespace("acp_nvim.placeholder")
local OPTIONS = {
  bufhidden = "hide",
  buflisted = false,
  buftype = "acwrite", -- for :w
  omnifunc = "v:lua.vim.lsp.omnifunc",
  swapfile = false,
  textwidth = 0,
}

local function is_empty(bufnr)
  return api.nvim_buf_line_count(bufnr) == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
end

local function show_placeholder(session, bufnr)
  api.nvim_buf_clear_namespace(bufnr, PLACEHOLDER, 0, -1)
  local empty = is_empty(bufnr)
  local chunks = suggestion.show(session, bufnr, empty)
  if empty then
    local words = hints.placeholder(session, bufnr)
    local placeholder = { virt_text = chunks or { { words, "AcpPlaceholder" } }, virt_text_pos = "overlay" }
    api.nvim_buf_set_extmark(bufnr, PLACEHOLDER, 0, 0, placeholder)
  end
end

---Shows again what an empty prompt says: the agent's suggestion, or how to prompt it.
function M.refresh(session)
  local bufnr = session.prompt_bufnr
  if bufnr and api.nvim_buf_is_loaded(bufnr) then
    show_placeholder(session, bufnr)
  end
end

---Offers a prompt that the agent suggests.
---@param text string one line; "" withdraws it
function M.suggest(session, text)
  session.suggestion = text ~= "" and text or nil
  M.refresh(session)
end

---Implements :write: the draft is kept anyway, so it only says so, and how to send it.
local function write(session, bufnr)
  vim.bo[bufnr].modified = false
  drafts.changed(session)
  message.info(
    is_empty(bufnr) and "nothing is written here yet" or ("the draft is kept; %s sends it"):format(hints.send())
  )
end

local function watch(session, buffer)
  autocmds.on_buffer("acp_nvim.prompt", buffer, {
    ["TextChanged TextChangedI"] = function(bufnr)
      show_placeholder(session, bufnr)
      queue.show(session)
      drafts.changed(session)
    end,
    ModeChanged = function(bufnr)
      show_placeholder(session, bufnr)
      queue.show(session) -- names the key that sends in this mode
      winbar.update(session)
    end,
    BufWriteCmd = function(bufnr)
      write(session, bufnr)
    end,
    BufUnload = function(bufnr)
      if session.prompt_bufnr == bufnr then
        session.draft = not is_empty(bufnr) and api.nvim_buf_get_lines(bufnr, 0, -1, true) or nil
        session.prompt_bufnr = nil
      end
      sessions.disown_buffer(bufnr)
    end,
  })
end

local function add_to_draft(session, text)
  local lines = vim.split(text, "\n", { plain = true })
  local bufnr = session.prompt_bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    session.draft = vim.list_extend(lines, session.draft or {})
    return
  end
  local empty = is_empty(bufnr)
  api.nvim_buf_set_lines(bufnr, 0, empty and -1 or 0, true, lines)
  vim.bo[bufnr].modified = false
  show_placeholder(session, bufnr)
end

---Inserts a text above the present text of the prompt.
function M.put_back(session, text)
  local separated = session.prompt_bufnr and not is_empty(session.prompt_bufnr) or session.draft ~= nil
  add_to_draft(session, text .. (separated and "\n" or ""))
  drafts.changed(session)
end

local function text_of(bufnr)
  return table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
end

---@param items acp.ContextItem[] of the mentions
---@return integer? id of the prompt; nil when it could not be sent
local function hand_over(session, bufnr, text, items)
  local attached = context.add(vim.list_slice(session.context), items)
  local id = sending.prompt(session, text, attached)
  if not id then
    return nil
  end
  session.context = {}
  history.finish(session)
  local now = api.nvim_buf_is_loaded(bufnr) and text_of(bufnr) or ""
  if vim.startswith(now, text) then -- what was typed meanwhile stays
    local rest = now:sub(#text + 1):gsub("^\n", "")
    api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(rest, "\n", { plain = true }))
    show_placeholder(session, bufnr)
    queue.show(session)
  end
  drafts.changed(session)
  winbar.update(session)
  return id
end

---@return boolean the user has typed something that was not sent
function M.has_text(session)
  if not session.prompt_bufnr or not api.nvim_buf_is_loaded(session.prompt_bufnr) then
    return session.draft ~= nil
  end
  return vim.trim(text_of(session.prompt_bufnr)) ~= ""
end

---@type table<integer, true> buffers whose mentions are being resolved
local resolving = {}

---Sends the text of the prompt; an empty prompt sends what is held in the queue.
---@param done? fun(id: integer) called with the id of the prompt once it has been sent
function M.send(session, done)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  local text = text_of(bufnr)
  if resolving[bufnr] then
    return
  elseif vim.trim(text) == "" then
    return session.queue and session.queue.held and sending.release(session)
  end
  if vim.fn.pumvisible() == 1 then
    vim.fn.complete(vim.fn.col("."), {}) -- the menu would stay open over an empty prompt
  end
  resolving[bufnr] = true
  mentions.resolve(session, text, function(items, problem)
    resolving[bufnr] = nil
    if problem then
      message.error(problem)
    else
      local id = hand_over(session, bufnr, text, items)
      if id and done then
        done(id)
      end
    end
  end)
end

---@param item acp.ContextItem
function M.attach(session, item)
  context.add(session.context, { item })
  winbar.update(session)
end

---Restores prompts that were sent, with what the user attached to them.
---@param prompts acp.OutgoingPrompt[]
function M.restore(session, prompts)
  local texts = {}
  for _, prompt in ipairs(prompts) do
    table.insert(texts, prompt.text)
    local plain = prompt.text:gsub('["\\]', "") -- names with blanks are quoted in mentions
    for _, item in ipairs(prompt.context or {}) do
      if not plain:find("@" .. item.name, 1, true) then -- mentions are resolved again when the prompt is sent
        M.attach(session, item)
      end
    end
  end
  M.put_back(session, table.concat(texts, "\n\n"))
end

function M.drop_context(session)
  session.context = {}
  if session.decisions then
    session.decisions = nil
    requests.send(session, "drop_decisions")
  end
  winbar.update(session)
end

---Restores the draft that an earlier Neovim left, once for each session.
local function restore_draft(session)
  if session.draft_restored then
    return
  end
  session.draft_restored = true
  local text = drafts.take(session)
  if text and text ~= "" then
    M.put_back(session, text)
    message.info("restored your unsent draft")
  end
end

function M.adopt(session, bufnr)
  session.prompt_bufnr = bufnr
  vim.bo[bufnr].modifiable = true
  for option, value in pairs(OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  named.set_filetype(bufnr, "acp_prompt")
  sessions.own_buffer(session, bufnr)
  watch(session, bufnr)
  completion.watch(bufnr)
  mentions.watch(bufnr)
  local draft = session.draft
  session.draft = nil
  if draft then
    add_to_draft(session, table.concat(draft, "\n"))
  elseif is_empty(bufnr) then
    restore_draft(session)
  end
  show_placeholder(session, bufnr)
  queue.show(session)
end

---@return boolean made false when the session has a prompt buffer
function M.ensure(session)
  if session.prompt_bufnr and api.nvim_buf_is_loaded(session.prompt_bufnr) then
    return false
  end
  local bufnr = named.get(named.name(("%s prompt %d"):format(session.agent or "agent", session.key)))
  M.adopt(session, bufnr)
  return true
end

local GROUP = api.nvim_create_augroup("acp_nvim.prompts", {})

modified_event.on_change(GROUP, function(bufnr)
  local session = sessions.of_buffer(bufnr)
  if session and session.prompt_bufnr == bufnr then
    vim.bo[bufnr].modified = false
  end
end)

-- A prompt never keeps Neovim from ending: drafts are kept
api.nvim_create_autocmd("QuitPre", {
  group = GROUP,
  callback = function()
    for _, session in ipairs(sessions.all()) do
      if session.prompt_bufnr and api.nvim_buf_is_loaded(session.prompt_bufnr) then
        vim.bo[session.prompt_bufnr].modified = false
      end
    end
  end,
})

api.nvim_create_autocmd({ "VimResized", "WinResized" }, {
  group = GROUP,
  callback = function()
    for _, session in ipairs(sessions.all()) do
      if session.suggestion then
        M.refresh(session)
      end
    end
  end,
})

return M
