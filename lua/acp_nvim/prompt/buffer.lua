-- The buffer where a prompt is written; what stands in it is lost in no case but being sent.
local assist = require("acp_nvim.prompt.assist")
local config = require("acp_nvim.config")
local drafts = require("acp_nvim.prompt.drafts")
local history = require("acp_nvim.prompt.history")
local mentions = require("acp_nvim.prompt.mentions")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local queue = require("acp_nvim.prompt.queue")
local requests = require("acp_nvim.requests")
local sessions = require("acp_nvim.sessions")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local PLACEHOLDER = api.nvim_create_namespace("acp_nvim.placeholder")
local OPTIONS = {
  bufhidden = "hide",
  buflisted = false,
  buftype = "nofile",
  filetype = "acp_prompt",
  omnifunc = "v:lua.vim.lsp.omnifunc",
  swapfile = false,
  textwidth = 0,
}

---@param bufnr integer
---@return boolean
local function is_empty(bufnr)
  return api.nvim_buf_line_count(bufnr) == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
end

---@param session acp.Session
---@param bufnr integer
local function show_placeholder(session, bufnr)
  api.nvim_buf_clear_namespace(bufnr, PLACEHOLDER, 0, -1)
  if is_empty(bufnr) then
    local key = config.keys("send")[1] or config.keys("send_insert")[1] or ":AcpPrompt"
    local words = ("Ask %s … (%s sends, %s: keys)"):format(
      session.agent or "the agent",
      key,
      config.keys("help")[1] or ":help acp_nvim-keys"
    )
    api.nvim_buf_set_extmark(
      bufnr,
      PLACEHOLDER,
      0,
      0,
      { virt_text = { { words, "AcpPlaceholder" } }, virt_text_pos = "overlay" }
    )
  end
end

---@param session acp.Session
---@param bufnr integer
local function watch(session, bufnr)
  local group = api.nvim_create_augroup("acp_nvim.prompt", { clear = false })
  api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    group = group,
    buffer = bufnr,
    callback = function()
      show_placeholder(session, bufnr)
      queue.show(session)
      drafts.changed(session)
    end,
  })
  api.nvim_create_autocmd("BufUnload", {
    group = group,
    buffer = bufnr,
    callback = function()
      if session.prompt_bufnr == bufnr then
        session.draft = not is_empty(bufnr) and api.nvim_buf_get_lines(bufnr, 0, -1, true) or nil
        session.prompt_bufnr = nil
      end
      sessions.disown_buffer(bufnr)
    end,
  })
end

---@param session acp.Session
---@param text string
local function add_to_draft(session, text)
  local lines = vim.split(text, "\n", { plain = true })
  local bufnr = session.prompt_bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    session.draft = vim.list_extend(lines, session.draft or {})
    return
  end
  local empty = is_empty(bufnr)
  api.nvim_buf_set_lines(bufnr, 0, empty and -1 or 0, true, lines)
  show_placeholder(session, bufnr)
end

---Puts a text above what stands in the prompt.
---@param session acp.Session
---@param text string
function M.put_back(session, text)
  local separated = session.prompt_bufnr and not is_empty(session.prompt_bufnr) or session.draft ~= nil
  add_to_draft(session, text .. (separated and "\n" or ""))
  drafts.changed(session)
end

---Puts prompts back that were handed over, but neither are in the transcript nor wait.
---@param session acp.Session
---@return boolean any
function M.restore(session)
  local waits = vim.tbl_map(function(one)
    return one.text
  end, session.queue and session.queue.prompts or {})
  local unseen = vim.tbl_filter(function(text)
    return not vim.list_contains(waits, text)
  end, session.unseen)
  session.unseen = waits
  if #unseen > 0 then
    M.put_back(session, table.concat(unseen, "\n\n"))
  end
  return #unseen > 0
end

---@param bufnr integer
---@return string
local function text_of(bufnr)
  return table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
end

---@param session acp.Session
---@param bufnr integer
---@param text string
---@param items acp.ContextItem[] for its mentions
---@return boolean done
local function hand_over(session, bufnr, text, items)
  local attached = vim.list_extend(vim.list_slice(session.context), items)
  if not requests.prompt(session, text, attached) then
    return false
  end
  session.context = {}
  history.finish(session)
  local now = api.nvim_buf_is_loaded(bufnr) and text_of(bufnr) or ""
  if vim.startswith(now, text) then -- what was typed on meanwhile stays
    local rest = now:sub(#text + 1):gsub("^\n", "")
    api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(rest, "\n", { plain = true }))
    show_placeholder(session, bufnr)
    queue.show(session)
  end
  drafts.changed(session)
  winbar.update(session)
  return true
end

---@param session acp.Session
---@return boolean
function M.has_text(session)
  return vim.trim(text_of(session.prompt_bufnr)) ~= ""
end

---@type table<integer, true> prompts whose mentions are looked up, by buffer
local sending = {}

---@param session acp.Session
---@param done? fun(handed_over: boolean)
function M.send(session, done)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  local text = text_of(bufnr)
  if vim.trim(text) == "" or sending[bufnr] then
    return
  end
  if vim.fn.pumvisible() == 1 then
    vim.fn.complete(vim.fn.col("."), {}) -- a menu would stay there, over a prompt that is gone
  end
  sending[bufnr] = true
  mentions.resolve(session, text, function(items, problem)
    sending[bufnr] = nil
    if problem then
      message.error(problem)
    else
      local sent = hand_over(session, bufnr, text, items)
      if done then
        done(sent)
      end
    end
  end)
end

---@param session acp.Session
---@param item acp.ContextItem
function M.attach(session, item)
  for _, known in ipairs(session.context) do
    if known.uri == item.uri and known.text == item.text then
      return
    end
  end
  table.insert(session.context, item)
  winbar.update(session)
end

---@param session acp.Session
function M.drop_context(session)
  session.context = {}
  winbar.update(session)
end

---What an earlier Neovim has left unsent, once for each session.
---@param session acp.Session
local function take_up(session)
  if session.took_up then
    return
  end
  session.took_up = true
  local text = drafts.take(session)
  if text and text ~= "" then
    M.put_back(session, text)
    message.info("what was not sent last time is back in the prompt")
  end
end

---@param session acp.Session
---@param bufnr integer
function M.adopt(session, bufnr)
  session.prompt_bufnr = bufnr
  vim.bo[bufnr].modifiable = true
  for option, value in pairs(OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  sessions.own_buffer(session, bufnr)
  watch(session, bufnr)
  assist.watch(bufnr)
  local draft = session.draft
  session.draft = nil
  if draft then
    add_to_draft(session, table.concat(draft, "\n"))
  elseif is_empty(bufnr) then
    take_up(session)
  end
  show_placeholder(session, bufnr)
  queue.show(session)
end

---@param session acp.Session
---@return boolean made
function M.ensure(session)
  if session.prompt_bufnr and api.nvim_buf_is_loaded(session.prompt_bufnr) then
    return false
  end
  local bufnr = named.get(("acp://prompt/%d/%s"):format(session.key, session.agent or "agent"))
  M.adopt(session, bufnr)
  return true
end

return M
