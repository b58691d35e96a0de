---@meta
-- Classes that several Lua modules share. types/ has the generated ones, of the messages between the host and Lua.
--
-- Arguments whose name says their type have no `---@param` line: `bufnr`, `win`, `session` (an acp.Session), `path`,
-- `cwd`, `text`, `line`, `lines`.

---Virtual text before and after the title of a tool call.
---@class acp.CallHead
---@field before string[][] chunks
---@field title string
---@field after string[][] chunks

---@class acp.Highlight
---@field row integer 0-based, counted from the first line of the block
---@field from integer byte column
---@field to integer byte column; -1: the whole line, to the window's edge
---@field group string
---@field after? string virtual text

---@class acp.Rendered The appearance of a block; `lines` and `highlights` are dropped once they are drawn.
---@field lines? string[]
---@field highlights? acp.Highlight[]
---@field option_rows? table<integer, string> row in the block -> option_id
---@field tool_call_id? string of a permission request
---@field above_runs? acp.AboveRun[] lines of the tool call above that belong to a permission request
---@field target_rows? table<integer, acp.Target> row in the block -> target
---@field target_ranges? acp.TargetRange[]

---First and last line of the block above, and their rendering.
---@alias acp.AboveRun { [1]: integer, [2]: integer, [3]: acp.Rendered }

---First and last row in the block, and their target.
---@alias acp.TargetRange { [1]: integer, [2]: integer, [3]: acp.Target }

---@class acp.Target Where a link leads. One of:
---@field path? string a file
---@field line? integer 1-based
---@field col? integer 1-based
---@field diff? boolean the hunk at the cursor determines the line
---@field media? integer index of an image or a sound among the content items of the tool call
---@field uri? string
---@field checkpoint? string turn to restore
---@field terminal? integer number of a terminal in the session
---@field form? integer id of an agent's question
---@field words? string description of the turn, or of the terminal's command

---@class acp.Block
---@field id integer
---@field kind string
---@field mark integer extmark on its first line
---@field index integer position in the transcript
---@field above? acp.Block
---@field rendered? acp.Rendered nil for a text
---@field cut? acp.Cut segments of a text
---@field call? acp.ToolCall of a tool call; without content once it has ended
---@field head? acp.CallHead of a tool call
---@field succeeded? boolean the tool call has completed without failure
---@field is_known? boolean `chat/folds.lua` has handled its arrival
---@field width? integer bytes shown of the last line of a text
---@field over? integer bytes of that line that are hidden
---@field is_recount_due? boolean the shown number of hidden bytes will be updated
---@field head_mark? integer
---@field tail_mark? integer

---The result of `require("acp_nvim").status()`.
---@class acp.PublicStatus: acp.Status
---@field unread integer unread messages of the agent
---@field follow? "on"|"off"|"paused" nil until an agent was used

---@class acp.Transcript
---@field bufnr integer
---@field blocks table<integer, acp.Block>
---@field order acp.Block[]
---@field session acp.Session
---@field changed table<acp.Block, boolean> blocks with new or redrawn lines in this batch
---@field resting table<integer, integer[]> window -> last position of a cursor that rests at the end
---@field held? integer[] window in which the user is busy -> extmark where its cursor stays
---@field long? boolean a line is longer than people read
---@field waits? boolean a window will scroll to the end once the user is idle

---@class acp.Session
---@field key integer
---@field agent? string
---@field named? boolean the user chose the agent
---@field cwd string
---@field bufnr? integer
---@field prompt_bufnr? integer
---@field status acp.Status
---@field host? integer channel of the host that knows the session
---@field used integer grows with each use of any session
---@field queue? { held: boolean, prompts: acp.QueuedPrompt[] } prompts not yet in the transcript
---@field kept? string id of the saved conversation that is shown: there is no agent and no prompt
---@field kept_query? string the search that found it
---@field recalling? boolean an earlier conversation is being replayed
---@field additional_directories? string[] besides those of the configuration
---@field draft_restored? boolean a draft of an earlier Neovim was looked for
---@field outbox acp.OutgoingPrompt[] prompts that were sent, but that the host has not accepted yet
---@field returned integer[] ids of prompts that the user got back because a host ended before it accepted them
---@field last_session_id? string latest session id of the agent, even if it has ended
---@field context acp.ContextItem[] attached to the next prompt
---@field before_host? string[] lines of the chat from before the present host, which cannot redraw all of it
---@field last_text? string[] lines of a chat buffer that was wiped out
---@field draft? string[] lines of a prompt buffer that was wiped out
---@field commands acp.SlashCommand[]
---@field options? acp.ConfigOption[] nil until the agent has sent them
---@field calls table<string, string> tool call id -> last state for which AcpToolCall was fired
---@field call_blocks table<string, integer> tool call id -> block
---@field plans acp.Plans
---@field unread? integer unread messages of the agent
---@field heard? integer the last block counted as a message

---@class acp.Pending
---@field session integer
---@field block integer
---@field request acp.Request
---@field came integer time of arrival, in nanoseconds
---@field answered? boolean

---The options of the plugin: those that the host uses, and those of Lua.
---@class acp.Config: acp.host.Config
---@field python? string
---@field follow { enabled: "auto"|boolean, resume: "turn"|"command", sign: string }
---@field keymaps table<string, string|string[]|false>
---@field review { signs: boolean, winbar: boolean, hint: boolean }
---@field ui { position: string, width?: number, height?: number, prompt_height: integer, conceal: boolean, plan: "pinned"|"chat"|false, winbar: boolean, spinner: boolean }
---@field notify { turn_end: boolean, permission: boolean, bell: boolean }
---@field prompt { autocomplete: boolean }

---A hunk and its present position in the buffer.
---@class acp.HunkPlace
---@field id integer
---@field index integer among the hunks of the file, from 1
---@field row integer 0-based; of a deletion: the row after it, or the last row
---@field count integer
---@field old string[]
---@field by "agent"|"conflict"
---@field theirs? string[]

---The plans of a session.
---@class acp.Plans
---@field shown table<integer, acp.Plan> by block
---@field active table<integer, acp.ActivePlan> plans of the running turn, by block
---@field title? string of the first plan
---@field several boolean another plan has a different title

---@class acp.ActivePlan
---@field plan acp.Plan
---@field done integer
---@field total integer
---@field change integer the plan that changed last has the highest number
