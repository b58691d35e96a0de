---@meta
-- What Lua says to the host. Generated: change acp_nvim/rpc/*messages.py, then type `make doc`.

---What the host uses of the user's configuration; Lua has checked it.
---@class acp.host.Config
---@field agents? table<string, any>|any[]
---@field default_agent? string
---@field additional_directories? string[]
---@field worktree_directory? string
---@field fs? acp.host.Fs
---@field timeouts? acp.host.Timeouts
---@field permissions? acp.host.Permissions
---@field protocol? acp.host.Protocol
---@field history? acp.host.HistorySettings
---@field state? acp.host.State
---@field log? acp.host.Log

---How agents may touch files: section `fs` of `setup()`.
---@class acp.host.Fs
---@field write? string
---@field outside? string

---How long is waited for what, in milliseconds: section `timeouts` of `setup()`.
---@class acp.host.Timeouts
---@field initialize? number
---@field cancel? number
---@field idle? number
---@field background? number
---@field snapshot? number

---What is asked, and rules that answer: section `permissions` of `setup()`.
---@class acp.host.Permissions
---@field terminal? string
---@field rules? acp.host.Rule[]

---A rule of `permissions.rules`; a nil matches anything. `kind` is one kind of tool call, or several.
---@class acp.host.Rule
---@field action acp.RuleAction
---@field agent? string
---@field kind? string|string[]
---@field path? string
---@field command? string

---Which protocol versions are offered: section `protocol` of `setup()`.
---@class acp.host.Protocol
---@field v2? boolean

---`history` of the configuration: whether any are kept, for how long, and how much of them.
---@class acp.host.HistorySettings
---@field transcripts? boolean
---@field days? number
---@field megabytes? number

---How large the state directory may become: section `state` of `setup()`.
---@class acp.host.State
---@field megabytes? number

---What is recorded beside the log: section `log` of `setup()`.
---@class acp.host.Log
---@field traffic? boolean

---A session that the editor shows, as `sessions_list` names it.
---@class acp.OpenSession
---@field session integer its key
---@field agent string
---@field cwd string
---@field session_id? string at the agent
---@field title? string

---The state of a file that a save of the user has made.
---@class acp.Stamp
---@field size integer bytes
---@field mtime string nanoseconds since 1970, as decimal digits
---@field ctime string nanoseconds since 1970, as decimal digits
---@field ino integer
---@field was? string `ctime` of the state that the saved text was based on, when that is known

---The first message, and again when the configuration changes or Lua was reloaded; `ready` answers each.
---@class acp.message.Hello
---@field version string of the Lua side
---@field log_path string
---@field state_path string directory of what is kept between Neovims
---@field cache_path string
---@field config acp.host.Config
---@field instance? string name of this Neovim: its machine, pid and time of start; without it nothing is journaled

---Send a prompt, or queue it while a turn runs.
---@class acp.message.Prompt
---@field session integer its key
---@field text string
---@field id? integer unique in this Neovim; `prompts_taken` tells it
---@field context? table<string, any>[] what comes along: items of `acp_nvim/session/prompt.py`

---Replace the queue by what the user made of it; what went out meanwhile is not sent again (`queue_late`).
---@class acp.message.QueueSet
---@field session integer its key
---@field prompts acp.QueuedText[] known prompts that are left out are not sent
---@field known? integer[] ids of the prompts that the user saw
---@field held? boolean they wait until the user sends another one: no host had taken all of them
---@field revision? integer grows with each of these messages; `prompts_taken` tells it

---Send a queued prompt into the turn that runs; an agent that takes none gets it after the turn.
---@class acp.message.Steer
---@field session integer its key
---@field id? integer nil: the first in the queue

---End the turn; without one end commands of earlier turns, else empty the queue or end the process.
---@class acp.message.Cancel
---@field session integer its key
---@field force? boolean by all means, also an agent that does not answer

---Leave the agent, whose process ends with its last session; transcript and queue stay.
---@class acp.message.Stop
---@field session integer its key

---Send `reset`, and then the whole transcript again.
---@class acp.message.Redraw
---@field session integer its key
---@field after? boolean only what came after that which another host had told

---Ask for all that there is of the tool call at that block; `call_details` answers.
---@class acp.message.CallDetails
---@field session integer its key
---@field block integer

---Write a picture or a sound of a tool call into a file; `call_media` answers.
---@class acp.message.CallMedia
---@field session integer its key
---@field block integer
---@field place integer 0-based, among the items of the call
---@field directory string

---Send all output of that terminal, and from now on what comes.
---@class acp.message.TerminalOpen
---@field session integer its key
---@field terminal integer

---Send no more of it: its buffer is gone.
---@class acp.message.TerminalClose
---@field session integer its key
---@field terminal integer

---Switch an option of the agent; where no agent runs it is started.
---@class acp.message.ConfigSet
---@field session integer its key
---@field option string an id, a category or a name
---@field value string|boolean an id or a name, or whether it is on
---@field keep? boolean new sessions of the agent begin with it, too

---Keep no options for new sessions of its agent any more.
---@class acp.message.ConfigForget
---@field session integer its key

---Make a new session and start its agent if need be; of a known session: start the agent if it does not run.
---@class acp.message.Open
---@field session integer its key
---@field cwd string
---@field agent? string nil: the user named none and configured none
---@field additional_directories? string[]
---@field returned? integer[] ids of prompts that the user got back from a dead host

---Like `open`, with what was said before: in a kept `transcript`, or in the open session `source`.
---@class acp.message.Resume
---@field session integer its key
---@field cwd string
---@field agent? string nil: the user named none and configured none
---@field additional_directories? string[]
---@field returned? integer[] ids of prompts that the user got back from a dead host
---@field session_id? string the agent's id of what it knows; nil: the agent begins a new session
---@field how? "fork"|"load"|"resume"|"go_on" the way in which the agent reopens `session_id`
---@field transcript? string
---@field source? integer key of a session
---@field worktree? string the session works in a new git work tree of that name
---@field shown? boolean the chat already shows what was said before

---Close that chat for good; `session_done` answers.
---@class acp.message.SessionClose
---@field id integer of the question
---@field session integer

---Delete a session at the agent, when there is a `session_id`, and then here; `session_done` answers.
---@class acp.message.SessionDelete
---@field id integer of the question
---@field agent string
---@field cwd string
---@field session_id? string
---@field transcripts? string[] ids of kept conversations
---@field session? integer it is open here, and closed first

---Which agents run, and what can they do with their sessions? `agents_known` answers.
---@class acp.message.AgentsKnown
---@field id integer of the question

---List all sessions and kept conversations; `sessions_listed` answers, again for each agent that answers late.
---@class acp.message.SessionsList
---@field id integer of the question
---@field cwd string for which directory agents are asked
---@field open acp.OpenSession[] the one that was used last first
---@field query? string a text that they have
---@field agents? string[] they are asked, and started if need be; nil: those that run and can list
---@field everywhere? boolean of all directories, not only `cwd`

---Ask an agent for its next page, or its first one; `sessions_listed` answers.
---@class acp.message.SessionsMore
---@field id integer of the question that `sessions_list` was
---@field agent string

---What would be lost with the work tree in which `path` is? `worktree_seen` answers.
---@class acp.message.WorktreeLook
---@field id integer of the question
---@field path string

---Remove the work tree in which `path` is; `session_done` answers.
---@class acp.message.WorktreeRemove
---@field id integer of the question
---@field path string
---@field force? boolean uncommitted changes there are lost

---Append a prompt, without its secrets, to the history of a project.
---@class acp.message.RememberPrompt
---@field path string the file with the prompts of the project
---@field text string
---@field time integer seconds since 1970

---Show a kept conversation under a key that has no session; ends with `transcript_shown`.
---@class acp.message.TranscriptOpen
---@field session integer its key
---@field id string

---Ask for all that is kept of a tool call; `call_details` answers.
---@class acp.message.TranscriptCall
---@field session integer its key
---@field id string
---@field block integer

---Make a session, or the kept `transcript` that it shows, markdown; `exported` answers.
---@class acp.message.Export
---@field session integer its key
---@field path? string of the file; nil: send it as text
---@field overwrite? boolean
---@field transcript? string

---Answer a permission request with one of the options that it has.
---@class acp.message.Answer
---@field id integer
---@field option_id string

---Ask for the rules of the project at `cwd`; `permission_rules` answers.
---@class acp.message.PermissionRules
---@field cwd string

---Remove a stored rule; `permission_rules` tells those that are left.
---@class acp.message.PermissionForget
---@field cwd string
---@field id string

---Could these answers be sent? `elicitation_checked` answers.
---@class acp.message.ElicitationCheck
---@field id integer
---@field version? integer comes back in the answer
---@field values? table<string, any>|any[] by the names of fields

---Answer a question; when something is wrong `elicitation_checked` says it, and nothing is sent.
---@class acp.message.ElicitationAnswer
---@field id integer
---@field version? integer comes back in the answer
---@field values? table<string, any>|any[] by the names of fields
---@field action acp.AnswerAction

---How can the user sign in to that agent? `sign_in` answers, or a `sign_in_done` that failed.
---@class acp.message.LoginMethods
---@field agent string
---@field cwd string

---Sign in to an agent with one of its methods.
---@class acp.message.Login
---@field agent string
---@field cwd string
---@field method string its id
---@field values? any environment variables by their names; nothing logs them
---@field session? integer the one in whose chat the user is

---The terminal of a `sign_in_terminal` has ended.
---@class acp.message.LoginEnded
---@field attempt integer
---@field code? integer exit code of its program
---@field problem? string why there was no terminal

---Give up signing in to that agent.
---@class acp.message.LoginCancel
---@field agent string

---Sign out of an agent, where it offers that (ACP "Authentication").
---@class acp.message.Logout
---@field agent string
---@field cwd string

---The files of tracked buffers are others than the buffers have read or written.
---@class acp.message.DiskChanged
---@field paths string[] real paths

---The user wrote a tracked buffer; `stamp` is its file right afterwards.
---@class acp.message.Saved
---@field path string
---@field stamp? acp.Stamp

---The user changed a buffer under review.
---@class acp.message.Edited
---@field path string
---@field from string
---@field state string
---@field first integer
---@field count integer
---@field lines string[]

---Send the hunks of that file: its buffer was loaded, or somebody wants to see them.
---@class acp.message.ReviewOpen
---@field path string

---Send previews of that file again: its buffer has another text than they are of.
---@class acp.message.PreviewOpen
---@field path string

---Send what an earlier Neovim left to review there.
---@class acp.message.ReviewLoad
---@field cwd string

---Decide about hunks, a file, all that a session has changed, or everything; of many files `judged` tells.
---@class acp.message.Review
---@field action "both"|"keep"|"mine"|"reject"|"theirs"
---@field path? string
---@field hunks? integer[] ids; nil: the whole file
---@field session? integer
---@field force? boolean reject also what is not proven to be the agent's

---Ask for the moments that can be gone back to; `checkpoints` answers.
---@class acp.message.Checkpoints
---@field cwd string

---What would a restore of that checkpoint do? `restore_plan` answers.
---@class acp.message.RestorePlan
---@field id string
---@field cwd string
---@field force? boolean also of what is not proven to be the agent's

---Bring the files back as they were before that turn; of a restore or a rejection: undo it. `restored` answers.
---@class acp.message.Restore
---@field id string
---@field cwd string
---@field force? boolean also of what is not proven to be the agent's
