-- The one list of options: name, types, default and what it is for; checks, defaults and :help come from it.

---@class acp.Option.Schema
---@field name string with dots for nested tables
---@field types string[] Lua types that are allowed; "key" = string, list of strings or false; "strings" = list of strings
---@field values? any[] the only values allowed
---@field default any
---@field doc string

---@type acp.Option.Schema[]
local options = {
  {
    name = "agents",
    types = { "agents" },
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
    types = { "string" },
    doc = [[The agent that `:AcpChat` starts when none is named. Without it: the first of `agents` by name; without these the
one of |acp_nvim-known-agents| that is on this machine. Of several you choose, once in each Neovim; the first is taken
where nobody can be asked. If there is none: `demo`.]],
  },
  {
    name = "python",
    types = { "string" },
    doc = [[The Python that runs the host (3.11 or newer, with the packages of the plugin). Without it: `.venv` in the
plugin's directory, then |g:python3_host_prog|.]],
  },
  {
    name = "additional_directories",
    types = { "strings" },
    default = {},
    doc = [[Directories that sessions may use besides their own: the agent reads and writes files there too, and is told of
them if it can be. `~` is your home; what is relative is so to the session's directory. It counts for new sessions.]],
  },
  {
    name = "fs.write",
    types = { "string" },
    values = { "save", "buffer" },
    default = "save",
    doc = [[What happens when the agent writes a file that you have open. `"save"`: the change goes into the buffer and
is saved. `"buffer"`: it goes into the buffer and is left for you to save.]],
  },
  {
    name = "fs.outside",
    types = { "string" },
    values = { "error", "ask" },
    default = "error",
    doc = [[What happens when the agent asks for a file outside of the session's directories. `"error"`: the agent gets an
error. `"ask"`: you are asked, as for any permission, and may answer for the rest of the session. What is not a regular
file is always an error. Agents that open files themselves do not ask for them.]],
  },
  {
    name = "config.keep",
    types = { "boolean" },
    default = false,
    doc = [[Whether the mode, model or option that you set for a session is what new sessions of that agent begin with. Without
it only what you set with a bang (`:AcpConfig!`) is kept. See |acp_nvim-config|.]],
  },
  {
    name = "permissions.terminal",
    types = { "string" },
    values = { "ask_unless_asked", "ask", "allow" },
    default = "ask_unless_asked",
    doc = [[What happens when the agent wants Neovim to run a command. `"ask_unless_asked"`: you are asked, unless you have
allowed exactly this command in a request of the agent's, in the same turn; one such answer counts for one run. `"ask"`:
you are asked in any case. `"allow"`: it is run. Agents that run commands themselves do not ask for it here. See |acp_nvim-terminals|.]],
  },
  {
    name = "permissions.rules",
    types = { "rules" },
    default = {},
    doc = [[Rules that answer permission requests in your place, a list; the first one that matches decides, and what none
matches is asked. Each is `{ agent = "name", kind = "execute", path = "glob", command = "glob", action = "allow" }`, where
`action` is `"allow"`, `"reject"` or `"ask"`, and everything else may be left out. See |acp_nvim-rules|.]],
  },
  {
    name = "permissions.float",
    types = { "boolean" },
    default = true,
    doc = [[Whether permissions that wait are shown in a float at the right of the screen, while the chat is not seen.
Without it a message tells you.]],
  },
  {
    name = "follow.enabled",
    types = { "string", "boolean" },
    values = { "auto", true, false },
    default = "auto",
    doc = [[Whether a code window shows where the agent works. `"auto"`: while the focus is in the chat or the prompt.
See |acp_nvim-follow|.]],
  },
  {
    name = "follow.resume",
    types = { "string" },
    values = { "turn", "command" },
    default = "turn",
    doc = [[When following goes on after you have moved or edited in the window that shows where the agent works. `"turn"`:
with the next turn. `"command"`: only with |:AcpFollow|.]],
  },
  {
    name = "follow.sign",
    types = { "string" },
    default = "▶",
    doc = [[The sign beside the line where an agent is, in all windows that show the file, whether it is followed or not: at
most two cells. Empty: no sign.]],
  },
  {
    name = "review.signs",
    types = { "boolean" },
    default = true,
    doc = "Whether signs beside the lines say what the agent has changed, while it is under review.",
  },
  {
    name = "review.winbar",
    types = { "boolean" },
    default = true,
    doc = "Whether 'winbar' says how much there is to review in a file, behind what you have there yourself.",
  },
  {
    name = "review.hint",
    types = { "boolean" },
    default = true,
    doc = "Whether the hunk under the cursor says which one it is, and which keys it has.",
  },
  {
    name = "ui.position",
    types = { "string" },
    values = { "right", "left", "bottom", "tab", "float" },
    default = "right",
    doc = "Where the chat opens. See |acp_nvim-windows|.",
  },
  {
    name = "ui.width",
    types = { "number" },
    doc = [[Width of the chat at the left or right, or of the float: columns, or a part of the screen when it is below 1. It
is at least 40 columns where the screen allows. Without it: 0.4, of the float 0.8. A chat that you have made wider or
narrower opens like that the next time.]],
  },
  {
    name = "ui.height",
    types = { "number" },
    doc = [[Height of chat and prompt at the bottom, or of the float: lines, or a part of the screen when it is below 1.
Without it: 0.5, of the float 0.8. A height that you have changed is kept like a width.]],
  },
  {
    name = "ui.fold_thoughts",
    types = { "boolean" },
    default = true,
    doc = [[Whether a long thought of the agent is a closed fold as soon as it is over. Your own fold commands work in any
case. See |acp_nvim-folds|.]],
  },
  {
    name = "ui.fold_tool_calls",
    types = { "string", "boolean" },
    values = { "long", true, false },
    default = "long",
    doc = [[Which tool calls are closed folds at first. `"long"`: those with more than 30 lines, as soon as they have ended
well. `true`: all with more than one line. `false`: none.]],
  },
  {
    name = "ui.icons",
    types = { "icons" },
    default = {},
    doc = [[Icons of tool calls that take the place of ours: a map from a kind (`read`, `edit`, `delete`, `move`, `search`,
`execute`, `think`, `fetch`, `switch_mode`, `other`) or a status (`pending`, `in_progress`, `paused`, `completed`, `failed`,
`cancelled`, `rejected`, `unfinished`) to a character or two, like `{ read = "R" }`.]],
  },
  {
    name = "ui.conceal",
    types = { "boolean" },
    default = true,
    doc = [[Whether the marks of markdown (`**`, backticks, targets of links) are hidden in the chat, but for the line of the
cursor. What you yank is all of the text in any case.]],
  },
  {
    name = "ui.prompt_height",
    types = { "number" },
    default = 6,
    doc = [[Lines of the prompt's window. It grows with what stands in it, up to half of what chat and prompt have together.]],
  },
  {
    name = "ui.plan",
    types = { "string", "boolean" },
    values = { "pinned", "chat", false },
    default = "pinned",
    doc = [[Where the plans of a turn are seen while it runs. `"pinned"`: above the prompt, and in the chat. `"chat"`: only
there. `false`: the chat shows no more of a plan than how much of it is done.]],
  },
  {
    name = "ui.winbar",
    types = { "boolean" },
    default = true,
    doc = [[Whether 'winbar' says above the chat how the session stands, and above the prompt what is attached. Off where
another plugin uses 'winbar' there.]],
  },
  {
    name = "ui.spinner",
    types = { "boolean" },
    default = true,
    doc = "Whether something moves above the chat while a turn runs, and the seconds are counted.",
  },
  {
    name = "notify.turn_end",
    types = { "boolean" },
    default = true,
    doc = [[Whether a message tells that a turn is over when its chat is not seen: it is closed, in another tab page, or
Neovim has not the focus.]],
  },
  {
    name = "notify.permission",
    types = { "boolean" },
    default = true,
    doc = "Whether a message tells in the same way that a permission or a question waits, unless the float shows it to you.",
  },
  {
    name = "notify.bell",
    types = { "boolean" },
    default = false,
    doc = "Whether the terminal's bell rings with these messages. A graphical Neovim has none.",
  },
  {
    name = "prompt.autocomplete",
    types = { "boolean" },
    default = true,
    doc = [[Whether the prompt is completed while you type, where no plugin does it (nvim-cmp, blink.cmp, mini.completion,
coq_nvim, 'autocomplete'). See |acp_nvim-completion|.]],
  },
  {
    name = "protocol.v2",
    types = { "boolean" },
    default = false,
    doc = [[Speak version 2 of the protocol, a draft, with agents that can. All others get version 1. It counts for agents
that are started from now on. See |acp_nvim-protocol|.]],
  },
}

vim.list_extend(options, require("acp_nvim.config.kept"))
vim.list_extend(options, require("acp_nvim.config.timeouts"))
return vim.list_extend(options, require("acp_nvim.config.keymaps"))
