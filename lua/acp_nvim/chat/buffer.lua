-- Makes the buffer of a chat.
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

---@param bufnr integer
---@param name string
local function name_it(bufnr, name)
  if not pcall(vim.api.nvim_buf_set_name, bufnr, name) then
    pcall(vim.api.nvim_buf_set_name, bufnr, ("%s#%d"):format(name, bufnr))
  end
end

---@param session acp.Session
---@param bufnr integer
local function watch(session, bufnr)
  vim.api.nvim_create_autocmd({ "BufUnload", "BufWipeout" }, {
    buffer = bufnr,
    callback = function()
      sessions.disown_buffer(bufnr)
      if session.bufnr == bufnr then
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
  M.adopt(session, vim.api.nvim_create_buf(false, true))
  name_it(session.bufnr, ("acp://chat/%d/%s"):format(session.key, session.agent or "agent"))
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

return M
