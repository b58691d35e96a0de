---@meta
-- What Lua says to the host. Generated: change acp_nvim/contract/*messages.py, then type `make doc`.

---The configuration of the host: the options of `setup()` that it uses.
---@class acp.host.Config
---@field agents? table<string, any>|any[]
---@field default_agent? string
---@field additional_directories? string[]
---@field worktree_directory? string
---@field shell? string
---@field fs? acp.host.Fs
---@field timeouts? acp.host.Timeouts
---@field permissions? acp.host.Permissions
---@field mcp? acp.host.Mcp
---@field mcp_servers? table<string, any>|any[]
---@field project_mcp_servers? string|boolean
---@field after_turn? acp.host.CheckSettings
---@field tell_agent? boolean
---@field protocol? acp.host.Protocol
---@field history? acp.host.HistorySettings
---@field state? acp.host.State
---@field log? acp.host.Log

---How agents may access files: section `fs` of `setup()`.
---@class acp.host.Fs
---@field write? string
---@field outside? string

---Time limits in milliseconds: section `timeouts` of `setup()`.
---@class acp.host.Timeouts
---@field initialize? number
---@field cancel? number
---@field idle? number
---@field background? number
---@field snapshot? number
---@field after_turn? number

---When to ask for permissions, and rules that answer: section `permissions` of `setup()`.
---@class acp.host.Permissions
---@field terminal? string
---@field rules? acp.host.Rule[]

---A rule of `permissions.rules`; nil matches anything. `kind` is one kind of tool call, or several.
---@class acp.host.Rule
---@field action acp.RuleAction
---@field agent? string
---@field kind? string|string[]
---@field path? string
---@field command? string

---Whether agents get the editor as an MCP server: section `mcp` of `setup()`.
---@class acp.host.Mcp
---@field enabled? boolean

---What is checked after a turn: section `after_turn` of `setup()`. `diagnostics` is the least severity of the problems
---that count. At most `rounds` prompts are sent by themselves.
---@class acp.host.CheckSettings
---@field diagnostics? string|boolean
---@field command? string
---@field rounds? number
---@field auto? boolean

---Which parts of the protocol that may still change are used: section `protocol` of `setup()`.
---@class acp.host.Protocol
---@field v2? boolean
---@field draft_transports? boolean

---The configuration `history`: whether transcripts are kept, for how long, and how many of them.
---@class acp.host.HistorySettings
---@field transcripts? boolean
---@field days? number
---@field megabytes? number

---The maximum size of the state directory: section `state` of `setup()`.
---@class acp.host.State
---@field megabytes? number

---What is recorded in addition to the log: section `log` of `setup()`.
---@class acp.host.Log
---@field traffic? boolean

---An open session in the editor, for `sessions_list`.
---@class acp.OpenSession
---@field session integer its key
---@field agent string
---@field cwd string
---@field session_id? string at the agent
---@field title? string

---The state of a file right after the user has saved it.
---@class acp.Stamp
---@field size integer bytes
---@field mtime string nanoseconds since 1970, as decimal digits
---@field ctime string nanoseconds since 1970, as decimal digits
---@field ino integer
---@field was? string `ctime` of the state that the saved text was based on, if known

---The answer of the editor to a tool call of an agent. `lines` is the result, after `note`; or `error` tells what to
---try. `edit` is what a language server proposes, and `title` says what it does. `has_debugger`: nvim-dap is loaded.
---@class acp.ToolAnswer
---@field lines? string[]
---@field note? string
---@field error? string
---@field edit? acp.WorkspaceEdit
---@field title? string
---@field has_debugger? boolean

---Edits of files that a language server proposes; `encoding` is the unit of characters: "utf-8", "utf-16" or "utf-32".
---@class acp.WorkspaceEdit
---@field files acp.FileEdits[]
---@field encoding? string

---The edits of one file (an absolute path), all of its original text, which its buffer has in the state `state`.
---`is_unended`: the text of its buffer has no line end at its end for language servers, although it would be written
---with one.
---@class acp.FileEdits
---@field path string
---@field edits acp.LspEdit[]
---@field state? string
---@field is_unended? boolean

---Replaces the text from one position to another: lines and characters count from 0 (LSP "Text Edit").
---@class acp.LspEdit
---@field line integer
---@field character integer
---@field end_line integer
---@field end_character integer
---@field text string

---The first message, and again when the configuration changes or Lua was reloaded; `ready` answers each.
---@class acp.message.Hello
---@field version string of the Lua side
---@field log_path string
---@field state_path string directory of files that outlive this Neovim
---@field cache_path string
---@field config acp.host.Config
---@field temp_path? string directory that is removed when Neovim exits
---@field last_subagent? integer the greatest key that an earlier host has chosen for a child session
---@field instance? string identifies this Neovim: machine, pid and start time; without it nothing is journaled

---Send a prompt, or queue it while a turn runs.
---@class acp.message.Prompt
---@field session integer its key
---@field text string
---@field id? integer unique in this Neovim; `prompts_taken` reports it
---@field context? table<string, any>[] attached: `acp_nvim/prompt/items.py`

---Replace the queue by the user's edited version; prompts sent meanwhile are not sent again (`queue_late`).
---@class acp.message.QueueSet
---@field session integer its key
---@field prompts acp.QueuedText[] known prompts that are missing here are dropped
---@field known? integer[] ids of the prompts that the user saw
---@field held? boolean they wait until the user sends another one: no host had acknowledged all of them
---@field revision? integer grows with each of these messages; `prompts_taken` reports it

---Send a queued prompt into the running turn; an agent without steering gets it after the turn.
---@class acp.message.Steer
---@field session integer its key
---@field id? integer nil: the first in the queue

---Cancel the turn; without one, end commands of earlier turns, or clear the queue, or end the process.
---@class acp.message.Cancel
---@field session integer its key
---@field force? boolean end the process of an agent that does not answer

---Cancel only what is at a block: a tool call, or a command in it; `session_done` answers.
---@class acp.message.CancelBlock
---@field session integer its key
---@field id integer of the request
---@field block integer
---@field terminal? integer number of the terminal under the cursor, which comes before its tool call; 0: none
---@field or_turn? boolean cancel the turn if the agent cannot cancel it alone, or was asked to already

---Disconnect from the agent, whose process ends with its last session; transcript and queue stay.
---@class acp.message.Stop
---@field session integer its key

---Send `reset`, and then the whole transcript again.
---@class acp.message.Redraw
---@field session integer its key
---@field after? boolean only what was added after the transcript of an earlier host

---Request all details of the tool call at a block; `call_details` answers.
---@class acp.message.CallDetails
---@field session integer its key
---@field block integer

---Write an image or a sound of a tool call to a file; `call_media` answers.
---@class acp.message.CallMedia
---@field session integer its key
---@field block integer
---@field place integer 0-based, among the items of the call
---@field directory string

---Send all output of a terminal, and its further output from now on.
---@class acp.message.TerminalOpen
---@field session integer its key
---@field terminal integer

---Stop sending the output of a terminal: its buffer is gone.
---@class acp.message.TerminalClose
---@field session integer its key
---@field terminal integer

---Set an option of the agent, and start the agent if it does not run.
---@class acp.message.ConfigSet
---@field session integer its key
---@field option string an id, a category or a name
---@field value string|boolean an id or a name, or a boolean
---@field keep? boolean also for new sessions of the agent

---Forget the options stored for new sessions of the agent.
---@class acp.message.ConfigForget
---@field session integer its key

---Create a session, unless there is one with this key, and start its agent if it does not run.
---@class acp.message.Open
---@field session integer its key
---@field cwd string
---@field agent? string nil: the default agent
---@field additional_directories? string[]
---@field returned? integer[] ids of prompts returned after a host had died

---Like `open`, continuing a conversation: that of a stored `transcript`, or of the open session `source`.
---@class acp.message.Resume
---@field session integer its key
---@field cwd string
---@field agent? string nil: the default agent
---@field additional_directories? string[]
---@field returned? integer[] ids of prompts returned after a host had died
---@field session_id? string the agent's; nil: the agent begins a new session
---@field how? "fork"|"go_on"|"load"|"resume" how the agent reopens `session_id`
---@field transcript? string
---@field source? integer key of a session
---@field worktree? string name of a git work tree that is created for the session
---@field shown? boolean the chat already shows the conversation

---Close a session for good; `session_done` answers.
---@class acp.message.SessionClose
---@field id integer of the request
---@field session integer

---Delete a session at the agent, if there is a `session_id`, and then here; `session_done` answers.
---@class acp.message.SessionDelete
---@field id integer of the request
---@field agent string
---@field cwd string
---@field session_id? string
---@field transcripts? string[] ids of stored conversations
---@field session? integer its key if it is open; it is closed first

---Request the agents that run, and the session operations that they support; `agents_known` answers.
---@class acp.message.AgentsKnown
---@field id integer of the request

---Start an agent that will probably be used soon, without a session. A failure is only logged.
---@class acp.message.Prewarm
---@field agent string
---@field cwd string

---List all sessions and stored conversations; `sessions_listed` answers, again for each agent that is late.
---@class acp.message.SessionsList
---@field id integer of the request
---@field cwd string the directory whose sessions agents are asked for
---@field open acp.OpenSession[] the most recently used first
---@field query? string a text that the sessions must contain
---@field agents? string[] to be asked, and started if necessary; nil: those that run and can list
---@field everywhere? boolean of all directories, not only `cwd`
---@field archived? boolean only archived sessions; otherwise all others

---Request the next or first page of an agent's sessions; `sessions_listed` answers.
---@class acp.message.SessionsMore
---@field id integer of the `sessions_list` request
---@field agent string

---Request what removing the work tree around `path` would lose; `worktree_seen` answers.
---@class acp.message.WorktreeLook
---@field id integer of the request
---@field path string

---Remove the work tree around `path`; `session_done` answers.
---@class acp.message.WorktreeRemove
---@field id integer of the request
---@field path string
---@field force? boolean even if uncommitted changes are lost

---Answer a permission request with one of its options.
---@class acp.message.Answer
---@field id integer
---@field option_id string

---Request the rules of the project at `cwd`; `permission_rules` answers.
---@class acp.message.PermissionRules
---@field cwd string

---Remove a stored rule; `permission_rules` answers with the remaining ones.
---@class acp.message.PermissionForget
---@field cwd string
---@field id string

---Check whether these answers could be sent; `elicitation_checked` answers.
---@class acp.message.ElicitationCheck
---@field id integer
---@field version? integer repeated in the answer
---@field values? table<string, any>|any[] by the names of fields

---Answer a question; if an answer is invalid, nothing is sent, and `elicitation_checked` has the reason.
---@class acp.message.ElicitationAnswer
---@field id integer
---@field version? integer repeated in the answer
---@field values? table<string, any>|any[] by the names of fields
---@field action acp.AnswerAction

---Request the authentication methods of an agent; `sign_in` answers, or a failed `sign_in_done`.
---@class acp.message.LoginMethods
---@field agent string
---@field cwd string

---Sign in to an agent with one of its methods.
---@class acp.message.Login
---@field agent string
---@field cwd string
---@field method string its id
---@field values? any environment variables by name; they are never logged
---@field session? integer the one in whose chat the user is

---The program of a `sign_in_terminal` has exited.
---@class acp.message.LoginEnded
---@field attempt integer
---@field code? integer exit code of the program
---@field problem? string why the terminal could not be opened

---Cancel the attempt to sign in to an agent.
---@class acp.message.LoginCancel
---@field agent string

---Sign out of an agent that supports it (ACP "Authentication").
---@class acp.message.Logout
---@field agent string
---@field cwd string

---The files of tracked buffers differ from what the buffers last read or wrote.
---@class acp.message.DiskChanged
---@field paths string[] real paths

---The user wrote a tracked buffer; `stamp` is the state of its file right afterwards.
---@class acp.message.Saved
---@field path string
---@field stamp? acp.Stamp

---The user changed a buffer under review. Between its states `from` and `state` they replaced `count` lines after
---`first` others by `lines`.
---@class acp.message.Edited
---@field path string
---@field from string
---@field state string
---@field first integer
---@field count integer
---@field lines string[]

---Send the hunks of a file: its buffer was loaded, or the user wants to see them.
---@class acp.message.ReviewOpen
---@field path string

---Send the previews of a file again: the text of its buffer has changed.
---@class acp.message.PreviewOpen
---@field path string

---Send the changes that an earlier Neovim left to review in a directory.
---@class acp.message.ReviewLoad
---@field cwd string

---Keep or reject hunks, a file, all changes of a session, or everything; `judged` answers for many files.
---@class acp.message.Review
---@field action "both"|"keep"|"mine"|"reject"|"theirs"
---@field path? string
---@field hunks? integer[] ids; nil: the whole file
---@field session? integer
---@field force? boolean also reject changes that are not certain to be the agent's

---Request the states that can be restored; `checkpoints` answers.
---@class acp.message.Checkpoints
---@field cwd string

---Request the effect that a restore of a checkpoint would have; `restore_plan` answers.
---@class acp.message.RestorePlan
---@field id string
---@field cwd string
---@field force? boolean also restore files that are not certain to be the agent's

---Restore the files to their state before a turn, or undo a restore or a rejection; `restored` answers.
---@class acp.message.Restore
---@field id string
---@field cwd string
---@field force? boolean also restore files that are not certain to be the agent's

---Give a session that an agent stores another title; `session_done` answers.
---@class acp.message.SessionRename
---@field id integer of the request
---@field agent string
---@field cwd string
---@field session_id string
---@field title string
---@field session? integer its key if it is open

---Archive a session at its agent, or undo that; `session_done` answers.
---@class acp.message.SessionArchive
---@field id integer of the request
---@field agent string
---@field cwd string
---@field session_id string
---@field archived? boolean
---@field session? integer its key if it is open; it is closed first

---Request the providers of models that an agent can be configured with; `providers_listed` answers.
---@class acp.message.ProvidersList
---@field id integer of the request
---@field agent string
---@field cwd string

---Replace the whole configuration of a provider; `session_done` answers.
---@class acp.message.ProviderSet
---@field id integer of the request
---@field agent string
---@field cwd string
---@field provider string its id
---@field api_type string
---@field base_url string
---@field headers? any by name; they are never logged

---Disable a provider that is not required; `session_done` answers.
---@class acp.message.ProviderDisable
---@field id integer of the request
---@field agent string
---@field cwd string
---@field provider string its id

---The answer to a tool call that takes longer than a moment.
---@class acp.message.ToolAnswered
---@field call integer its id
---@field answer acp.ToolAnswer

---Whether to use the MCP servers of a file of the project; the answer to `project_servers`.
---@class acp.message.ProjectServersAnswer
---@field id integer of the question
---@field answer "later"|"never"|"use" `never`: not this content; `later`: ask again in the next Neovim

---Do not tell the agent what the user has decided about its changes so far.
---@class acp.message.DropDecisions
---@field session integer its key

---Send the agent what the checks after its turn have found.
---@class acp.message.SendProblems
---@field session integer its key

---Append a text of Lua to the log, without its secrets.
---@class acp.message.LogLine
---@field text string

---Append a prompt, without its secrets, to the history of a project.
---@class acp.message.RememberPrompt
---@field path string of the file with the project's prompts
---@field text string
---@field time integer seconds since 1970

---Show a stored conversation under a key without session; the events end with `transcript_shown`.
---@class acp.message.TranscriptOpen
---@field session integer its key
---@field id string

---Request all stored details of a tool call; `call_details` answers.
---@class acp.message.TranscriptCall
---@field session integer its key
---@field id string
---@field block integer

---Convert a session, or the stored `transcript` that it shows, to markdown; `exported` answers.
---@class acp.message.Export
---@field session integer its key
---@field path? string of the file; nil: send it as text
---@field exact? boolean overwrite the file, and mask only what the user has entered to sign in
---@field transcript? string
