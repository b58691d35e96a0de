---@meta
-- What agents have changed, for the language server.

---Who changed a file: the agent, the user, nobody knows who, or the agent, for its own records in the project.
---@alias acp.By "agent"|"user"|"unknown"|"state"

---What happened to a file, on one line.
---@class acp.ChangedFile
---@field path string real
---@field operation "modify"|"add"|"delete"|"rename"|"mode"|"binary"
---@field added? integer lines
---@field removed? integer lines
---@field old_path? string
---@field note? string what no hunk can show
---@field by? acp.By nil: the agent
---@field why? string what shows who changed it, or why nobody knows
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
---@field undo? boolean a restore or a rejection that was not taken back yet

---A file that a rejection or a restore of many files left as it is.
---@class acp.LeftFile
---@field path string real
---@field by acp.By
---@field why string

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
---@field by acp.By
---@field why string what shows who changed it, or why nobody knows
---@field tool_call? string id of the last tool call that changed it, where one is known

---What a waiting permission request asks to do to one file.
---@class acp.Preview
---@field session integer
---@field request integer
---@field path string real path
---@field operation string none: nothing, any more
---@field exists boolean
---@field hunks acp.PreviewHunk[] rows of that file, or of `old_path`
---@field large? boolean the hunks are told when the file is opened for them
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
