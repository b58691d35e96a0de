-- What other code may use of this plugin.
local M = {}

---Optional. See :help acp_nvim-options.
---@param opts? table
function M.setup(opts)
  require("acp_nvim.config").setup(opts)
end

---What a session does, cheap enough for a statusline.
---@param session? integer|string its key or the agent's session id; else the current one
---@return acp.Status
function M.status(session)
  local registry = package.loaded["acp_nvim.sessions"]
  local found = registry and (session and registry.find(session) or not session and registry.current())
  local status = found and found.status or { state = "stopped", pending_permissions = 0, queue = 0 }
  local follow = package.loaded["acp_nvim.follow"]
  return vim.tbl_extend("force", status, {
    follow = follow and follow.state() or nil,
    unread = found and found.unread or 0,
  })
end

---What a session does, in a few words for a status line: >vim
---    set statusline+=%{%v:lua.require'acp_nvim'.statusline()%}
---@param session? integer|string as for status()
---@return string empty when there is no session
function M.statusline(session)
  local registry = package.loaded["acp_nvim.sessions"]
  local found = registry and (session and registry.find(session) or not session and registry.current())
  return found and require("acp_nvim.statusline").text(found) or ""
end

---Sends a text, without touching a window.
---@param text string
---@param opts? { agent?: string, session_id?: string|integer, context?: acp.ContextItem[], mentions?: boolean } with
---`mentions` those of the text are attached, too
---@return boolean sent
---@return string? problem
function M.prompt(text, opts)
  return require("acp_nvim.client").prompt(text, opts)
end

---The permissions that wait for an answer, of all sessions.
---@return { id: integer, session: integer, title: string, kind: string, options: acp.Option[] }[]
function M.permissions()
  return require("acp_nvim.permission").list()
end

---@param id integer of a permission
---@param option_id string
---@return boolean answered
---@return string? problem
function M.answer(id, option_id)
  return require("acp_nvim.permission").answer(id, option_id)
end

return M
