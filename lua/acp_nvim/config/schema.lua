-- The one list of options: name, type, default, check and what it is for; defaults, checks and :help come from it.
local check_agents = require("acp_nvim.config.check_agents")
local checks = require("acp_nvim.config.checks")

---@class acp.Option.Schema
---@field name string with dots for nested tables
---@field type? string that `checks.kind` knows; with `check` words for :help; nil with `values`
---@field values? any[] the only values allowed
---@field check? fun(value: any, problems: string[]): any adds problems; returns what is right of the value
---@field default any
---@field doc string

---@param name string
---@param default string|string[]|false
---@param doc string
---@return acp.Option.Schema
local function key(name, default, doc)
  return { name = "keymaps." .. name, type = "key", default = default, doc = doc }
end

---@type acp.Option.Schema[]
return {
  {
    name = "agents",
    type = "table",
    check = check_agents,
    default = {},
    doc = [[Your agents: a map from a name to what is to be said of it. Of those in |acp_nvim-known-agents| nothing needs to
be said, and what is said takes the place of what is known. Others need a `command`. `command`: a list, the program
and its arguments. `env`: a map, added to Neovim's environment. `mcp_servers`: a list of what the protocol calls MCP
servers, which the agent is to use. `defaults`: `{ mode = "id", model = "id", options = { id = "value" } }`, what new
sessions are set to. `idle_seconds`: a number, after which a process is stopped that does nothing. `prefix`, `paths`
and `terminal`: for an agent that runs elsewhere, see |acp_nvim-remote|. `quirks`: a list of names of known deviations;
`"missing_file_reads_empty"` is of an agent that makes no file unless reading it gives an empty text,
`"api_key_is_text"` of one that takes a key for signing in as a plain text; `"command_in_content"`,
`"cd_before_command"` and `"words_for_line"` are about commands, see |acp_nvim-terminals|. `state`: a list of files of a
project in which the agent keeps its own records, relative to its directory (`.fast-agent/**` is all below): the review
lists them apart, and rejects them only one by one. `title`, `url`, `install`, `sign_in`: texts for people. The agent `demo` comes with the plugin.]],
  },
  {
    name = "default_agent",
    type = "string",
    doc = [[The agent that `:AcpChat` starts when none is named. Without it: the first of `agents` by name; without these the
one of |acp_nvim-known-agents| that is on this machine. Of several you choose, once in each Neovim; the first is taken
where nobody can be asked. If there is none: `demo`.]],
  },
  {
    name = "python",
    type = "string",
    doc = [[The Python that runs the host (3.11 or newer, with the packages of the plugin). Without it: `.venv` in the
plugin's directory, then |g:python3_host_prog|.]],
  },
  {
    name = "additional_directories",
    type = "strings",
    default = {},
    doc = [[Directories that sessions may use besides their own: the agent reads and writes files there too, and is told of
them if it can be. `~` is your home; what is relative is so to the session's directory. It counts for new sessions.]],
  },
  {
    name = "fs.write",
    values = { "save", "buffer" },
    default = "save",
    doc = [[What happens when the agent writes a file that you have open. `"save"`: the change goes into the buffer and
is saved. `"buffer"`: it goes into the buffer and is left for you to save.]],
  },
  {
    name = "fs.outside",
    values = { "error", "ask" },
    default = "error",
    doc = [[What happens when the agent asks for a file outside of the session's directories. `"error"`: the agent gets an
error. `"ask"`: you are asked, as for any permission, and may answer for the rest of the session. What is not a regular
file is always an error. Agents that open files themselves do not ask for them.]],
  },
  {
    name = "config.keep",
    type = "boolean",
    default = false,
    doc = [[Whether the mode, model or option that you set for a session is what new sessions of that agent begin with. Without
it only what you set with a bang (`:AcpConfig!`) is kept. See |acp_nvim-config|.]],
  },
  {
    name = "permissions.terminal",
    values = { "ask_unless_asked", "ask", "allow" },
    default = "ask_unless_asked",
    doc = [[What happens when the agent wants Neovim to run a command. `"ask_unless_asked"`: you are asked, unless you have
allowed exactly this command in a request of the agent's, in the same turn; one such answer counts for one run. `"ask"`:
you are asked in any case. `"allow"`: it is run. Agents that run commands themselves do not ask for it here. See |acp_nvim-terminals|.]],
  },
  {
    name = "permissions.rules",
    type = "list of rules",
    check = checks.rules,
    default = {},
    doc = [[Rules that answer permission requests in your place, a list; the first one that matches decides, and what none
matches is asked. Each is `{ agent = "name", kind = "execute", path = "glob", command = "glob", action = "allow" }`, where
`action` is `"allow"`, `"reject"` or `"ask"`, and everything else may be left out. See |acp_nvim-rules|.]],
  },
  {
    name = "permissions.float",
    type = "boolean",
    default = true,
    doc = [[Whether permissions that wait are shown in a float at the right of the screen, while the chat is not seen.
Without it a message tells you.]],
  },
  {
    name = "follow.enabled",
    values = { "auto", true, false },
    default = "auto",
    doc = [[Whether a code window shows where the agent works. `"auto"`: while the focus is in the chat or the prompt.
See |acp_nvim-follow|.]],
  },
  {
    name = "follow.resume",
    values = { "turn", "command" },
    default = "turn",
    doc = [[When following goes on after you have moved or edited in the window that shows where the agent works. `"turn"`:
with the next turn. `"command"`: only with |:AcpFollow|.]],
  },
  {
    name = "follow.sign",
    type = "string",
    default = "▶",
    doc = [[The sign beside the line where an agent is, in all windows that show the file, whether it is followed or not: at
most two cells. Empty: no sign.]],
  },
  {
    name = "review.signs",
    type = "boolean",
    default = true,
    doc = "Whether signs beside the lines say what the agent has changed, while it is under review.",
  },
  {
    name = "review.winbar",
    type = "boolean",
    default = true,
    doc = "Whether 'winbar' says how much there is to review in a file, behind what you have there yourself.",
  },
  {
    name = "review.hint",
    type = "boolean",
    default = true,
    doc = "Whether the hunk under the cursor says which one it is, and which keys it has.",
  },
  {
    name = "ui.position",
    values = { "right", "left", "bottom", "tab", "float" },
    default = "right",
    doc = "Where the chat opens. See |acp_nvim-windows|.",
  },
  {
    name = "ui.width",
    type = "number",
    doc = [[Width of the chat at the left or right, or of the float: columns, or a part of the screen when it is below 1. It
is at least 40 columns where the screen allows. Without it: 0.4, of the float 0.8. A chat that you have made wider or
narrower opens like that the next time.]],
  },
  {
    name = "ui.height",
    type = "number",
    doc = [[Height of chat and prompt at the bottom, or of the float: lines, or a part of the screen when it is below 1.
Without it: 0.5, of the float 0.8. A height that you have changed is kept like a width.]],
  },
  {
    name = "ui.fold_thoughts",
    type = "boolean",
    default = true,
    doc = [[Whether a long thought of the agent is a closed fold as soon as it is over. Your own fold commands work in any
case. See |acp_nvim-folds|.]],
  },
  {
    name = "ui.fold_tool_calls",
    values = { "long", true, false },
    default = "long",
    doc = [[Which tool calls are closed folds at first. `"long"`: those with more than 30 lines, as soon as they have ended
well. `true`: all with more than one line. `false`: none.]],
  },
  {
    name = "ui.icons",
    type = "table",
    check = checks.icons,
    default = {},
    doc = [[Icons of tool calls that take the place of ours: a map from a kind (`read`, `edit`, `delete`, `move`, `search`,
`execute`, `think`, `fetch`, `switch_mode`, `other`) or a status (`pending`, `in_progress`, `paused`, `completed`, `failed`,
`cancelled`, `rejected`, `unfinished`) to a character or two, like `{ read = "R" }`.]],
  },
  {
    name = "ui.conceal",
    type = "boolean",
    default = true,
    doc = [[Whether the marks of markdown (`**`, backticks, targets of links) are hidden in the chat, but for the line of the
cursor. What you yank is all of the text in any case.]],
  },
  {
    name = "ui.prompt_height",
    type = "number",
    default = 6,
    doc = [[Lines of the prompt's window. It grows with what stands in it, up to half of what chat and prompt have together.]],
  },
  {
    name = "ui.plan",
    values = { "pinned", "chat", false },
    default = "pinned",
    doc = [[Where the plans of a turn are seen while it runs. `"pinned"`: above the prompt, and in the chat. `"chat"`: only
there. `false`: the chat shows no more of a plan than how much of it is done.]],
  },
  {
    name = "ui.winbar",
    type = "boolean",
    default = true,
    doc = [[Whether 'winbar' says above the chat how the session stands, and above the prompt what is attached. Off where
another plugin uses 'winbar' there.]],
  },
  {
    name = "ui.spinner",
    type = "boolean",
    default = true,
    doc = "Whether something moves above the chat while a turn runs, and the seconds are counted.",
  },
  {
    name = "notify.turn_end",
    type = "boolean",
    default = true,
    doc = [[Whether a message tells that a turn is over when its chat is not seen: it is closed, in another tab page, or
Neovim has not the focus.]],
  },
  {
    name = "notify.permission",
    type = "boolean",
    default = true,
    doc = "Whether a message tells in the same way that a permission or a question waits, unless the float shows it to you.",
  },
  {
    name = "notify.bell",
    type = "boolean",
    default = false,
    doc = "Whether the terminal's bell rings with these messages. A graphical Neovim has none.",
  },
  {
    name = "prompt.autocomplete",
    type = "boolean",
    default = true,
    doc = [[Whether the prompt is completed while you type, where no plugin does it (nvim-cmp, blink.cmp, mini.completion,
coq_nvim, 'autocomplete'). See |acp_nvim-completion|.]],
  },
  {
    name = "protocol.v2",
    type = "boolean",
    default = false,
    doc = [[Speak version 2 of the protocol, a draft, with agents that can. All others get version 1. It counts for agents
that are started from now on. See |acp_nvim-protocol|.]],
  },
  {
    name = "history.transcripts",
    type = "boolean",
    default = true,
    doc = [[Keep conversations in the state directory, so that |:AcpSessions| finds them. Secrets are masked, as far as they
can be told. See |acp_nvim-history|.]],
  },
  {
    name = "history.days",
    type = "number",
    default = 90,
    doc = "Days after which a kept conversation is removed.",
  },
  {
    name = "history.megabytes",
    type = "number",
    default = 200,
    doc = "Size of all kept conversations; beyond it the oldest are removed.",
  },
  {
    name = "state.megabytes",
    type = "number",
    default = 2000,
    doc = [[Size of acp_nvim's state directory, without worktrees; beyond it the checkpoints of projects that you have
not used for longest are removed. See |acp_nvim-state|.]],
  },
  {
    name = "worktree_directory",
    type = "string",
    doc = [[Where worktrees of sessions are made (`++worktree` of |:AcpChat|). Without it: `acp_nvim/worktrees` in
`stdpath("state")`. It must not be inside of the project. See |acp_nvim-worktrees|.]],
  },
  {
    name = "log.traffic",
    type = "boolean",
    default = false,
    doc = [[Record the messages of every agent connection, secrets masked; for bug reports. See |acp_nvim-recordings|.]],
  },
  {
    name = "timeouts.initialize",
    type = "number",
    default = 60000,
    doc = "Milliseconds that an agent may take for its first answer.",
  },
  {
    name = "timeouts.cancel",
    type = "number",
    default = 10000,
    doc = [[Milliseconds that an agent may take to stop a turn that you have cancelled. Then you are told, and another
|:AcpCancel| uses stronger means, see |acp_nvim-cancel|.]],
  },
  {
    name = "timeouts.background",
    type = "number",
    default = 5000,
    doc = [[Milliseconds of silence, with nothing open, after which a turn that an agent has begun by itself counts as over.
Agents of version 2 of the protocol say it themselves. See |acp_nvim-background|.]],
  },
  {
    name = "timeouts.snapshot",
    type = "number",
    default = 800,
    doc = [[Milliseconds that a prompt waits for the snapshot of the files before it. What takes longer goes on in the
background: a file that the agent changes before it is done may be shown without what it was. See |acp_nvim-review|.]],
  },
  {
    name = "timeouts.idle",
    type = "number",
    default = 1800000,
    doc = [[Milliseconds after which the process of an agent is stopped when none of its sessions had a turn, a question
or a command. Only when all of them can be taken up again: the next prompt starts it, and they go on. 0: never.
`agents.<name>.idle_seconds` is for one agent. See |acp_nvim-ends|.]],
  },
  key("send", "<CR>", "Prompt, normal mode: send."),
  key("send_insert", "<C-s>", "Prompt, normal and insert mode: send."),
  key("history_previous", "<M-p>", "Prompt: the prompt sent before."),
  key("history_next", "<M-n>", "Prompt: the prompt sent after, or your draft."),
  key("paste_image", "<M-v>", "Prompt: attach the image in the clipboard."),
  key("history_pick", "<M-h>", "Prompt: choose from the prompts of this project."),
  key("steer", "<M-s>", "Prompt: send into the turn that runs, where the agent can; else it is queued."),
  key("drop_context", "<M-x>", "Prompt: attach nothing after all."),
  key("focus_prompt", "i", "Chat: go to the prompt."),
  key("close", "q", "Chat and form: close the windows; the session goes on. The review's list: close it."),
  key("session_actions", "gs", "Chat: choose what is done with this session: go on with it, fork, close, delete."),
  key("cancel", "<C-c>", "Chat and prompt, normal mode: cancel the turn."),
  key("sign_in", "gl", "Chat and prompt, normal mode: sign in to the agent."),
  key("help", "g?", "Chat, prompt and form: show the keys."),
  key("mode_next", "<M-m>", "Chat and prompt: the agent's next mode."),
  key("model", "<M-l>", "Chat and prompt: choose the model."),
  key("config", "<M-c>", "Chat and prompt: set what the agent offers to set."),
  key("details", "K", "Chat, on a tool call or a permission: all that there is of the tool call."),
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
    "Chat and the review's list: open what this line leads to: a file, a link, a picture, all output of a terminal."
  ),
  key("form_edit", { "<CR>", "i" }, "Form: fill in the field under the cursor: type, choose, or change it."),
  key("form_toggle", "<Space>", "Form: the next value of the field under the cursor."),
  key("form_clear", "x", "Form: take the value of the field under the cursor away."),
  key("form_next", "<Tab>", "Form: the next field."),
  key("form_previous", "<S-Tab>", "Form: the previous field."),
  key("form_review", "<C-s>", "Form: look at what will be sent."),
  key("form_send", "<CR>", "Form, when you have looked at it: send it."),
  key("form_back", { "<BS>", "u" }, "Form, when you look at it: back to the fields."),
  key("form_open", "o", "Form with a web page: agree, and open it in the browser."),
  key("form_opened", "O", "Form with a web page: agree, and open it yourself."),
  key("form_decline", "<C-x>", "Form: decline to answer."),
  key("form_cancel", "<C-c>", "Form: cancel the question, without an answer."),
  key("review_next", "]h", "Files under review: the next hunk, with a count: that many further."),
  key("review_previous", "[h", "Files under review: the previous hunk."),
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
  key("preview_next", "]h", "Files with a preview: the next hunk, also in the next file of the request."),
  key("preview_previous", "[h", "Files with a preview: the previous hunk."),
  key("preview_help", "g?", "Files with a preview: show the keys."),
  key("review_quickfix", "Q", "The review's list: all hunks as a quickfix list."),
}
