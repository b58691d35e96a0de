---@meta
-- What the host tells Lua. Generated: change acp_nvim/contract, then type `make doc`.

---@alias acp.AnswerAction "accept"|"cancel"|"decline"

---Who changed a file: the agent, the user, it is not known, or the agent for its own state in the project.
---@alias acp.By "agent"|"state"|"unknown"|"user"

---State of the checks after a turn; `found`: there are problems that can be sent to the agent.
---@alias acp.ChecksState "found"|"running"

---@alias acp.FieldKind "boolean"|"choice"|"choices"|"integer"|"number"|"text"|"unknown"

---An operation that an agent supports for its sessions.
---@alias acp.Offer "archive"|"close"|"delete"|"fork"|"list"|"load"|"rename"|"resume"

---What happened to a file; `mode`: only its permissions changed, `binary`: it has no lines to show.
---@alias acp.Operation "add"|"binary"|"delete"|"mode"|"modify"|"rename"

---What is done with many files. `checking`: they are read before they are rejected; `planning`: before a restore.
---@alias acp.ReviewWork "checking"|"collecting"|"keeping"|"planning"|"rejecting"|"restoring"

---@alias acp.RuleAction "allow"|"ask"|"reject"

---Origin of a permission rule: the configuration, or an earlier "always".
---@alias acp.RuleSource "config"|"stored"

---@alias acp.SignInOutcome "cancelled"|"done"|"failed"

---Why a request was cancelled: the agent withdrew it, the user cancelled the turn, or the agent is gone.
---@alias acp.Why "agent_gone"|"cancelled"|"withdrawn"

---A session that is open in the host.
---@class acp.SessionRef
---@field session integer its key
---@field agent string
---@field cwd string

---A tool call as the chat shows it.
---@class acp.ToolCall
---@field id string the agent's
---@field title string
---@field kind string
---@field status string as in the protocol, or `rejected` or `unfinished` for a call that a turn left open
---@field content acp.Content[]
---@field locations acp.FileLine[]
---@field parent? string id of the parent call
---@field depth? integer number of ancestors
---@field under? string title of the parent, if it is not directly above
---@field started? number seconds since 1970; nil for a call that completed at once
---@field ended? number seconds since 1970
---@field locations_left? integer number of locations that were cut

---A file, or a line in it, that a tool call names.
---@class acp.FileLine
---@field path string
---@field line? integer 1-based

---One step of a plan, in the words of the protocol.
---@class acp.PlanEntry
---@field content string
---@field status string
---@field priority string

---A child session, which the agent has created and works in (ACP "Subagents").
---@class acp.Subagent
---@field session integer its key
---@field session_id string the agent's
---@field title string
---@field state string `running`, `waiting` (for the user), `idle`, `unknown` or `stopped` (its agent is gone)
---@field description? string
---@field stop_reason? string of its last work, as in the protocol
---@field activity? string while it works: `thinking`, `writing`, or the title of a tool call
---@field started? number seconds since 1970, of its last work
---@field ended? number seconds since 1970
---@field review? acp.ReviewCounts its changes that are still to be reviewed
---@field cancel? boolean it can be cancelled without its parent

---The changes that are still to be reviewed.
---@class acp.ReviewCounts
---@field files integer
---@field added integer lines
---@field removed integer lines

---A permission request of an agent, or of the host for a file outside of the session's directories.
---@class acp.Request
---@field id integer unique in this Neovim
---@field tool_call_id string empty if the request is not about a tool call
---@field title string
---@field kind string of the tool call
---@field options acp.Option[]
---@field content acp.Content[]
---@field locations acp.FileLine[]
---@field description? string
---@field command? string complete; nil: there is none, or it is too long (`content` has its beginning)
---@field cwd? string where the command would run
---@field locations_left? integer number of locations that were cut
---@field env? string[] variables that are set for the command, as `NAME=value`
---@field left_out? string describes what cannot be shown; `options` then has only those that reject
---@field remarks? string[] what the host says of it: rights, members of unknown meaning, where paths lead
---@field input? acp.InputMember[] what its tool call's input says beside all of the above

