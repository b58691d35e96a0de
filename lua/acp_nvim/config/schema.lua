-- The list of all options, with types, defaults, checks and descriptions. The configuration and :help are made from it.
local check_agents = require("acp_nvim.config.check_agents")
local checks = require("acp_nvim.config.checks")

---@class acp.Option.Schema
---@field name string with dots for nested tables
---@field type? string for `checks.kind`; with `check` only for :help; nil with `values`
---@field values? any[] the only values allowed
---@field check? fun(value: any, problems: string[]): any adds problems, and returns the valid part
---@field default any
---@field doc string

---@param kind string|any[] type, or the only values allowed
---@param default any
---@return fun(doc: string): acp.Option.Schema
local function option(name, kind, default)
  local is_type = type(kind) == "string"
  return function(doc)
    return {
      name = name,
      type = is_type and kind or nil,
      values = not is_type and kind or nil,
      default = default,
      doc = doc,
    }
  end
end

---@param default string|string[]|false
---@param doc string
---@return acp.Option.Schema
local function key(name, default, doc)
  return option("keymaps." .. name, "key", default)(doc)
end

---@type acp.Option.Schema[]
return {
  {
    name = "agents",
    type = "table",
    check = check_agents,
    default = {},
    doc = [[Your agents: a map from names to settings. The agents of |acp_nvim-known-agents| need no settings; yours
override theirs. Other agents need a `command` or an `address`. `command`: a list, the program and its arguments; `~/`
at the beginning of the program is your home directory.
`address`: a string like `"localhost:3000"`, where an agent listens that others have started, with `tls`: true or the
path of a file with certificates, and `token_env`, see |acp_nvim-address|. `env`: a map, added to
Neovim's environment. `mcp`: `{ enabled = false }` keeps the tools of your editor from the agent, see |acp_nvim-mcp|.
`mcp_servers`: MCP servers for the agent, see |acp_nvim-mcp-servers|. `defaults`:
`{ mode = "id", model = "id", options = { id = "value" } }`, set in new sessions. `idle_seconds`: a number, after which
an idle process is stopped. `system_prompt`: a text that is added to the agent's own instructions, or
`{ text = "...", mode = "override" }`, which replaces them; `projects`: a map from directories to
`{ system_prompt = ..., mcp_servers = ... }`, see |acp_nvim-system-prompt|. `prefix`, `paths` and `terminal`: for an agent that runs
elsewhere, see |acp_nvim-remote|.
`quirks`: a list of known deviations; `"missing_file_reads_empty"`: the agent creates a file only when reading it gives
an empty text, `"api_key_is_text"`: it takes the key to sign in as plain text; `"command_in_content"`,
`"cd_before_command"` and `"words_for_line"` are about commands, see |acp_nvim-terminals|. `state`: a list of files in
which the agent keeps its own records, relative to the project's directory (`.fast-agent/**` is all below): the review
lists them apart, and rejects them only one by one. `title`, `url`, `install`, `sign_in`: texts for people. The agent
`demo` comes with the plugin.]],
  },
  option("default_agent", "string")([[
The agent that `:AcpChat` starts when none is named. Without it: the first of `agents` by name; without these the
installed one of |acp_nvim-known-agents|. When several are installed, you choose one, once in each Neovim; without a UI
the first is used. When none is installed: `demo`.]]),
  option("prewarm", "boolean", false)([[
Whether the host and the agent that `:AcpChat` would start are started a second after Neovim, in the current
directory, so that the first chat need not wait for them. The agent uses memory, but no session is opened and nothing is
sent to its model. It is not done without a UI, nor when you would have to choose an agent; an agent that nobody uses
for 30 minutes is ended.]]),
  option("python", "string")([[
The Python that runs the host (3.11 or newer, with the packages of the plugin). Without it: `.venv` in the
plugin's directory, which |:AcpBuild| builds, then |g:python3_host_prog|.]]),
  {
    name = "root",
    type = '"cwd", "git" or a function',
    check = checks.root,
    default = "cwd",
    doc = [[The directory of a new session. `"cwd"`: the working directory of the current window. `"git"`: the top of the git
repository that the file you are in belongs to; for 'autochdir'. A function gets the number of its buffer and returns the
directory. Without a repository, or if the function fails, it is the working directory.]],
  },
  option("additional_directories", "strings", {})([[
Directories that sessions may use besides their own: the agent may read and write files there, and gets their
names if it supports that. `~` is your home; other paths are relative to the session's directory. Used for new
sessions.]]),
  option("fs.write", { "save", "buffer" }, "save")([[
What happens when the agent writes a file that you have open. `"save"`: the change goes into the buffer and
is saved. `"buffer"`: it goes into the buffer and is left for you to save.]]),
  option("fs.outside", { "error", "ask" }, "error")([[
What happens when the agent asks for a file outside of the session's directories. `"error"`: the agent gets an
error. `"ask"`: you are asked, as for any permission, and may answer for the rest of the session. What is not a regular
file is always an error. Agents that open files themselves do not ask for them.]]),
  option("mcp.enabled", "boolean", true)([[
Whether agents get the tools of your editor: what you look at, unsaved text, diagnostics, and the language servers. The
agent reaches them as the MCP server `nvim`. `agents.<name>.mcp = { enabled = false }` is for one agent. See
|acp_nvim-mcp|.]]),
  option("mcp_servers", "table", {})([[
MCP servers for all agents: a map from names to servers, like `{ command = "npx", args = { ... }, env = { ... } }` or
`{ url = "https://...", headers = { ... } }`. See |acp_nvim-mcp-servers|.]]),
  option("project_mcp_servers", { "ask", false }, "ask")([[
Whether you are asked to use the MCP servers of a project's `.mcp.json`. `false`: they are never used.]]),
  option("after_turn.diagnostics", { false, "error", "warn", "info", "hint" }, false)([[
Which problems are looked for after a turn, in the files that it has changed: those that are new since its beginning
and at least that severe. They are offered to be sent to the agent. See |acp_nvim-after-turn|.]]),
  option("after_turn.command", "string")([[
A command, such as `make test`, that is run in the session's directory after a turn that has changed files. If it
fails, the end of its output is offered to be sent to the agent.]]),
  option("after_turn.auto", "boolean", false)([[
Whether what these checks find is sent to the agent by itself, as the next prompt.]]),
  option("after_turn.rounds", "number", 3)([[
How often that is done, until you send a prompt of your own.]]),
  option("tell_agent", "boolean", true)([[
Whether the agent is told, with your next prompt, what you have kept, rejected and restored of its changes since the
last one. The line above the prompt says so. See |acp_nvim-tell-agent|.]]),
  option("config.keep", "boolean", false)([[
Whether new sessions of an agent begin with the mode, model or option that you set last. Otherwise only values set
with a bang (`:AcpConfig!`) are kept. See |acp_nvim-config|.]]),
  {
    name = "shell",
    type = "string",
    check = checks.shell,
    default = nil,
    doc = [[The shell that runs command lines of agents and `after_turn.command`, as `shell -c "the line"`. Without it:
`$SHELL` if that is a shell like `sh` (bash, dash, zsh, ksh, ...), else `bash`, else `/bin/sh`: agents write lines for these,
which fish and nushell read otherwise. See |acp_nvim-terminals|.]],
  },
  option("permissions.terminal", { "ask_unless_asked", "ask", "allow" }, "ask_unless_asked")(
    [[
What happens when the agent wants Neovim to run a command. `"ask_unless_asked"`: you are asked, unless you have
allowed exactly this command in a request of the agent's, in the same turn; one such answer counts for one run. `"ask"`:
you are asked in any case. `"allow"`: it is run. Agents that run commands themselves do not ask for it here. See |acp_nvim-terminals|.]]
  ),
  {
    name = "permissions.rules",
    type = "list of rules",
    check = checks.rules,
    default = {},
    doc = [[Rules that answer permission requests in your place, a list; the first one that matches decides, and what none
matches is asked. Each is `{ agent = "name", kind = "execute", path = "glob", command = "glob", action = "allow" }`, where
`action` is `"allow"`, `"reject"` or `"ask"`, and everything else may be left out. See |acp_nvim-rules|.]],
  },
  option("permissions.float", "boolean", true)([[
Whether waiting permissions are shown in a float at the right of the screen, while the chat is not visible.
Otherwise a message is shown.]]),
  option("follow.enabled", { "auto", true, false }, "auto")([[
Whether a code window shows where the agent works. `"auto"`: while the focus is in the chat or the prompt.
See |acp_nvim-follow|.]]),
  option("follow.resume", { "turn", "command" }, "turn")([[
When following resumes after you have moved or edited in the window that shows where the agent works. `"turn"`:
with the next turn. `"command"`: only with |:AcpFollow|.]]),
  option("follow.sign", "string", "▶")([[
The sign beside the line where an agent is, in all windows that show the file, whether it is followed or not: at
most two cells. Empty: no sign.]]),
  option("review.signs", "boolean", true)([[Whether changes of the agent that are under review have signs.]]),
  option("review.winbar", "boolean", true)([[
Whether 'winbar' shows how much there is to review in a file, behind your own value.]]),
  option("review.hint", "boolean", true)([[Whether the hunk under the cursor shows its number and its keys.]]),
  option("ui.position", { "right", "left", "bottom", "tab", "float" }, "right")([[
Where the chat opens. See |acp_nvim-windows|.]]),
  option("ui.width", "number")([[
Width of the chat at the left or right, or of the float: columns, or a part of the screen when it is below 1. It
is at least 40 columns where the screen allows. Without it: 0.4, of the float 0.8. A chat that you have made wider or
narrower opens like that the next time.]]),
  option("ui.height", "number")([[
Height of chat and prompt at the bottom, or of the float: lines, or a part of the screen when it is below 1.
Without it: 0.5, of the float 0.8. A height that you have changed is kept like a width.]]),
  option("ui.fold_thoughts", "boolean", true)([[
Whether a long thought of the agent is a closed fold as soon as it is over. Your own fold commands work in any
case. See |acp_nvim-folds|.]]),
  option("ui.fold_tool_calls", { "long", true, false }, "long")([[
Which tool calls are closed folds at first. `"long"`: those with more than 30 lines, as soon as they have ended
well. `true`: all with more than one line. `false`: none.]]),
  {
    name = "ui.icons",
    type = "table",
    check = checks.icons,
    default = {},
    doc = [[Icons of tool calls that replace the default ones: a map from a kind (`read`, `edit`, `delete`, `move`, `search`,
`execute`, `think`, `fetch`, `switch_mode`, `other`, `subagent`) or a status (`pending`, `in_progress`, `paused`, `completed`, `failed`,
`cancelled`, `rejected`, `unfinished`) to a character or two, like `{ read = "R" }`.]],
  },
  option("ui.conceal", "boolean", true)([[
Whether the marks of markdown (`**`, backticks, targets of links) are hidden in the chat, but for the line of the
cursor. What you yank is all of the text in any case.]]),
  option("ui.prompt_height", "number", 6)([[
Lines of the prompt's window. It grows with what stands in it, up to half of what chat and prompt have together.]]),
  option("ui.plan", { "pinned", "chat", false }, "pinned")([[
Where the plans of a running turn are shown. `"pinned"`: above the prompt and, as a fold, in the chat; only in the chat
where a plugin that manages windows moves them away from it. `"chat"`: only in the chat. `false`: the chat shows only how
much of a plan is done.]]),
  option("ui.winbar", "boolean", true)([[
Whether 'winbar' shows the state of the session above the chat, and the attachments above the prompt. Switch it
off where another plugin uses 'winbar' there.]]),
  option("ui.spinner", "boolean", true)([[
Whether a spinner and the seconds are shown above the chat while a turn runs.]]),
  option("notify.turn_end", "boolean", true)([[
Whether a message announces the end of a turn when its chat is not visible: closed, in another tab page, or Neovim
does not have the focus.]]),
  option("notify.permission", "boolean", true)([[
Whether a message announces a waiting permission or question in the same way, unless the float shows it.]]),
  option("notify.bell", "boolean", false)([[
Whether the terminal's bell rings with these messages. A graphical Neovim has none.]]),
  option("prompt.autocomplete", "boolean", true)([[
Whether the prompt is completed while you type, where no plugin does it (nvim-cmp, blink.cmp, mini.completion,
coq_nvim, 'autocomplete'). See |acp_nvim-completion|.]]),
  option("prompt.suggestions", "boolean", true)([[
Whether the empty prompt shows the prompt that an agent suggests. See |acp_nvim-suggestions|.]]),
  option("protocol.v2", "boolean", false)([[
Speak version 2 of the protocol, a Preview since 2026-11-20, with agents that can. All others get version 1. It counts for agents
that are started from now on. See |acp_nvim-protocol|.]]),
  option("protocol.draft_transports", "boolean", false)([[
Use agents whose `address` begins with `wss://` or `ws://`: WebSocket is a draft of the protocol, and may change. See
|acp_nvim-websocket|.]]),
  option("history.transcripts", "boolean", true)([[
Keep conversations in the state directory, so that |:AcpSessions| finds them. Secrets are masked where they are
recognized. See |acp_nvim-history|.]]),
  option("history.days", "number", 90)("Days after which a kept conversation is removed."),
  option("history.megabytes", "number", 200)([[Size of all kept conversations; beyond it the oldest are removed.]]),
  option("state.megabytes", "number", 2000)([[
Size of acp_nvim's state directory, without worktrees; beyond it the checkpoints of the projects that were not
used for the longest time are removed. See |acp_nvim-state|.]]),
  option("worktree_directory", "string")([[
Where worktrees of sessions are created (`++worktree` of |:AcpChat|). Without it: `acp_nvim/worktrees` in
`stdpath("state")`. It must not be inside the project. See |acp_nvim-worktrees|.]]),
  option("log.traffic", "boolean", false)([[
Record the messages of every agent connection, secrets masked; for bug reports. See |acp_nvim-recordings|.]]),
  option("timeouts.initialize", "number", 60000)("Milliseconds that an agent may take for its first answer."),
  option("timeouts.cancel", "number", 10000)([[
Milliseconds that an agent may take to stop a turn that you have cancelled. Then a message is shown, and another
|:AcpCancel| uses stronger means, see |acp_nvim-cancel|.]]),
  option("timeouts.background", "number", 5000)([[
Milliseconds of silence, without an open tool call, command or question, after which a turn that an agent has
started by itself is over. With version 2 of the protocol the agent ends it. See |acp_nvim-background|.]]),
  option("timeouts.snapshot", "number", 800)([[
Milliseconds that a prompt waits for the snapshot of the files. A longer snapshot continues in the background: a
file that the agent changes meanwhile may be shown without its old text. See |acp_nvim-review|.]]),
  option("timeouts.after_turn", "number", 600000)([[
Milliseconds that `after_turn.command` may take; then it is ended, and counts as failed.]]),
  option("timeouts.idle", "number", 1800000)([[
Milliseconds without a turn, a question or a command in any of its sessions after which the process of an agent is
stopped. Only when all sessions can be resumed: the next prompt starts the agent again. 0: never.
`agents.<name>.idle_seconds` is for one agent. See |acp_nvim-ends|.]]),
  key("send", "<CR>", "Prompt, normal mode: send."),
  key("send_insert", "<C-s>", "Prompt, normal and insert mode: send."),
  key("take_suggestion", "<Right>", "Prompt, empty: take the prompt that the agent suggests, to edit or send it."),
  key("history_previous", { "<C-g>p", "<M-p>" }, "Prompt: the previous prompt in the history."),
  key("history_next", { "<C-g>n", "<M-n>" }, "Prompt: the next prompt in the history, or your draft."),
  key("paste_image", { "<C-g>v", "<M-v>" }, "Prompt: attach the image in the clipboard."),
  key("history_pick", { "<C-g>h", "<M-h>" }, "Prompt: choose from the prompts of this project."),
  key("steer", { "<C-g>s", "<M-s>" }, "Prompt and queue: send into the running turn; queue it where the agent cannot."),
  key("drop_context", { "<C-g>x", "<M-x>" }, "Prompt: remove all attachments."),
  key("focus_prompt", "i", "Chat: go to the prompt."),
  key("close", "q", "Chat and form: close the windows; the session continues. The review's list: close it."),
  key("session_actions", "gs", "Chat: choose an action for this session: continue, fork, rename, close, delete."),
  key("cancel", "<C-c>", "Chat and prompt, normal mode: cancel the turn."),
  key("cancel_block", "gc", "Chat, on a tool call or the output of a command: cancel only that, where the agent can."),
  key("continue_last", "g.", "Chat and prompt, normal mode: continue the conversation used last in this directory."),
  key("sign_in", "gl", "Chat and prompt, normal mode: sign in to the agent."),
  key("help", "g?", "Chat, prompt, queue and form: show the keys."),
  key("mode_next", { "<C-g>m", "<M-m>" }, "Chat and prompt: switch to the agent's next mode."),
  key("model", { "<C-g>l", "<M-l>" }, "Chat and prompt: choose the model."),
  key("config", { "<C-g>c", "<M-c>" }, "Chat and prompt: set an option of the agent."),
  key("send_problems", "gp", "Chat: send the agent the problems that were found after its turn."),
  key("details", "K", "Chat, on a tool call or a permission: show the complete details of the tool call."),
  key("next_message", "]]", "Chat: your next message."),
  key("previous_message", "[[", "Chat: your previous message."),
  key("allow_once", "a", "Chat, while a permission is asked: allow once."),
  key("allow_always", "A", "Chat, while a permission is asked: allow always."),
  key("reject_once", "r", "Chat, while a permission is asked: reject once."),
  key("reject_always", "R", "Chat, while a permission is asked: reject always."),
  key("choose", "<CR>", "Chat, while a permission is asked: the option under the cursor."),
  key("preview", "p", "Chat, while a permission is asked: preview the change in its files, one after the other."),
  key(
    "open",
    { "<CR>", "gf" },
    "Chat and the review's list: open the target of this line: a file, a link, a picture, all output of a terminal."
  ),
  key("form_edit", { "<CR>", "<Space>", "i" }, "Form: fill in the field under the cursor: type, choose, or change it."),
  key("form_next", "<Tab>", "Form: the next field."),
  key("form_previous", "<S-Tab>", "Form: the previous field."),
  key("form_review", "<C-s>", "Form: show what will be sent."),
  key("form_send", "<CR>", "Form, when it shows what will be sent: send it."),
  key("form_back", { "<BS>", "u" }, "Form, when it shows what will be sent: go back to the fields."),
  key("form_open", "o", "Form with a web page: agree, and open it in the browser."),
  key("form_decline", "<C-x>", "Form: decline to answer."),
  key("form_cancel", "<C-c>", "Form: cancel the question, without an answer."),
  key("review_next", { "ghn", "]h" }, "Files under review: the next hunk, with a count: that many further."),
  key("review_previous", { "ghp", "[h" }, "Files under review: the previous hunk."),
  key("review_keep", "ghk", "Files under review: keep this hunk, or the selected ones. In the list: the file."),
  key("review_reject", "ghr", "Files under review: reject this hunk, or the selected ones. In the list: the file."),
  key("review_keep_all", "ghK", "Files under review: keep all hunks of this file."),
  key("review_reject_all", "ghR", "Files under review: reject all hunks of this file."),
  key("review_mine", "gho", "Files under review, on a conflict: keep your text."),
  key("review_theirs", "ght", "Files under review, on a conflict: take the other text."),
  key("review_both", "ghb", "Files under review, on a conflict: both, yours first."),
  key("review_help", "g?", "Files under review and the review's list: show the keys."),
  key("preview_allow", "ghk", "Files with a preview: allow once what is asked."),
  key("preview_reject", "ghr", "Files with a preview: reject once what is asked."),
  key("preview_options", "gho", "Files with a preview: choose from all options."),
  key("preview_next", { "ghn", "]h" }, "Files with a preview: the next hunk, also in the next file of the request."),
  key("preview_previous", { "ghp", "[h" }, "Files with a preview: the previous hunk."),
  key("preview_help", "g?", "Files with a preview: show the keys."),
  key("review_quickfix", "Q", "The review's list: all hunks as a quickfix list."),
}
