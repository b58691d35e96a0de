---@meta
-- How a session stands, and its plans, for the language server.

---@alias acp.State "starting"|"idle"|"running"|"background"|"waiting"|"stopped"|"failed"

---@class acp.Status
---@field state acp.State
---@field pending_permissions integer
---@field queue integer
---@field agent? string
---@field session_id? string
---@field sign_in? "needed"|"running" the user has to sign in before the agent goes on; or is doing so
---@field stop_reason? string
---@field plan? acp.PlanEntry[] of all plans of the turn
---@field title? string that the agent gave the session
---@field mode? string id
---@field model? string id
---@field mode_name? string where that is something else
---@field model_name? string where that is something else
---@field mode_next? string name of the one that was asked for, while the agent has not answered
---@field model_next? string likewise
---@field usage? { used: integer, size: integer, cost?: number, currency?: string } tokens; what the session cost
---@field activity? string while a turn runs: "thinking", "writing", or the title of a tool call
---@field turn_started? number seconds since 1970, while a turn runs
---@field unread? integer messages of the agent that nobody has seen yet
---@field review? { files: integer, added: integer, removed: integer } of this session; nil: nothing is left
---@field worktree? string directory of the worktree that the session has for itself
---@field asleep? boolean its process was stopped because nothing happened: the next prompt goes on
---@field takes? { image: boolean, audio: boolean, embedded_context: boolean } what the agent takes in prompts; nil: not known yet
---@field follow? "on"|"off"|"paused" whether windows follow agents; nil: no agent was asked for yet

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
---@field left? integer entries that the agent has sent, and nobody has kept

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
