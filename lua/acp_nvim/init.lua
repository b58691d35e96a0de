-- The public functions of the plugin.
local M = {}

---@param session? integer|string its key or the agent's session id; nil: the current one
---@return acp.Session?
local function find(session)
  local registry = package.loaded["acp_nvim.host.sessions"]
  return registry and (session and registry.find(session) or not session and registry.current()) or nil
end

---@return "on"|"off"|"paused"|nil nil before the first command
local function follow_state()
  local follow = package.loaded["acp_nvim.follow"] -- loaded late: few of those who ask follow an agent already
  if follow then
    return follow.state()
  elseif package.loaded["acp_nvim.host.sessions"] then
    return require("acp_nvim.config").get().follow.enabled and "on" or "off"
  end
end

---Sets the options. Optional; see :help acp_nvim-options.
---@param opts? table
function M.setup(opts)
  local config = require("acp_nvim.config")
  config.setup(opts)
  if config.get().prewarm then
    require("acp_nvim.prewarm").schedule()
  end
end

---Returns the status of a session. Cheap enough for a statusline.
---@param session? integer|string its key or the agent's session id; nil: the current one
---@return acp.PublicStatus
function M.status(session)
  local found = find(session)
  local status = found and found.status or { state = "stopped", pending_permissions = 0, queue = 0 }
  local subagents = package.loaded["acp_nvim.events.subagents"] -- loaded when there is one
  return vim.tbl_extend("force", status, {
    follow = follow_state(),
    unread = found and found.unread or 0,
    subagents = found and subagents and subagents.of(found) or {},
    review_progress = found and require("acp_nvim.progress.review").view(found.key),
  })
end

---Returns the status of a session as a few words for a status line: >vim
---    set statusline+=%{%v:lua.require'acp_nvim'.statusline()%}
---@param session? integer|string as for status()
---@return string empty when there is no session
function M.statusline(session)
  local found = find(session)
  return found and require("acp_nvim.statusline").text(found) or ""
end

---Sends a prompt without opening or changing a window.
---@param text string
---@param opts? { agent?: string, session_id?: string|integer, context?: acp.ContextItem[], mentions?: boolean }
---`mentions`: attach what the text mentions, too
---@return boolean sent
---@return string? problem
function M.prompt(text, opts)
  require("acp_nvim.early").start()
  local sent, problem = require("acp_nvim.sessions.client").prompt(text, opts)
  return sent, problem
end

---Returns the config options of a session (modes, models and others), in the agent's order.
---@param session? integer|string as for status()
---@return acp.ConfigOption[] empty until the agent has sent its options
function M.config_options(session)
  local found = find(session)
  return vim.deepcopy(found and found.options or {})
end

---Sets a config option, and starts the agent if need be. The value is in effect once `config_options()` returns it.
---@param option string an id, a category ("mode", "model") or a name
---@param value string|boolean an id or a name, or whether it is on
---@param opts? { session?: integer|string, keep?: boolean } `keep`: new sessions of the agent start with it, too
---@return boolean sent
---@return string? problem
function M.set_config(option, value, opts)
  opts = opts or {}
  local session = find(opts.session)
  if not session or session.kept or session.parent then
    return false, "there is no such session"
  end
  return require("acp_nvim.options").set(session, option, value, opts.keep)
end

---Returns the files under review, sorted by path. `by`: author of the change. `why`: the evidence for it, or why the
---author is unknown. `session`: key of the newest session that changed the file; nil when none of this Neovim did.
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

---Returns the permission requests of all sessions that wait for an answer.
---@return { id: integer, session: integer, title: string, kind: string, options: acp.Option[] }[]
function M.permissions()
  return require("acp_nvim.permission").list()
end

---Answers a permission request.
---@param id integer of the request
---@param option_id string
---@return boolean answered
---@return string? problem
function M.answer(id, option_id)
  return require("acp_nvim.permission").answer(id, option_id)
end

---Opens a chat and moves to its prompt. `cwd`, `additional_directories` and `worktree` each make it a new session.
---@param opts? { agent?: string, new?: boolean, cwd?: string, additional_directories?: string[], worktree?: string }
---`worktree`: name of a git worktree to create for the session; "": generate the name
function M.chat(opts)
  require("acp_nvim.early").start()
  opts = opts or {}
  if opts.cwd or opts.additional_directories or opts.worktree then
    local settings = { additional_directories = opts.additional_directories, worktree = opts.worktree }
    require("acp_nvim.sessions.client").begin(
      opts.agent,
      opts.cwd or require("acp_nvim.sessions.root").directory(),
      settings
    )
  else
    require("acp_nvim.sessions.client").chat(opts.agent, opts.new)
  end
end

---Lists sessions: open sessions, stored sessions of agents, and saved conversations. `agents`: the agents to query,
---which are started if need be; nil: those that run. `everywhere`: sessions of all directories. `archived`: only sessions
---that agents have archived; else all others.
---@param opts { text?: string, agents?: string[], everywhere?: boolean, archived?: boolean }
---@param on_list acp.OnSessions `more`: agents with another page or without an answer yet; `go_on` fetches that and
---calls `on_list` again
function M.sessions(opts, on_list)
  require("acp_nvim.sessions.list").list(opts, on_list)
end

---Passes the actions for an entry of that list to `on_ways`, the most usual one first.
---@param entry acp.SessionEntry
---@param on_ways fun(ways: { id: string, words: string }[])
function M.session_ways(entry, on_ways)
  require("acp_nvim.sessions.ways").ways(entry, on_ways)
end

---Runs an action on an entry.
---@param entry acp.SessionEntry
---@param way { id: string } one of the actions of `session_ways()`
function M.session_do(entry, way)
  require("acp_nvim.sessions.ways").go_with_offers(entry, way)
end

---Returns the questions of all agents that wait for an answer: forms with `fields`, or a `url` to open.
---@return { id: integer, session: integer, agent: string, message: string, url?: string, fields?: table[] }[]
function M.forms()
  return require("acp_nvim.forms").list()
end

---Answers a question without showing it.
---@param id integer of the question
---@param action "accept"|"decline"|"cancel"
---@param values? table<string, string|boolean|string[]> by field name; numbers as strings
---@return boolean sent false when a value is invalid: the form shows why, and the agent gets no answer
---@return string? problem
function M.answer_form(id, action, values)
  return require("acp_nvim.forms").answer(id, action, values)
end

return M
