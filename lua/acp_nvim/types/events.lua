---@meta
-- What the host tells Lua. Generated: change acp_nvim/ui, then type `make doc`.

---@alias acp.AnswerAction "accept"|"cancel"|"decline"

---Who changed a file: the agent, the user, nobody knows who, or the agent, for its own records in the project.
---@alias acp.By "agent"|"state"|"unknown"|"user"

---@alias acp.FieldKind "boolean"|"choice"|"choices"|"integer"|"number"|"text"|"unknown"

---What an agent can do with its sessions.
---@alias acp.Offer "close"|"delete"|"fork"|"list"|"load"|"resume"

---What happened to a file; `mode`: only its permissions changed, `binary`: there are no lines to show.
---@alias acp.Operation "add"|"binary"|"delete"|"mode"|"modify"|"rename"

---@alias acp.RuleAction "allow"|"ask"|"reject"

---Where a rule for permissions comes from: the configuration, or an earlier "always".
---@alias acp.RuleSource "config"|"stored"

---@alias acp.SignInOutcome "cancelled"|"done"|"failed"

---Why a request was cancelled: its agent took it back, the user gave up what it was about, or nobody waits for it.
---@alias acp.Why "agent_gone"|"cancelled"|"withdrawn"

---A session that is alive in the host, for an editor that has forgotten it.
---@class acp.SessionRef
---@field session integer its key
---@field agent string
---@field cwd string

---A tool call as the chat shows it.
---@class acp.ToolCall
---@field id string the agent's
---@field title string
---@field kind string
---@field status string of the protocol; the host adds `rejected` and `unfinished` for calls that a turn left open
---@field content acp.Content[]
---@field locations acp.FileLine[]
---@field parent? string id of the call that it is a part of
---@field depth? integer how many calls are above it
---@field under? string title of the parent, when something else stands between them
---@field started? number seconds since 1970; nil for a call that was done at once
---@field ended? number seconds since 1970
---@field locations_left? integer places that the agent named beyond `locations`

---A file, or a line in it.
---@class acp.FileLine
---@field path string
---@field line? integer 1-based

---One step of a plan, in the words of the protocol.
---@class acp.PlanEntry
---@field content string
---@field status string
---@field priority string

---A permission request of an agent, or of the host for a file outside of the session's directories.
---@class acp.Request
---@field id integer unique in this Neovim
---@field tool_call_id string empty when it is about no tool call
---@field title string
---@field kind string of the tool call
---@field options acp.Option[]
---@field content acp.Content[]
---@field locations acp.FileLine[]
---@field description? string
---@field command? string all of it, byte for byte; nil: none, or too long: `content` has its beginning
---@field cwd? string where the command would run
---@field locations_left? integer places that the agent named beyond `locations`
---@field env? string[] variables that are set for the command, as `NAME=value`
---@field left_out? string what cannot be shown, in words; then `options` has only those that reject

---One way to answer a permission request.
---@class acp.Option
---@field option_id string
---@field name string
---@field kind string `allow_once`, `allow_always`, `reject_once`, `reject_always`, or another word
---@field ours? boolean not the agent's, but one that we remember for the project

---How a session stands: what `status()` returns of it.
---@class acp.Status
---@field agent string
---@field agent_title string the agent's name for people
---@field state string `starting`, `idle`, `running`, `background`, `waiting`, `stopped` or `failed`
---@field cwd string
---@field pending_permissions integer permission requests that wait for you
---@field queue integer prompts that wait
---@field pending_elicitations? integer questions of the agent that wait for you
---@field session_id? string the agent's
---@field sign_in? string `needed`, or `running` while you sign in
---@field stop_reason? string of the last turn
---@field title? string of the session
---@field mode? string id
---@field model? string id
---@field mode_name? string what the agent calls it, where that is not its id
---@field model_name? string what the agent calls it, where that is not its id
---@field mode_next? string name of the mode that was asked for and is not confirmed yet
---@field model_next? string name of the model that was asked for and is not confirmed yet
---@field usage? acp.Usage
---@field plan? acp.PlanEntry[] entries of all plans of the turn
---@field activity? string while a turn runs: `thinking`, `writing`, or the title of a tool call
---@field turn_started? number seconds since 1970, while a turn runs
---@field review? acp.ReviewCounts
---@field worktree? string directory of the git work tree that the session has for itself
---@field directories? string[] real paths of the directories in which the agent works
---@field takes? acp.PromptTypes nil while no agent runs
---@field asleep? boolean the agent was stopped because nothing happened; the next prompt starts it again