---One of the answers to a permission request.
---@class acp.Option
---@field option_id string
---@field name string
---@field kind string `allow_once`, `allow_always`, `reject_once`, `reject_always`, or an unknown kind
---@field ours? boolean added by the host, which stores it for the project

---A member of a tool call's input, as a permission request shows it.
---@class acp.InputMember
---@field name string with the names of the members that contain it
---@field text string its value, or the beginning of it
---@field tail? string the end of a value whose middle is left out
---@field chars? integer of the whole value, if its middle is left out
---@field lines? integer likewise

---The state of a session, as `status()` returns it.
---@class acp.Status
---@field agent string
---@field agent_title string the agent's name for people
---@field state string `starting`, `idle`, `running`, `background`, `waiting`, `stopped` or `failed`
---@field cwd string
---@field pending_permissions integer number of permission requests that wait for the user
---@field queue integer number of prompts that wait
---@field pending_elicitations? integer number of questions that wait for the user
---@field session_id? string the agent's
---@field sign_in? string `needed`, or `running` while the user signs in
---@field stop_reason? string of the last turn
---@field title? string of the session
---@field mode? string id
---@field model? string id
---@field mode_name? string its name, if that is not its id
---@field model_name? string its name, if that is not its id
---@field mode_next? string name of the requested mode until it is confirmed
---@field model_next? string name of the requested model until it is confirmed
---@field usage? acp.Usage
---@field tokens? acp.Tokens of the last turn, if the agent reports them
---@field plan? acp.PlanEntry[] entries of all plans of the turn
---@field activity? string while a turn runs: `thinking`, `writing`, or the title of a tool call
---@field turn_started? number seconds since 1970, while a turn runs
---@field review? acp.ReviewCounts
---@field worktree? string directory of the session's own git work tree
---@field directories? string[] real paths of the directories in which the agent works
---@field watched? string[] real paths of files outside that its tool calls named, whose changes are reviewed, too
---@field takes? acp.PromptTypes nil while no agent runs
---@field mcp? acp.McpServer[] the MCP servers that the agent was given
---@field checks? acp.ChecksState the checks after the turn: `running`, or `found`
---@field asleep? boolean the agent was stopped because it was idle; the next prompt starts it again

---The tokens in the context window, and the cost of the session.
---@class acp.Usage
---@field used integer
---@field size integer
---@field cost? number
---@field currency? string
---@field doubtful? boolean more is used than there is: one of the two numbers is wrong

---The tokens that the last turn has used.
---@class acp.Tokens
---@field total integer
---@field input integer
---@field output integer
---@field thought? integer
---@field cached_read? integer
---@field cached_write? integer

---Content that the agent accepts in prompts, besides texts and links.
---@class acp.PromptTypes
---@field image boolean
---@field audio boolean
---@field embedded_context boolean

---An MCP server that the agent of a session was given.
---@class acp.McpServer
---@field name string
---@field calls? table<string, integer> how often the agent called each tool, if that is known

---A prompt that waits in the queue of its session.
---@class acp.QueuedPrompt
---@field id integer unique in this Neovim: the editor chose it when the user sent the prompt
---@field text string
---@field context_names string[] names of the attached context items

---A queued prompt as the user has edited it.
---@class acp.QueuedText
---@field text string
---@field id? integer an unknown id belongs to a new prompt
---@field context? table<string, any>[] the attached context items

---A slash command of the agent, as completed in the prompt.
---@class acp.SlashCommand
---@field name string
---@field description string
---@field hint? string what to type after it

---A configuration option of the agent: a mode, a model, or anything else.
---@class acp.ConfigOption
---@field id string
---@field name string
---@field kind string `select` (one of `values`), `boolean`, or an unknown kind, which cannot be set
---@field category? string `mode`, `model`, `model_config`, `thought_level`, or an unknown category
---@field description? string
---@field current? string|boolean
---@field changing? string|boolean the requested value until the agent has answered
---@field values? acp.ConfigValue[]

---One of the possible values of an option.
---@class acp.ConfigValue
---@field value string
---@field name string
---@field description? string
---@field group? string values of a group are listed together

