-- What other code may use of this plugin.
local M = {}

---Optional. See :help acp_nvim-options.
---@param opts? table
function M.setup(opts)
  require("acp_nvim.config").setup(opts)
end

---What a session does, cheap enough for a statusline.
---@param session? integer|string its key or the agent's session id; else the current one
---@return acp.PublicStatus
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
  return require("acp_nvim.host.client").prompt(text, opts)
end

---What can be switched in a session: modes, models and other options, in the agent's order.
---@param session? integer|string as for status()
---@return acp.ConfigOption[] empty while no agent has told any
function M.config_options(session)
  local registry = package.loaded["acp_nvim.sessions"]
  local found = registry and (session and registry.find(session) or not session and registry.current())
  return vim.deepcopy(found and found.options or {})
end

---Switches one of them; the agent is started if need be. It is done when `config_options()` says so.
---@param option string an id, a category ("mode", "model") or a name
---@param value string|boolean an id or a name, or whether it is on
---@param opts? { session?: integer|string, keep?: boolean } with `keep` new sessions of the agent begin with it, too
---@return boolean sent
---@return string? problem
function M.set_config(option, value, opts)
  opts = opts or {}
  local sessions = require("acp_nvim.sessions")
  local session = not opts.session and sessions.current() or opts.session and sessions.find(opts.session)
  if not session or session.kept then
    return false, "there is no such session"
  end
  return require("acp_nvim.options").set(session, option, value, opts.keep)
end

---The files under review, sorted by path: who changed them, and what shows that, or why nobody knows. `session` is
---a key, as status() and prompt() take it: of the newest session that changed the file, nil when none of this Neovim has.
---@return { path: string, by: acp.By, why: string, added: integer, removed: integer, session?: integer, tool_call?: string }[]
function M.review()
  local files = package.loaded["acp_nvim.review.files"]
  return vim.tbl_map(function(review)
    return {
      path = review.path,
      by = review.by,
      why = review.why,
      added = review.added,
      removed = review.removed,
      session = review.sessions[#review.sessions],
      tool_call = review.tool_call,
    }
  end, files and files.all() or {})
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

---Opens a chat, and goes to its prompt. With any of the last three it is a new session.
---@param opts? { agent?: string, new?: boolean, cwd?: string, additional_directories?: string[], worktree?: string } the
---name of a worktree that the session has for itself, "": any
function M.chat(opts)
  opts = opts or {}
  if opts.cwd or opts.additional_directories or opts.worktree then
    local beginning = { additional_directories = opts.additional_directories, worktree = opts.worktree }
    require("acp_nvim.host.client").begin(opts.agent, opts.cwd or vim.fn.getcwd(), beginning)
  else
    require("acp_nvim.host.client").chat(opts.agent, opts.new)
  end
end

---Lists sessions: open ones, those that agents keep, and conversations that are kept here. `agents`: who is asked,
---running or not; else those that run. `everywhere`: they tell those of all directories.
---@param opts { text?: string, agents?: string[], everywhere?: boolean }
---@param on_list acp.OnSessions `more`: agents with another page, or without an answer; `go_on` calls again with that
function M.sessions(opts, on_list)
  require("acp_nvim.sessions.list").list(opts, on_list)
end

---What can be done with an entry of that list, the most usual first.
---@param entry acp.SessionEntry
---@param on_ways fun(ways: { id: string, words: string }[])
function M.session_ways(entry, on_ways)
  require("acp_nvim.sessions.ways").ways(entry, on_ways)
end

---Does it.
---@param entry acp.SessionEntry
---@param way { id: string } one of those ways
function M.session_do(entry, way)
  require("acp_nvim.sessions.ways").go_with_offers(entry, way)
end

---The questions of agents that wait for you, of all sessions: forms with `fields`, or a `url` that is to be opened.
---@return { id: integer, session: integer, agent: string, message: string, url?: string, fields?: table[] }[]
function M.forms()
  return require("acp_nvim.forms").list()
end

---Answers a question, without a look at it before.
---@param id integer of a question
---@param action "accept"|"decline"|"cancel"
---@param values? table<string, string|boolean|string[]> by the fields' names; numbers as texts
---@return boolean sent what is wrong is told in the form, and nothing is sent to the agent
---@return string? problem
function M.answer_form(id, action, values)
  return require("acp_nvim.forms").answer(id, action, values)
end

return M