---The tokens of the context window, and what the session cost.
---@class acp.Usage
---@field used integer
---@field size integer
---@field cost? number
---@field currency? string

---How much is still to be reviewed.
---@class acp.ReviewCounts
---@field files integer
---@field added integer lines
---@field removed integer lines

---What the agent takes in prompts beside texts and links.
---@class acp.PromptTypes
---@field image boolean
---@field audio boolean
---@field embedded_context boolean

---A prompt that waits in the queue of its session.
---@class acp.QueuedPrompt
---@field id integer unique in this Neovim: the editor chose it when the user sent the prompt
---@field text string
---@field context_names string[] what comes along

---A prompt as the user wants it to wait.
---@class acp.QueuedText
---@field text string
---@field id? integer one that was never told is that of a new prompt
---@field context? table<string, any>[] what comes along

---A slash command that the agent offers, as it is completed in the prompt.
---@class acp.SlashCommand
---@field name string
---@field description string
---@field hint? string what to type behind it

---An option of the agent: a mode, a model, or anything else that can be switched.
---@class acp.ConfigOption
---@field id string
---@field name string
---@field kind string `select` (one of `values`), `boolean`, or an unknown word: then it cannot be set
---@field category? string `mode`, `model`, `model_config`, `thought_level`, or another word
---@field description? string
---@field current? string|boolean
---@field changing? string|boolean what was asked for, while the agent has not answered
---@field values? acp.ConfigValue[]

---One of the values that an option can have.
---@class acp.ConfigValue
---@field value string
---@field name string
---@field description? string
---@field group? string those of a group stand together

---A rule for permission requests; a field that is absent does not matter to it.
---@class acp.Rule
---@field id string unique in its project
---@field source acp.RuleSource
---@field action acp.RuleAction
---@field words string the rule as a user reads it
---@field agent? string
---@field kind? string[] kinds of tool calls
---@field path? string of a stored rule exact paths, one a line
---@field command? string of a stored rule the exact command
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
---@field about? string title of a tool call

---A field of a form that the user is to fill in.
---@class acp.FormField
---@field name string
---@field kind acp.FieldKind
---@field title string
---@field description? string
---@field required? boolean
---@field hint? string what is wanted, in words
---@field choices? acp.FormChoice[]
---@field default? string|boolean|string[] as it would be typed
---@field secret? boolean it asks for what looks like a secret, which agents must not do in a form

---A value that can be chosen in a form.
---@class acp.FormChoice
---@field value string
---@field title string
---@field description? string

---A URL that an agent wants to be opened.
---@class acp.FormUrl
---@field url string
---@field host string
---@field first integer byte of the URL at which its host begins
---@field last integer byte at which it ends
---@field warnings string[]
---@field refused? string why it is not opened at all

---The answer to one field, as the chat shows it.
---@class acp.FormAnswer
---@field field string its name
---@field title string what people read
---@field text string the answer, for people

---What is wrong with the text of one field, in words.
---@class acp.FormProblem
---@field field string its name
---@field text string

---A way to sign in that the agent offers.
---@class acp.SignInMethod
---@field id string
---@field name string
---@field kind string `agent`, `terminal`, `env_var`, `api_key`, or another word
---@field description? string
---@field command? string what a terminal would run, without its environment
---@field variables? acp.SignInVariable[]
---@field link? string where to get the values of the variables

---An environment variable that a way to sign in needs.
---@class acp.SignInVariable
---@field name string
---@field label? string
---@field secret? boolean
---@field optional? boolean
---@field is_set? boolean it has a value already, which is not told

---Some rows of a buffer, and what was there before.
---@class acp.ReviewHunk
---@field id integer stays while old and new lines are the same
---@field first integer 0-based row
---@field count integer rows; 0: lines were removed before `first`
---@field old string[] lines
---@field by "agent"|"conflict" `conflict`: the rows are the user's, and may become `theirs`
---@field theirs? string[] lines of the other version

---A file that was left as it is by what works on many files at once.
---@class acp.LeftFile
---@field path string
---@field by acp.By
---@field why string it was left

