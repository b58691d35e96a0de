-- Shows kept conversations: chats that have no agent, and no prompt.
local chat_buffer = require("acp_nvim.chat.buffer")
local config = require("acp_nvim.config")
local highlights = require("acp_nvim.highlights")
local keymaps = require("acp_nvim.keymaps")
local keys = require("acp_nvim.chat.keys")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.sessions")
local windows = require("acp_nvim.chat.windows")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local function close()
  if not pcall(vim.api.nvim_win_close, 0, false) then
    vim.cmd.enew() -- the last window of all
  end
end

---@param session acp.Session
---@param bufnr integer
local function dress(session, bufnr)
  keys.attach_chat(session)
  keymaps.map(bufnr, "n", "close", close)
  for _, key in ipairs(config.keys("focus_prompt")) do
    local opts = { buffer = bufnr, nowait = true, remap = true, desc = "acp: go on with it" }
    vim.keymap.set("n", key, "<Plug>(AcpSessionActions)", opts)
  end
  named.on_read(bufnr, function()
    if not session.bufnr then
      chat_buffer.adopt(session, bufnr)
      dress(session, bufnr)
      requests.redraw(session)
    end
  end)
end

---@param id string
---@return acp.Session?
local function shown(id)
  for _, session in ipairs(sessions.all()) do
    if session.kept == id then
      return session
    end
  end
end

---@param found acp.FoundSession
---@return acp.Session
local function new_session(found)
  local session = sessions.new(found.agent, found.cwd)
  session.kept = found.id
  session.status = {
    agent = found.agent,
    agent_title = found.agent,
    title = ("%skept since %s"):format(
      found.title and found.title .. ", " or "",
      os.date("%Y-%m-%d %H:%M", math.floor(found.started))
    ),
    state = "stopped",
    pending_permissions = 0,
    queue = 0,
  }
  return session
end

---@param session acp.Session
local function go_to_text(session)
  local query, win = session.kept_query, session.bufnr and vim.fn.bufwinid(session.bufnr) or -1
  session.kept_query = nil
  if query and query ~= "" and win ~= -1 then
    vim.api.nvim_win_call(win, function()
      vim.api.nvim_win_set_cursor(win, { 1, 0 })
      vim.fn.search("\\c\\V" .. query:gsub("\\", "\\\\"), "cW")
    end)
  end
end

---Opens a kept conversation, at the text that was looked for.
---@param found acp.FoundSession
---@param query string
function M.show(found, query)
  local session = shown(found.id) or new_session(found)
  session.kept_query = query
  highlights.define()
  if chat_buffer.ensure(session) then
    dress(session, session.bufnr)
    requests.redraw(session)
    windows.focus_chat(session)
  else
    windows.focus_chat(session)
    go_to_text(session)
  end
  winbar.update(session)
end

---The host has told all of it.
---@param session acp.Session
---@param event acp.Event of type transcript_shown
function M.told(session, event)
  if event.problem then
    message.error(("this conversation cannot be shown: %s"):format(event.problem))
  end
  vim.schedule(function() -- after the batch: until then windows stay at the end
    go_to_text(session)
  end)
end

return M