---A rule for permission requests; an absent field matches everything.
---@class acp.Rule
---@field id string unique in its project
---@field source acp.RuleSource
---@field action acp.RuleAction
---@field words string the rule as shown to the user
---@field agent? string
---@field kind? string[] kinds of tool calls
---@field path? string for a stored rule: exact paths, one a line
---@field command? string for a stored rule: the exact command
---@field time? number when it was stored, in seconds since 1970

---A question of an agent: a form with `fields`, or a `url`.
---@class acp.FormRequest
---@field id integer unique in this Neovim
---@field agent string
---@field message string
---@field title? string
---@field description? string
---@field fields? acp.FormField[]
---@field url? acp.FormUrl
---@field about? string title of the tool call that it belongs to

---A field of a form that an agent asks to be filled in.
---@class acp.FormField
---@field name string
---@field kind acp.FieldKind
---@field title string
---@field description? string
---@field required? boolean
---@field hint? string describes the expected value
---@field choices? acp.FormChoice[]
---@field default? string|boolean|string[] as the user would enter it
---@field secret? boolean it appears to ask for a secret, which agents must not do in a form

---A possible value of a form field.
---@class acp.FormChoice
---@field value string
---@field title string
---@field description? string

---A URL that an agent asks the user to open.
---@class acp.FormUrl
---@field url string
---@field host string
---@field first integer byte offset of the host in the URL
---@field last integer byte offset of the end of the host
---@field warnings string[]
---@field refused? string why it must not be opened

---The answer to one form field, as the chat shows it.
---@class acp.FormAnswer
---@field field string its name
---@field title string of the field
---@field text string the answer as shown to the user

---Why the value of one form field is invalid.
---@class acp.FormProblem
---@field field string its name
---@field text string

---An authentication method that the agent offers to users.
---@class acp.SignInMethod
---@field id string
---@field name string
---@field kind string `agent`, `terminal`, `env_var`, `api_key`, or an unknown kind
---@field description? string
---@field command? string the command that the terminal runs, without its environment
---@field variables? acp.SignInVariable[]
---@field link? string where to get the values of the variables

---An environment variable that an authentication method needs.
---@class acp.SignInVariable
---@field name string
---@field label? string
---@field secret? boolean
---@field optional? boolean
---@field is_set? boolean it already has a value, which is not sent

---A provider of models that an agent can be configured with.
---@class acp.Provider
---@field id string
---@field supported string[] APIs that the agent can speak with it
---@field required boolean it cannot be disabled
---@field api_type? string nil: it is disabled
---@field base_url? string nil: it is disabled

---Changed rows of a buffer, and the old lines.
---@class acp.ReviewHunk
---@field id integer stable while the old and new lines are the same
---@field first integer 0-based row
---@field count integer rows; 0: lines were removed before `first`
---@field old string[] lines
---@field by "agent"|"conflict" `conflict`: the rows are the user's; `theirs` are the alternative
---@field theirs? string[] lines of the other version

---A file that an operation on many files has skipped.
---@class acp.LeftFile
---@field path string
---@field by acp.By
---@field why string it was skipped

---The change of one file, or the rename of a directory (its paths end with a slash), and who made it.
---@class acp.ChangedFile
---@field path string
---@field operation acp.Operation
---@field added integer number of lines
---@field removed integer number of lines
---@field old_path? string of a renamed file
---@field note? string what the lines do not show
---@field by acp.By
---@field why string the evidence for `by`, or why it is unknown

---A state that can be restored: before a turn; or a restore or a rejection that can be undone.
---@class acp.Checkpoint
---@field id string
---@field kind "reject"|"restore"|"turn"
---@field time number seconds since 1970
---@field agent string
---@field prompt string
---@field files integer number of them
---@field added integer number of lines
---@field removed integer number of lines
---@field session? integer
---@field undo boolean for a restore or a rejection: it was not undone yet, and is not an undo itself
---@field is_undo boolean for a restore: it has undone another one, or a rejection

---The effect that a restore would have on a file.
---@class acp.PlannedFile
---@field path string
---@field operation acp.Operation
---@field added integer number of lines
---@field removed integer number of lines
---@field old_path? string of a renamed file
---@field note? string what the lines do not show
---@field by acp.By
---@field why string the evidence for `by`, or why it is unknown
---@field conflict boolean the file is not changed, and the restored version is kept for review

