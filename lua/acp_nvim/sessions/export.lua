-- Exports a conversation as markdown, into a file or a new buffer, with secrets masked unless the user wants them.
local host = require("acp_nvim.host")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local requests = require("acp_nvim.host.requests")
local sessions = require("acp_nvim.host.sessions")

local M = {}

---@type table<integer, string[]> by the session's key: pieces of a text that is not complete
local incoming = {}
---@type table<integer, acp.OnAnswer> by the session's key: opens the text
local on_answer = {}

---@param text string
local function open(text)
  vim.cmd("new")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = "nofile", "hide", false
  vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(text, "\n", { plain = true }))
  vim.bo.filetype = "markdown"
end

---Adds a piece of the text, and shows it or reports the file at the end.
---@param event acp.Event of type exported
function M.received(session, event)
  if event.problem then
    return message.error(event.problem)
  elseif event.path then -- an export into a window may be under way at the same time
    local words = event.exact and "the conversation is in %s, with all secrets in it"
      or "the conversation is in %s, with secrets masked; :AcpExport! for the exact text"
    return message.info(words:format(names.short(event.path)))
  end
  local pieces = incoming[session.key] or {}
  incoming[session.key] = pieces
  table.insert(pieces, event.text or "")
  if not event.done then
    return
  end
  incoming[session.key] = nil
  local show = on_answer[session.key] or late.wait()
  show(function()
    open((table.concat(pieces):gsub("\n$", "")))
  end, "the conversation is exported: type :AcpExport again")
end

---Implements :AcpExport.
function M.command(args)
  local session = sessions.of_buffer(vim.api.nvim_get_current_buf()) or sessions.current()
  if not session then
    return message.info("there is no conversation to export")
  end
  local path = args.args ~= "" and names.absolute(args.args) or nil
  local params = { session = session.key, path = path, exact = args.bang, transcript = session.kept }
  incoming[session.key], on_answer[session.key] = nil, late.wait()
  if session.kept then
    host.send("export", params)
  elseif not requests.send(session, "export", params) then
    message.error("the host no longer has this conversation: :AcpSessions finds the stored one")
  end
end

return M