---What was done to one file, and who did it.
---@class acp.ChangedFile
---@field path string
---@field operation acp.Operation
---@field added integer lines
---@field removed integer lines
---@field old_path? string of a renamed file
---@field note? string what no line shows
---@field by acp.By
---@field why string what shows who did it, or why nobody knows

---A moment to go back to: the one before a turn; or a restore, or a rejection, that can be undone.
---@class acp.Checkpoint
---@field id string
---@field kind "reject"|"restore"|"turn"
---@field time number seconds since 1970
---@field agent string
---@field prompt string
---@field files acp.ChangedFile[]
---@field session? integer
---@field undo boolean of a restore or a rejection: it was not undone yet, and does not undo another one

---What a restore would do to a file.
---@class acp.PlannedFile
---@field path string
---@field operation acp.Operation
---@field added integer lines
---@field removed integer lines
---@field old_path? string of a renamed file
---@field note? string what no line shows
---@field by acp.By
---@field why string what shows who did it, or why nobody knows
---@field conflict boolean it is left as it is, and the version is kept for review

---What a permission request asks to do to some lines.
---@class acp.PreviewHunk
---@field first integer so many lines stand before it
---@field count integer lines that would go
---@field new string[] lines that would come

---An agent that runs, or has run.
---@class acp.KnownAgent
---@field agent string
---@field running boolean
---@field offers acp.Offer[]

---One conversation, whether it is open, kept by us, or kept by its agent.
---@class acp.ListedEntry
---@field agent string
---@field cwd string
---@field session_id? string the agent's
---@field session? integer its key, when it is open
---@field kept? acp.FoundSession[] its transcripts, the newest first
---@field listed? boolean the agent says that it keeps it
---@field title? string
---@field updated? number seconds since 1970; 0 when nobody knows
---@field snippet? string a text of its transcripts around what was looked for

---A conversation of which a transcript is kept on this machine.
---@class acp.FoundSession
---@field id string for `transcript_open`
---@field agent string
---@field cwd string
---@field started number seconds since 1970
---@field updated number seconds since 1970
---@field title? string
---@field prompt? string
---@field session_id? string the agent's
---@field snippet? string a text of it around what was looked for
---@field session? integer key of the one that it is the transcript of, when that is alive
---@field supersedes? string id of the one that kept the same before its agent told it anew

---One of several shapes, as its `type` says.
---  "text": Text that a tool call shows, or its beginning.
---  "diff": A change of a file, or one hunk of it; hunks of a file follow each other. Without texts there is nothing to show but the operation.
---  "terminal": A terminal that a tool call shows.
---  "media": A picture or a sound; `call_media` writes it into a file.
---  "resource": Something with a URI: a link, or with its text.
---  "other": Anything else that a tool call shows.
---@class acp.Content
---@field type "text"|"diff"|"terminal"|"media"|"resource"|"other"
---@field text? string (text, resource)
---@field lines? integer (text, diff, resource) so many follow that are not told; of the change that follow this hunk and are not told
---@field chars? integer (text, resource) so many follow that are not told
---@field path? string (diff)
---@field new_text? string (diff)
---@field old_text? string (diff) nil: the file is new, or there is no text to show
---@field operation? string (diff) `add`, `delete`, `modify`, `move`, `copy`, `patch` (`new_text` is one), or unknown
---@field old_path? string (diff) of a `move` or a `copy`
---@field line? integer (diff) 1-based, where the old text begins
---@field note? string (diff) why there is no text
---@field terminal_id? string (terminal) the agent's
---@field command? string (terminal)
---@field cwd? string (terminal)
---@field output? string (terminal) the end of what it printed, without escape codes
---@field exit_code? integer (terminal)
---@field signal? string (terminal)
---@field number? integer (terminal) by which `terminal_open` opens it, unique in the session; 0: it cannot be opened
---@field kind? "audio"|"image" (media)
---@field mime_type? string (media, resource)
---@field size? integer (media, resource) bytes
---@field place? integer (media) 0-based, among the items of the call
---@field uri? string (media, resource)
---@field name? string (resource)
---@field description? string (resource)
---@field label? string (other) in words

---An event of any type; each type has a class of its own below.
---@class acp.Event
---@field type string
---@field session? integer key of the session
---@field block? integer
---@field [string] any