---The change of some lines that a permission request asks for.
---@class acp.PreviewHunk
---@field first integer number of lines before it
---@field count integer number of lines that would be removed
---@field new string[] lines that would be inserted

---An agent that runs, or has run.
---@class acp.KnownAgent
---@field agent string
---@field running boolean
---@field offers acp.Offer[]

---One conversation: open, stored on this machine, stored by its agent, or several of these.
---@class acp.ListedEntry
---@field agent string
---@field cwd string
---@field session_id? string the agent's
---@field session? integer its key, if it is open
---@field kept? acp.FoundSession[] its transcripts, the newest first
---@field listed? boolean the agent lists it
---@field archived? boolean the agent lists it as archived
---@field title? string
---@field updated? number seconds since 1970; 0 if not known
---@field snippet? string an excerpt of its transcripts around the match of the query

---A conversation whose transcript is stored on this machine.
---@class acp.FoundSession
---@field id string for `transcript_open`
---@field agent string
---@field cwd string
---@field started number seconds since 1970
---@field updated number seconds since 1970
---@field title? string
---@field prompt? string
---@field session_id? string the agent's
---@field snippet? string an excerpt around the match of the query
---@field session? integer key of the session that it belongs to, if that is open
---@field supersedes? string

---An MCP server that a project brings with it.
---@class acp.ProjectServer
---@field name string
---@field words string what would run, or the address; without control characters

---One of several shapes, as its `type` says.
---  "text": A text of a tool call, or its beginning and its end.
---  "diff": A change of a file, or one hunk of it. Without texts only the operation is shown.
---  "terminal": A terminal in the content of a tool call.
---  "media": An image or a sound; `call_media` writes it to a file.
---  "resource": A resource with a URI: a link, or an embedded text.
---  "session": A link to another session of the agent, such as that of a subagent.
---  "other": Any other content of a tool call, described by a label.
---@class acp.Content
---@field type "text"|"diff"|"terminal"|"media"|"resource"|"session"|"other"
---@field text? string (text, resource)
---@field lines? integer (text, diff, terminal, resource) number of lines that were cut; number of lines after this hunk that were cut
---@field chars? integer (text, resource) number of characters that were cut
---@field tail? string (text, terminal, resource) the last lines, after those that were cut; the last lines of the text, after those that were cut
---@field exit_code? integer (text, terminal) of the command that printed it, if not 0
---@field signal? string (text, terminal)
---@field path? string (diff)
---@field new_text? string (diff)
---@field old_text? string (diff) nil: the file is new, or there is no text to show
---@field operation? string (diff) as in the protocol; `overwrite`: a "new" file that exists; `patch`: `new_text` is one
---@field old_path? string (diff) of a `move` or a `copy`
---@field line? integer (diff) 1-based, of the beginning of the old text
---@field note? string (diff) why there is no text
---@field terminal_id? string (terminal) the agent's
---@field command? string (terminal)
---@field cwd? string (terminal)
---@field output? string (terminal) its output or the beginning of it, without escape codes
---@field number? integer (terminal) for `terminal_open`, unique in the session; 0: it cannot be opened
---@field kind? "audio"|"image" (media)
---@field mime_type? string (media, resource)
---@field size? integer (media, resource) bytes
---@field place? integer (media) 0-based, among the items of the call
---@field uri? string (media, resource)
---@field name? string (resource)
---@field description? string (resource)
---@field session_id? string (session) the agent's
---@field label? string (other)

---An event of any type; each type has a class of its own below.
---@class acp.Event
---@field type string
---@field session? integer key of the session
---@field block? integer
---@field [string] any

---The host has started and accepts messages; the answer to `hello`.
---@class acp.event.Ready: acp.Event
---@field type "ready"
---@field version string
---@field pid integer
---@field sessions acp.SessionRef[] all open sessions, for a Lua side that was reloaded

---Something failed: to be shown wherever the user is. If it concerns a session, a `notice` is sent, too.
---@class acp.event.Error: acp.Event
---@field type "error"
---@field text string
---@field code string kind of failure (`acp_nvim/errors.py`)
---@field session? integer
---@field agent? string

