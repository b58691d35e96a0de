-- Creates the buffer of a chat, and saves and restores its text.
local busy = require("acp_nvim.chat.busy")
local named = require("acp_nvim.buffers.named")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")

local M = {}

local OPTIONS = {
  bufhidden = "hide",
  buflisted = false,
  buftype = "nofile",
  modeline = false,
  modifiable = false,
  swapfile = false,
  undolevels = -1,
}

---@return boolean created false when it existed
function M.ensure(session)
  if session.bufnr and vim.api.nvim_buf_is_loaded(session.bufnr) then
    return false
  end
  local bufnr = named.get(named.name(("%s chat %d"):format(session.agent or "agent", session.key)))
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, {})
  M.adopt(session, bufnr)
  return true
end

---Makes an existing buffer the chat of a session.
function M.adopt(session, bufnr)
  session.bufnr = bufnr
  for option, value in pairs(OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  named.set_filetype(bufnr, "acp_chat")
  sessions.own_buffer(session, bufnr)
  busy(session)
  transcript.attach(session)
  local group = vim.api.nvim_create_augroup("acp_nvim.chat", { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  vim.api.nvim_create_autocmd({ "BufUnload", "BufWipeout" }, {
    group = group,
    buffer = bufnr,
    callback = function()
      sessions.disown_buffer(bufnr)
      if session.bufnr == bufnr then
        session.last_text = vim.api.nvim_buf_get_lines(bufnr, 1, -1, false)
        session.bufnr = nil
        transcript.detach(session)
      end
    end,
  })
end

local function draw(session, lines)
  if lines and #lines > 0 then
    transcript.draw(session, transcript.own_block(), "notice", { lines = lines, highlights = {} })
    transcript.flush()
  end
end

---Saves the text of a chat before another host, which cannot send all of it again, takes over.
function M.save_text(session)
  local bufnr = session.bufnr
  local loaded = bufnr and vim.api.nvim_buf_is_loaded(bufnr)
  session.before_host = loaded and vim.api.nvim_buf_get_lines(bufnr, 1, -1, false) or session.before_host
end

---Draws the text from before the current host, or discards it when the host sends the whole conversation.
---@param session acp.Session with an empty chat
---@param is_partial boolean the host sends only what came later
function M.restore_earlier(session, is_partial)
  if is_partial then
    draw(session, session.before_host)
  else
    session.before_host = nil
  end
end

---Draws the text of an unloaded chat buffer in its new buffer, when no host can send it again.
function M.restore_text(session)
  local lines = session.last_text
  session.last_text = nil
  draw(session, lines)
end

return M