---The host has started, and takes messages; the answer to `hello`.
---@class acp.event.Ready: acp.Event
---@field type "ready"
---@field version string
---@field pid integer
---@field sessions acp.SessionRef[] those that are alive, for a Lua side that was reloaded

---Something failed: to be shown wherever the user is. One of a session has a `notice`, too.
---@class acp.event.Error: acp.Event
---@field type "error"
---@field text string
---@field code string kind of failure (`acp_nvim/errors.py`)
---@field session? integer
---@field agent? string

---Forget what is shown of the session; all of it follows.
---@class acp.event.Reset: acp.Event
---@field type "reset"
---@field session integer its key
---@field after? boolean only what came after that which another host had told follows

---More text of a message; a new `block` goes to the end of the transcript.
---@class acp.event.Append: acp.Event
---@field type "append"
---@field session integer its key
---@field block integer
---@field kind "agent"|"thought"|"user"
---@field text string

---The text of a message is another one now, or a new `block` begins with it; `append` goes on from there.
---@class acp.event.Replace: acp.Event
---@field type "replace"
---@field session integer its key
---@field block integer
---@field kind "agent"|"thought"|"user"
---@field text string

---A tool call was made or changed; it replaces what the block showed.
---@class acp.event.ToolCall: acp.Event
---@field type "tool_call"
---@field session integer its key
---@field block integer
---@field call acp.ToolCall

---A plan was made or changed; it replaces what the block showed. It has entries, a text, or a URI.
---@class acp.Plan: acp.Event
---@field type "plan"
---@field session integer its key
---@field block integer
---@field entries acp.PlanEntry[]
---@field title? string its id; shown when there are several plans
---@field text? string
---@field uri? string of the file that has the plan
---@field removed? boolean the agent took it back
---@field over? boolean told again: it was of an earlier turn
---@field left? integer entries that the agent sent beyond these

---The agent asks for a permission and waits.
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

---A line of ours in the transcript.
---@class acp.event.Notice: acp.Event
---@field type "notice"
---@field session integer its key
---@field block integer
---@field level "error"|"info"|"warn"
---@field text string

---All that there is of a tool call; the answer to `call_details` and `transcript_call`.
---@class acp.event.CallDetails: acp.Event
---@field type "call_details"
---@field session integer its key
---@field block integer
---@field call acp.ToolCall with all of its texts
---@field name? string of the tool
---@field raw_input? string JSON, for people
---@field raw_output? string JSON, for people

---A picture or a sound of a tool call is in a file now; the answer to `call_media`.
---@class acp.event.CallMedia: acp.Event
---@field type "call_media"
---@field session integer its key
---@field path? string
---@field problem? string why there is no file

---More output of a terminal that Lua has opened.
---@class acp.event.TerminalOutput: acp.Event
---@field type "terminal_output"
---@field session integer its key
---@field terminal integer
---@field data? string as printed
---@field whole? boolean it takes the place of all that was shown
---@field dropped? integer bytes before it that are not kept
---@field exit_code? integer the command has ended
---@field signal? string the command has ended by it

---The agent has opened the session: prompts can be sent.
---@class acp.event.SessionReady: acp.Event
---@field type "session_ready"
---@field session integer its key
---@field session_id string the agent's
---@field agent string

---A turn begins: the agent works until `turn_end`.
---@class acp.event.TurnStart: acp.Event
---@field type "turn_start"
---@field session integer its key
---@field background? boolean the agent works by itself, without a prompt

---A turn has ended, and with it all that it left open.
---@class acp.event.TurnEnd: acp.Event
---@field type "turn_end"
---@field session integer its key
---@field stop_reason string of the protocol
---@field background? boolean

---The status of a session has changed.
---@class acp.event.Status: acp.Event
---@field type "status"
---@field session integer its key
---@field status acp.Status

---The prompts that wait and are not in the transcript yet have changed.
---@class acp.event.Queue: acp.Event
---@field type "queue"
---@field session integer its key
---@field held boolean none goes out by itself
---@field prompts acp.QueuedPrompt[]

---The user edited prompts that were not in the queue any more: these versions are not sent.
---@class acp.event.QueueLate: acp.Event
---@field type "queue_late"
---@field session integer its key
---@field prompts acp.QueuedText[]