---Clear the transcript of a session; all of it is sent again.
---@class acp.event.Reset: acp.Event
---@field type "reset"
---@field session integer its key
---@field after? boolean only what was added after the transcript of an earlier host is sent

---More text of a message; a new `block` goes to the end of the transcript.
---@class acp.event.Append: acp.Event
---@field type "append"
---@field session integer its key
---@field block integer
---@field kind "agent"|"thought"|"user"
---@field text string

---Replace the text of a message, or begin a new `block` with it; `append` adds to it.
---@class acp.event.Replace: acp.Event
---@field type "replace"
---@field session integer its key
---@field block integer
---@field kind "agent"|"thought"|"user"
---@field text string

---A tool call was created or changed; it replaces what the block shows.
---@class acp.event.ToolCall: acp.Event
---@field type "tool_call"
---@field session integer its key
---@field block integer
---@field call acp.ToolCall

---A plan was created or changed; it replaces what the block shows. It has entries, a text, or a URI.
---@class acp.Plan: acp.Event
---@field type "plan"
---@field session integer its key
---@field block integer
---@field entries acp.PlanEntry[]
---@field title? string its id; shown if there are several plans
---@field text? string
---@field uri? string of the file with the plan
---@field removed? boolean the agent has withdrawn it
---@field over? boolean its turn has ended: steps that are left open are not finished
---@field left? integer number of entries that were cut

---A child session was created or changed; it replaces what the block of its parent `session` shows.
---@class acp.event.Subagent: acp.Event
---@field type "subagent"
---@field session integer its key
---@field block integer 0: the transcript of the parent does not show it
---@field subagent acp.Subagent

---A child session is not kept any more: there were too many, and it was idle. Its block stays.
---@class acp.event.SubagentForgotten: acp.Event
---@field type "subagent_forgotten"
---@field session integer its key
---@field subagent integer the key of the child session

---The agent requests a permission, and waits for the answer.
---@class acp.event.Permission: acp.Event
---@field type "permission"
---@field session integer its key
---@field block integer
---@field request acp.Request

---A permission request was answered or withdrawn.
---@class acp.event.PermissionDone: acp.Event
---@field type "permission_done"
---@field session integer its key
---@field block integer
---@field id integer of the request
---@field outcome "cancelled"|"selected"
---@field option_id? string
---@field name? string of the option
---@field why? acp.Why

---A line of the host in the transcript.
---@class acp.event.Notice: acp.Event
---@field type "notice"
---@field session integer its key
---@field block integer
---@field level "error"|"info"|"warn"
---@field text string

---All details of a tool call; the answer to `call_details` and `transcript_call`.
---@class acp.event.CallDetails: acp.Event
---@field type "call_details"
---@field session integer its key
---@field block integer
---@field call acp.ToolCall with complete texts
---@field name? string of the tool
---@field raw_input? string formatted JSON
---@field raw_output? string formatted JSON

---An image or a sound of a tool call was written to a file; the answer to `call_media`.
---@class acp.event.CallMedia: acp.Event
---@field type "call_media"
---@field session integer its key
---@field path? string
---@field problem? string why no file was written

---Output of a terminal that Lua has opened.
---@class acp.event.TerminalOutput: acp.Event
---@field type "terminal_output"
---@field session integer its key
---@field terminal integer
---@field data? string as printed
---@field whole? boolean it replaces all output shown before
---@field dropped? integer number of bytes before it that were dropped
---@field exit_code? integer the command has ended
---@field signal? string the command was ended by it

---The agent has opened the session, and prompts can be sent.
---@class acp.event.SessionReady: acp.Event
---@field type "session_ready"
---@field session integer its key
---@field session_id string the agent's
---@field agent string

---A turn begins, and lasts until `turn_end`.
---@class acp.event.TurnStart: acp.Event
---@field type "turn_start"
---@field session integer its key
---@field background? boolean the agent works without a prompt
---@field of_checks? boolean its prompt tells what the checks have found after the last turn

