---@meta
-- The words that Lua and the host exchange (doc/development/architecture.md), for the language server.

---@alias acp.State "starting"|"idle"|"running"|"waiting"|"stopped"|"failed"

---@class acp.Status
---@field state acp.State
---@field pending_permissions integer
---@field queue integer
---@field agent? string
---@field session_id? string
---@field stop_reason? string
---@field plan? acp.PlanEntry[] of all plans of the turn
---@field title? string that the agent gave the session
---@field mode? string id
---@field model? string id
---@field mode_name? string where that is something else
---@field model_name? string where that is something else
---@field usage? { used: integer, size: integer, cost?: number, currency?: string } tokens; what the session cost
---@field activity? string while a turn runs: "thinking", "writing", or the title of a tool call
---@field turn_started? number seconds since 1970, while a turn runs
---@field unread? integer messages of the agent that nobody has seen yet
---@field review? { files: integer, added: integer, removed: integer } of this session; nil: nothing is left
---@field takes? { image: boolean, audio: boolean, embedded_context: boolean } what the agent takes in prompts; nil: not known yet
---@field follow? "on"|"off"|"paused" whether windows follow agents; nil: no agent was asked for yet

---@class acp.Location
---@field path string
---@field line? integer 1-based

---@class acp.Content
---@field type "text"|"diff"|"terminal"|"media"|"resource"|"other"
---@field text? string
---@field path? string
---@field old_text? string
---@field new_text? string
---@field operation? string of a diff: add, delete, modify (when it is left out), move, copy, patch, or another word
---@field old_path? string
---@field line? integer 1-based, where the old text begins in the file
---@field note? string
---@field terminal_id? string
---@field number? integer of a terminal that can be opened, in its session
---@field command? string
---@field cwd? string
---@field output? string the last lines, plain text
---@field exit_code? integer
---@field signal? string
---@field label? string
---@field lines? integer of a text or a change that are not here
---@field chars? integer of a text that are not here
---@field kind? "image"|"audio"
---@field mime_type? string
---@field size? integer bytes
---@field place? integer of a picture or a sound, among the call's items
---@field uri? string
---@field name? string of a resource
---@field description? string

---@class acp.ToolCall
---@field id string
---@field title string
---@field kind string
---@field status string
---@field content acp.Content[]
---@field locations acp.Location[]
---@field parent? string the call that it is a part of
---@field depth? integer how many calls it is in
---@field under? string title of its parent, when something else stands between them
---@field started? number seconds since 1970
---@field ended? number

---What stands before and behind a tool call's title, as virtual text.
---@class acp.CallHead
---@field before string[][] chunks
---@field title string
---@field after string[][] chunks

---@class acp.PlanEntry
---@field content string
---@field status string
---@field priority string

---@class acp.Plan
---@field block integer
---@field entries acp.PlanEntry[]
---@field title? string
---@field text? string
---@field uri? string of a file that has the plan
---@field removed? boolean the agent took it back
---@field over? boolean it was of an earlier turn

---What is known of a session's plans.
---@class acp.Plans
---@field shown table<integer, acp.Plan> by block
---@field living table<integer, acp.LivingPlan> those of the turn that runs, by block
---@field title? string of the first
---@field several boolean there is one with another title

---@class acp.LivingPlan
---@field plan acp.Plan
---@field done integer
---@field total integer
---@field change integer counts up: the plan that changed last has the highest

---@class acp.Option
---@field option_id string
---@field name string
---@field kind string
---@field ours? boolean not the agent's: we remember the answer for the project

---A rule that answers permission requests; what is left out does not matter to it.
---@class acp.Rule
---@field id string
---@field source "config"|"stored"
---@field action "allow"|"reject"|"ask"
---@field words string
---@field agent? string
---@field kind? string[]
---@field path? string
---@field command? string
---@field time? number seconds since 1970, of a stored one

---@class acp.Request
---@field id integer
---@field tool_call_id string empty when it is about no tool call
---@field title string
---@field description? string
---@field kind string
---@field options acp.Option[]
---@field content acp.Content[]
---@field locations acp.Location[]

---@class acp.Event
---@field type string
---@field session? integer
---@field block? integer
---@field [string] any

---@class acp.Highlight
---@field row integer 0-based, counted from the first line of the block
---@field from integer byte column
---@field to integer byte column; -1: the whole line, to the window's edge
---@field group string

---@class acp.Rendered What a block looks like.
---@field lines string[]
---@field highlights acp.Highlight[]
---@field option_rows? table<integer, string> row in the block -> option_id
---@field tool_call_id? string that a permission is about
---@field target_rows? table<integer, acp.Target> row in the block -> what it leads to
---@field target_ranges? acp.TargetRange[]

---First and last row in the block, and what they lead to.
---@class acp.TargetRange
---@field [1] integer
---@field [2] integer
---@field [3] acp.Target

---@class acp.Target one of
---@field path? string a file
---@field line? integer 1-based
---@field col? integer 1-based
---@field diff? boolean the line follows from the hunk around it
---@field media? integer place of a picture or a sound among the items of the tool call
---@field uri? string
---@field checkpoint? string a turn to go back to
---@field terminal? integer number of a terminal in the session
---@field words? string which turn that is, or what runs in the terminal

---What happened to a file, on one line.
---@class acp.ChangedFile
---@field path string real
---@field operation "modify"|"add"|"delete"|"rename"|"mode"|"binary"
---@field added? integer lines
---@field removed? integer lines
---@field old_path? string
---@field note? string what no hunk can show
---@field conflict? boolean of a plan to restore: the user has changed the same lines since
---@field conflicts? integer of a file under review: how many are left

