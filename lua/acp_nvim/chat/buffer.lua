-- Makes the buffer of a chat.
local named = require("acp_nvim.buffers.named")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local OPTIONS = {
  bufhidden = "hide",
  buflisted = false,
  buftype = "nofile",
  filetype = "acp_chat",
  modeline = false,
  modifiable = false,
  swapfile = false,
  undolevels = -1,
}

---@param session acp.Session
---@param bufnr integer
local function watch(session, bufnr)
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

---@param session acp.Session
---@return boolean made false when there was one
function M.ensure(session)
  if session.bufnr and vim.api.nvim_buf_is_loaded(session.bufnr) then
    return false
  end
  local bufnr = named.get(("acp://chat/%d/%s"):format(session.key, session.agent or "agent"))
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, {})
  M.adopt(session, bufnr)
  return true
end

---Takes a buffer as the chat of a session.
---@param session acp.Session
---@param bufnr integer
function M.adopt(session, bufnr)
  session.bufnr = bufnr
  for option, value in pairs(OPTIONS) do
    vim.bo[bufnr][option] = value
  end
  vim.bo[bufnr].syntax = "" -- colours come from the blocks, and cost nothing per line
  sessions.own_buffer(session, bufnr)
  transcript.attach(session)
  watch(session, bufnr)
end

---@param session acp.Session
---@param lines? string[]
local function draw(session, lines)
  if lines and #lines > 0 then
    transcript.draw(session, transcript.own_block(), "notice", { lines = lines, highlights = {} })
    transcript.flush()
  end
end

---Another host comes, which cannot tell all of this again.
---@param session acp.Session
function M.keep(session)
  local bufnr = session.bufnr
  local loaded = bufnr and vim.api.nvim_buf_is_loaded(bufnr)
  session.before_host = loaded and vim.api.nvim_buf_get_lines(bufnr, 1, -1, false) or session.before_host
end

---What was there before that host.
---@param session acp.Session with an empty chat
---@param is_wanted boolean the rest follows; else all of it does
function M.put_before(session, is_wanted)
  if is_wanted then
    draw(session, session.before_host)
  else
    session.before_host = nil
  end
end

---Puts the text of a buffer that is gone into the one that took its place, when nobody can send it again.
---@param session acp.Session
function M.put_back(session)
  local lines = session.last_text
  session.last_text = nil
  draw(session, lines)
end

return M