---A turn has ended, together with all tool calls and requests that it left open.
---@class acp.event.TurnEnd: acp.Event
---@field type "turn_end"
---@field session integer its key
---@field stop_reason string as in the protocol
---@field background? boolean
---@field empty? boolean the agent has said and done nothing

---The status of a session has changed.
---@class acp.event.Status: acp.Event
---@field type "status"
---@field session integer its key
---@field status acp.Status

---The queue has changed: the prompts that wait and are not in the transcript yet.
---@class acp.event.Queue: acp.Event
---@field type "queue"
---@field session integer its key
---@field held boolean none is sent automatically
---@field prompts acp.QueuedPrompt[]

---The user edited prompts that were not in the queue any more; these versions are not sent.
---@class acp.event.QueueLate: acp.Event
---@field type "queue_late"
---@field session integer its key
---@field prompts acp.QueuedText[]

---The editor can forget these prompts: they are in the host's journal, were sent, or were dropped.
---@class acp.event.PromptsTaken: acp.Event
---@field type "prompts_taken"
---@field session integer its key
---@field ids integer[]
---@field revisions integer[] of each prompt; an editor with a later revision keeps it

---The slash commands of the agent have changed.
---@class acp.event.Commands: acp.Event
---@field type "commands"
---@field session integer its key
---@field commands acp.SlashCommand[]

---The agent suggests the next prompt. It is offered until a turn begins, and is no part of the conversation.
---@class acp.event.PromptSuggestion: acp.Event
---@field type "prompt_suggestion"
---@field session integer its key
---@field text string one line; empty: the suggestion is withdrawn

---The options of the agent, or their values, have changed.
---@class acp.event.Config: acp.Event
---@field type "config"
---@field session integer its key
---@field options acp.ConfigOption[] in the agent's order

---Where the agent works, by its tool calls and file requests; sent at most once in 0.1 s for a session.
---@class acp.event.Location: acp.Event
---@field type "location"
---@field session integer its key
---@field path string absolute
---@field line? integer 1-based

---A file of the workspace was changed while the agent of the session worked.
---@class acp.event.FileChanged: acp.Event
---@field type "file_changed"
---@field session integer its key
---@field path string
---@field by acp.By
---@field operation acp.Operation
---@field added integer number of lines in this turn so far
---@field removed integer number of lines in this turn so far
---@field why string the evidence for `by`, e.g. "by `npm test`", or why it is unknown
---@field tool_call? string id of the tool call that changed it, if known

---The agent may have written files directly: compare the tracked buffers with the disk.
---@class acp.event.FilesMaybeChanged: acp.Event
---@field type "files_maybe_changed"
---@field session integer its key

---A rule has answered a permission request; it is sent instead of `permission`.
---@class acp.event.PermissionAuto: acp.Event
---@field type "permission_auto"
---@field session integer its key
---@field block integer
---@field request acp.Request
---@field option_id string
---@field name string of the option
---@field kind string of the option
---@field rule string as shown to the user
---@field source acp.RuleSource

---The rules of a project; the answer to `permission_rules` and `permission_forget`.
---@class acp.event.PermissionRules: acp.Event
---@field type "permission_rules"
---@field cwd string
---@field rules acp.Rule[] in the order in which they are evaluated

---The agent asks the user a question, and waits for the answer.
---@class acp.event.Elicitation: acp.Event
---@field type "elicitation"
---@field session integer its key
---@field block integer
---@field request acp.FormRequest

---A question of the agent was answered or cancelled.
---@class acp.event.ElicitationDone: acp.Event
---@field type "elicitation_done"
---@field session integer its key
---@field block integer
---@field id integer of the question
---@field action acp.AnswerAction
---@field answers acp.FormAnswer[] to the fields of a form, without secrets
---@field why? acp.Why

---The agent reports that the interaction at the URL is complete.
---@class acp.event.ElicitationComplete: acp.Event
---@field type "elicitation_complete"
---@field session integer its key
---@field block integer
---@field id integer of the question

