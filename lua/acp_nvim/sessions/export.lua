-- Makes a conversation markdown: in a file, or in a new buffer.
local host = require("acp_nvim.host")
local message = require("acp_nvim.message")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.sessions")

local M = {}

---@type table<integer, string[]> by the session's key: pieces of a text that is not whole yet
local coming = {}

---@param text string
local function show(text)
  vim.cmd("new")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = "nofile", "hide", false
  vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(text:gsub("\n$", ""), "\n", { plain = true }))
  vim.bo.filetype = "markdown"
end

---The host has written it, or sends a piece of it.
---@param session acp.Session
---@param event acp.Event of type exported
function M.told(session, event)
  local pieces = coming[session.key] or {}
  coming[session.key] = pieces
  table.insert(pieces, event.text or "")
  if not event.done then
    return
  end
  coming[session.key] = nil
  if event.problem then
    message.error(event.problem)
  elseif event.path then
    message.info(("the conversation is in %s"):format(vim.fn.fnamemodify(event.path, ":~:.")))
  else
    show(table.concat(pieces))
  end
end

---@param args acp.CommandArgs
function M.command(args)
  local session = sessions.of_buffer(vim.api.nvim_get_current_buf()) or sessions.current()
  if not session then
    return message.info("there is no conversation to export")
  end
  local path = args.args ~= "" and vim.fn.fnamemodify(vim.fn.expand(args.args), ":p") or nil
  local params = { session = session.key, path = path, overwrite = args.bang, transcript = session.kept }
  coming[session.key] = nil
  if session.kept then
    host.send("export", params)
  elseif not requests.send(session, "export", params) then
    message.error("the host has no such conversation any more: :AcpSessions finds what is kept of it")
  end
end

return M