---@class acp.Checkpoint
---@field id string
---@field kind "turn"|"restore"|"reject"
---@field session? integer
---@field agent? string
---@field prompt? string
---@field time number seconds since 1970
---@field files acp.ChangedFile[]

---@class acp.Block
---@field id integer
---@field kind string
---@field mark integer extmark on its first line
---@field index integer its place in the transcript
---@field rendered? acp.Rendered what is shown; nil when it is text
---@field cut? acp.Cut the segments of a text
---@field call? acp.ToolCall that it shows; of one that is over no content
---@field head? acp.CallHead of a tool call
---@field told_of? boolean what stands above it was folded when it came
---@field head_mark? integer
---@field tail_mark? integer

---@class acp.Transcript
---@field bufnr integer
---@field blocks table<integer, acp.Block>
---@field order acp.Block[]
---@field session acp.Session
---@field changed table<acp.Block, boolean> have new lines or were drawn again, in this batch
---@field resting table<integer, integer[]> window -> line and column where its cursor was left at the end
---@field held? integer[] window in which the user is at something -> extmark where its cursor is to stay
---@field waits? boolean a window goes on to the end when the user has done what they are at

---@class acp.Session
---@field key integer
---@field agent? string
---@field named? boolean the user asked for this agent
---@field cwd string
---@field bufnr? integer
---@field prompt_bufnr? integer
---@field status acp.Status
---@field host? integer channel of the host that knows the session
---@field used integer counts up with each use
---@field queue? { held: boolean, prompts: acp.QueuedPrompt[] } what waits and is not in the transcript yet
---@field kept? string id of the kept conversation that it shows: it has no agent, and no prompt
---@field kept_query? string what was looked for in it
---@field took_up? boolean what an earlier Neovim had left unsent was asked for
---@field unseen string[] prompts handed over that the host has not shown yet
---@field context acp.ContextItem[] attached to the next prompt
---@field last_text? string[] of a chat whose buffer is gone, until it is shown again
---@field draft? string[] of a prompt buffer that was wiped
---@field commands acp.SlashCommand[]
---@field calls table<string, string> tool call -> what was last told about it
---@field call_blocks table<string, integer> tool call -> the block that shows it
---@field plans acp.Plans
---@field unread? integer messages of the agent that nobody has seen yet
---@field heard? integer the last block that was counted for that

---@class acp.SlashCommand
---@field name string
---@field description string
---@field hint? string

---@class acp.Pending
---@field session integer
---@field block integer
---@field request acp.Request
---@field answered? boolean

---What the agent has changed in one file, as far as it is neither kept nor rejected.
---@class acp.Review
---@field path string real path
---@field operation "modify"|"add"|"delete"|"rename"|"mode"|"binary"|"none" none: nothing is left
---@field hunks? acp.ReviewHunk[] nil: not told
---@field state? string of the buffer that the rows are of
---@field sessions integer[]
---@field added integer lines
---@field removed integer lines
---@field old_path? string
---@field note? string what no hunk shows
---@field conflicts? integer

---What a waiting permission request asks to do to one file.
---@class acp.Preview
---@field session integer
---@field request integer
---@field path string real path
---@field operation string none: nothing, any more
---@field exists boolean
---@field hunks acp.PreviewHunk[] rows of that file, or of `old_path`
---@field state? string of the buffer that the rows are of; nil: of the file on disk
---@field old_path? string
---@field note? string what no hunk shows

---@class acp.PreviewHunk
---@field first integer row of the first line that would go
---@field count integer how many; 0: lines would come before `first`
---@field new string[] lines that would take their place

---@class acp.ReviewHunk
---@field id integer
---@field first integer row of its first new line
---@field count integer of new lines; 0: between the rows first-1 and first
---@field old string[] lines that were there before
---@field by "agent"|"conflict"
---@field theirs? string[] of a conflict: the other version of these rows

---A hunk, and where it is in the buffer now.
---@class acp.HunkPlace
---@field id integer
---@field index integer among the hunks of the file, from 1
---@field row integer 0-based; of a deletion: the row after it, or the last row
---@field count integer
---@field old string[]
---@field by "agent"|"conflict"
---@field theirs? string[]

---@class acp.AgentConfig
---@field command string[]
---@field env? table<string, string>
---@field mcp_servers? table[]

---@class acp.Config
---@field agents table<string, acp.AgentConfig>
---@field default_agent? string
---@field python? string
---@field additional_directories string[]
---@field fs { write: "save"|"buffer", outside: "error"|"ask" }
---@field permissions { terminal: string, rules: table[], float: boolean }
---@field follow { enabled: "auto"|boolean, resume: "turn"|"command", sign: string }
---@field keymaps table<string, string|string[]|false>
---@field review { signs: boolean, winbar: boolean, hint: boolean }
---@field ui { position: string, width?: number, height?: number, prompt_height: integer, conceal: boolean, plan: "pinned"|"chat"|false, winbar: boolean, spinner: boolean }
---@field notify { turn_end: boolean, permission: boolean, bell: boolean }
---@field prompt { autocomplete: boolean }
---@field timeouts { initialize: integer, cancel: integer }
---@field protocol { v2: boolean }
---@field history { transcripts: boolean, days: number, megabytes: number }
---@field log { traffic: boolean }