---The result of checking the answers to a question; the answer to `elicitation_check`.
---@class acp.event.ElicitationChecked: acp.Event
---@field type "elicitation_checked"
---@field session integer its key
---@field id integer of the question
---@field version integer of the message that it answers
---@field problems acp.FormProblem[]
---@field answers acp.FormAnswer[] what will be sent, if there are no problems
---@field unchecked string[] names of fields whose pattern cannot be checked

---An agent requires the user to sign in, or the user asked for its methods (`login_methods`).
---@class acp.SignInNeed: acp.Event
---@field type "sign_in"
---@field agent string
---@field cwd string
---@field methods acp.SignInMethod[]
---@field asked boolean the user asked
---@field session? integer it waits for the sign-in
---@field reason? string
---@field hint? string how to sign in, for an agent without methods
---@field account? string which the agent uses at present, in words, as far as it says

---Run a program in a terminal for the user, and send `login_ended` when it has exited.
---@class acp.event.SignInTerminal: acp.Event
---@field type "sign_in_terminal"
---@field agent string
---@field attempt integer
---@field name string
---@field argv string[]
---@field cwd string
---@field env table<string, string> in addition to Neovim's environment

---An attempt to sign in or to sign out has ended.
---@class acp.event.SignInDone: acp.Event
---@field type "sign_in_done"
---@field agent string
---@field attempt integer 0: signing out
---@field outcome acp.SignInOutcome
---@field text string describes the outcome
---@field method? string

---The providers of an agent; the answer to `providers_list`.
---@class acp.event.ProvidersListed: acp.Event
---@field type "providers_listed"
---@field id integer of the request
---@field providers acp.Provider[]
---@field problem? string why they are not known

---The changes to review in a file have changed, or the rename of a directory (its paths end with a slash). With `none`
---and `hunks` nothing is left to review, but the buffer is still tracked, in case of an undo.
---@class acp.Review: acp.Event
---@field type "review"
---@field path string
---@field operation acp.Operation|"none" `none`: nothing is left to review
---@field added integer number of lines
---@field removed integer number of lines
---@field sessions integer[] keys of the sessions whose agents changed the file
---@field hunks? acp.ReviewHunk[] sent if a buffer is loaded, or on request
---@field state? string state of the buffer that the hunks belong to
---@field old_path? string of a renamed file
---@field note? string what the lines do not show
---@field conflicts integer number of versions that could not be merged
---@field by acp.By
---@field why string the evidence for `by`, or why it is unknown
---@field tool_call? string id of the last tool call that changed it, if known

---What the agent is told with the next prompt of the user's decisions about its changes.
---@class acp.event.Decisions: acp.Event
---@field type "decisions"
---@field session integer its key
---@field words string such as "2 rejected, 1 kept"; empty: nothing

---All files of a session, or of all sessions, were kept or rejected; the answer to `review` for many files.
---@class acp.event.Judged: acp.Event
---@field type "judged"
---@field action "keep"|"reject"
---@field files string[] paths
---@field left acp.LeftFile[]
---@field undo_id string of the checkpoint that undoes a rejection; empty if nothing was rejected

---The files that a turn has changed, shown at its end.
---@class acp.event.Summary: acp.Event
---@field type "summary"
---@field session integer its key
---@field block integer
---@field id string of the checkpoint
---@field time number seconds since 1970
---@field files acp.ChangedFile[]

---The checkpoints of a workspace; the answer to `checkpoints`.
---@class acp.event.Checkpoints: acp.Event
---@field type "checkpoints"
---@field cwd string
---@field checkpoints acp.Checkpoint[] the newest first

---All changes that were left to review were sent, or could not be read; the answer to `review_load`.
---@class acp.event.ReviewLoaded: acp.Event
---@field type "review_loaded"
---@field cwd string

---The changes of a turn that is over are still being collected: what the user has asked for waits for them. Precedes
---the answer to `checkpoints`, `review_load`, and `review` for many files.
---@class acp.event.ReviewCollecting: acp.Event
---@field type "review_collecting"
---@field cwd? string nil: of any workspace

---How far the changes of a turn that is over are collected, or a decision about many files is carried out. Sent when a
---turn ends, and repeatedly; of a decision only if it takes long.
---@class acp.event.ReviewProgress: acp.Event
---@field type "review_progress"
---@field what acp.ReviewWork
---@field session? integer key of the session whose turn is over; nil: a decision of the user
---@field done integer number of files
---@field total integer number of files; 0 if unknown
---@field seconds number since it began
---@field is_over boolean nothing more is sent of it