---The editor need not keep these prompts any more: the host's journal has them, they were sent, or given up.
---@class acp.event.PromptsTaken: acp.Event
---@field type "prompts_taken"
---@field session integer its key
---@field ids integer[]
---@field revisions integer[] of each: an editor with a later one keeps that

---The slash commands that the agent offers have changed.
---@class acp.event.Commands: acp.Event
---@field type "commands"
---@field session integer its key
---@field commands acp.SlashCommand[]

---The options of the agent, or their values, have changed.
---@class acp.event.Config: acp.Event
---@field type "config"
---@field session integer its key
---@field options acp.ConfigOption[] in the agent's order

---Where the agent works, by its tool calls and requests for files; at most one in 0.1 s for a session.
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
---@field added integer lines, in this turn so far
---@field removed integer lines, in this turn so far
---@field why string what shows who did it, e.g. "by `npm test`", or why nobody knows
---@field tool_call? string id of the tool call that did it, where it is known

---The agent may have written files itself: compare the tracked buffers with the disk.
---@class acp.event.FilesMaybeChanged: acp.Event
---@field type "files_maybe_changed"
---@field session integer its key

---A rule has answered a permission request; no `permission` comes before it.
---@class acp.event.PermissionAuto: acp.Event
---@field type "permission_auto"
---@field session integer its key
---@field block integer
---@field request acp.Request
---@field option_id string
---@field name string of the option
---@field kind string of the option
---@field rule string in words
---@field source acp.RuleSource

---The rules of a project; the answer to `permission_rules` and `permission_forget`.
---@class acp.event.PermissionRules: acp.Event
---@field type "permission_rules"
---@field cwd string
---@field rules acp.Rule[] in the order in which they are asked

---The agent asks the user something and waits.
---@class acp.event.Elicitation: acp.Event
---@field type "elicitation"
---@field session integer its key
---@field block integer
---@field request acp.FormRequest

---A question was answered, or nobody waits for it any more.
---@class acp.event.ElicitationDone: acp.Event
---@field type "elicitation_done"
---@field session integer its key
---@field block integer
---@field id integer of the question
---@field action acp.AnswerAction
---@field answers acp.FormAnswer[] of a form, without secrets
---@field why? acp.Why

---The agent says that what was to be done at the URL is done.
---@class acp.event.ElicitationComplete: acp.Event
---@field type "elicitation_complete"
---@field session integer its key
---@field block integer
---@field id integer of the question

---What is wrong with the answers, or what will be sent; the answer to `elicitation_check`.
---@class acp.event.ElicitationChecked: acp.Event
---@field type "elicitation_checked"
---@field session integer its key
---@field id integer of the question
---@field version integer of the message that it answers
---@field problems acp.FormProblem[]
---@field answers acp.FormAnswer[] what will be sent, when there are no problems
---@field unchecked string[] names of fields whose pattern cannot be checked

---An agent wants the user to sign in, or the user asked how (`login_methods`).
---@class acp.SignInNeed: acp.Event
---@field type "sign_in"
---@field agent string
---@field cwd string
---@field methods acp.SignInMethod[]
---@field asked boolean the user asked
---@field session? integer it waits for the sign-in
---@field reason? string
---@field hint? string how to sign in to this agent, where it names no methods

---Run a program in a terminal for the user, and send `login_ended` when it has ended.
---@class acp.event.SignInTerminal: acp.Event
---@field type "sign_in_terminal"
---@field agent string
---@field attempt integer
---@field name string
---@field argv string[]
---@field cwd string
---@field env table<string, string> on top of Neovim's own

---An attempt to sign in, or to sign out, has ended.
---@class acp.event.SignInDone: acp.Event
---@field type "sign_in_done"
---@field agent string
---@field attempt integer 0: signing out
---@field outcome acp.SignInOutcome
---@field text string says it
---@field method? string

---What there is to review in a file has changed. `none` with `hunks` says that nothing is left, and the buffer stays
---under observation, for an undo.
---@class acp.Review: acp.Event
---@field type "review"
---@field path string
---@field operation acp.Operation|"none" `none`: nothing is left to review
---@field added integer lines
---@field removed integer lines
---@field sessions integer[] keys of those whose agents changed the file
---@field hunks? acp.ReviewHunk[] told where a buffer is loaded, or somebody asked
---@field state? string of the buffer that the hunks are of
---@field old_path? string of a renamed file
---@field note? string what no line shows
---@field conflicts integer versions that could not be merged
---@field by acp.By
---@field why string what shows who did it, or why nobody knows
---@field tool_call? string id of the last tool call that changed it, where it is known

---All files of a session, or of all sessions, were kept or rejected; the answer to `review` for many files.
---@class acp.event.Judged: acp.Event
---@field type "judged"
---@field action "keep"|"reject"
---@field files string[] paths
---@field left acp.LeftFile[]
---@field undo_id string of the checkpoint that takes a rejection back; empty when nothing was rejected

---A turn has changed files: what the chat shows at its end.
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

---All that was left to review there was told, or could not be; the answer to `review_load`.
---@class acp.event.ReviewLoaded: acp.Event
---@field type "review_loaded"
---@field cwd string

---What a restore would do; the answer to `restore_plan`.
---@class acp.event.RestorePlan: acp.Event
---@field type "restore_plan"
---@field id string of the checkpoint
---@field files acp.PlannedFile[]
---@field patch string a unified diff
---@field problem? string why it cannot be done
---@field left acp.LeftFile[] not proven to be an agent's

---What a restore has done; the answer to `restore`.
---@class acp.event.Restored: acp.Event
---@field type "restored"
---@field id string of the checkpoint
---@field undo_id string of the checkpoint that undoes it; empty when nothing was done
---@field files string[] paths
---@field conflicts string[] paths
---@field problem? string why it was not done
---@field left acp.LeftFile[] not proven to be an agent's

---What a waiting permission request asks to do to a file.
---@class acp.Preview: acp.Event
---@field type "preview"
---@field session integer its key
---@field request integer its id
---@field path string
---@field operation string `none`: nothing, any more
---@field exists boolean there is such a file
---@field hunks acp.PreviewHunk[] of the lines of the file, or of `old_path`
---@field state? string of the buffer that has these lines; nil: the disk has them
---@field old_path? string
---@field note? string what no line shows
---@field large boolean the hunks are told after a `preview_open`

---A request with previews was answered or withdrawn: show nothing of it any more.
---@class acp.event.PreviewDone: acp.Event
---@field type "preview_done"
---@field session integer its key
---@field request integer its id

---A permission request of a kept conversation, and what became of it.
---@class acp.event.PermissionKept: acp.Event
---@field type "permission_kept"
---@field session integer its key
---@field block integer
---@field request acp.Request
---@field outcome? "cancelled"|"selected" nil: nobody answered it
---@field option_id? string
---@field name? string of the option
---@field why? acp.Why
---@field rule? string that answered it, in words

---All of a kept conversation was told; the end of the answer to `transcript_open`.
---@class acp.event.TranscriptShown: acp.Event
---@field type "transcript_shown"
---@field session integer its key
---@field problem? string why it was not

---A conversation as markdown; the answer to `export`.
---@class acp.event.Exported: acp.Event
---@field type "exported"
---@field session integer its key
---@field text? string a piece of it
---@field done? boolean this is the last piece
---@field path? string of the file that has it
---@field problem? string why there is nothing

---The agents that run or have run; the answer to `agents_known`.
---@class acp.event.AgentsKnown: acp.Event
---@field type "agents_known"
---@field id integer
---@field agents acp.KnownAgent[]

---A list of sessions, as far as it is known; the answer to `sessions_list`, as often as there is news.
---@class acp.event.SessionsListed: acp.Event
---@field type "sessions_listed"
---@field id integer
---@field entries acp.ListedEntry[] those that are open first, then the newest
---@field asked string[] agents that have answered
---@field more string[] agents that have another page
---@field waits string[] agents that have not answered yet
---@field problems table<string, string> why agents could not answer, by their names

---A session was closed or deleted, or a work tree removed; the answer to what asked for it.
---@class acp.event.SessionDone: acp.Event
---@field type "session_done"
---@field id integer
---@field words? string what was done
---@field problem? string why it was not done

---What would be lost with a work tree; the answer to `worktree_look`.
---@class acp.event.WorktreeSeen: acp.Event
---@field type "worktree_seen"
---@field id integer
---@field path string empty: that was no work tree of ours
---@field branch? string
---@field changed? integer files
---@field commits? integer that are only there
---@field problem? string why nobody knows