---The effect that a restore would have; the answer to `restore_plan`.
---@class acp.event.RestorePlan: acp.Event
---@field type "restore_plan"
---@field id string of the checkpoint
---@field files acp.PlannedFile[]
---@field patch string a unified diff
---@field problem? string why it is not possible
---@field left acp.LeftFile[] skipped: not certainly changed by an agent

---The effect of a restore; the answer to `restore`.
---@class acp.event.Restored: acp.Event
---@field type "restored"
---@field id string of the checkpoint
---@field undo_id string of the checkpoint that undoes it; empty if nothing was changed
---@field files string[] paths
---@field conflicts string[] paths
---@field problem? string why it was not done
---@field left acp.LeftFile[] skipped: not certainly changed by an agent

---The change of a file that a waiting permission request asks for.
---@class acp.Preview: acp.Event
---@field type "preview"
---@field session integer its key
---@field request integer its id
---@field path string
---@field operation string `none`: no change any more
---@field exists boolean the file exists
---@field hunks acp.PreviewHunk[] of the lines of the file, or of `old_path`
---@field state? string state of the buffer with these lines; nil: they are those on the disk
---@field old_path? string
---@field note? string what the lines do not show
---@field large boolean the hunks are sent after a `preview_open`

---A request with previews was answered or withdrawn: remove its previews.
---@class acp.event.PreviewDone: acp.Event
---@field type "preview_done"
---@field session integer its key
---@field request integer its id

---A permission request of a stored conversation, and its outcome.
---@class acp.event.PermissionKept: acp.Event
---@field type "permission_kept"
---@field session integer its key
---@field block integer
---@field request acp.Request
---@field outcome? "cancelled"|"selected" nil: it was not answered
---@field option_id? string
---@field name? string of the option
---@field why? acp.Why
---@field rule? string the rule that answered it, as shown to the user

---All events of a stored conversation were sent; the end of the answer to `transcript_open`.
---@class acp.event.TranscriptShown: acp.Event
---@field type "transcript_shown"
---@field session integer its key
---@field problem? string why they could not be sent

---A conversation as markdown; the answer to `export`.
---@class acp.event.Exported: acp.Event
---@field type "exported"
---@field session integer its key
---@field text? string a piece of the text
---@field done? boolean this is the last piece
---@field path? string of the file with the text
---@field exact? boolean secrets are not masked
---@field problem? string why the export failed

---The agents that run or have run; the answer to `agents_known`.
---@class acp.event.AgentsKnown: acp.Event
---@field type "agents_known"
---@field id integer
---@field agents acp.KnownAgent[]

---A list of sessions, as far as known; the answer to `sessions_list`, sent again after each later answer.
---@class acp.event.SessionsListed: acp.Event
---@field type "sessions_listed"
---@field id integer
---@field entries acp.ListedEntry[] the open ones first, then the newest
---@field asked string[] agents that have answered
---@field more string[] agents with another page
---@field waits string[] agents that have not answered yet
---@field problems table<string, string> why agents could not answer, by their names

---A session was closed, deleted, renamed or archived, a work tree removed, or something cancelled.
---@class acp.event.SessionDone: acp.Event
---@field type "session_done"
---@field id integer
---@field words? string what was done
---@field problem? string why it failed

---What would be lost by removing a work tree; the answer to `worktree_look`.
---@class acp.event.WorktreeSeen: acp.Event
---@field type "worktree_seen"
---@field id integer
---@field path string empty: it is not a work tree of acp_nvim
---@field branch? string
---@field changed? integer number of files
---@field commits? integer number of commits that no other branch has
---@field problem? string why it could not be inspected

---Ask the user whether to use the MCP servers of a file of the project; `project_servers_answer` answers.
---@class acp.event.ProjectServers: acp.Event
---@field type "project_servers"
---@field id integer
---@field path string of the file
---@field servers acp.ProjectServer[]
---@field files? string[] of the project that the servers run
