-- The steps of :AcpTutor: what the user reads, and how it is known that a step is done.

---What the tutor knows when it looks whether a step is done.
---@class acp.TutorState
---@field events table<string, integer> how often each `User` event came since the step began
---@field status acp.PublicStatus of the session that the user is in
---@field session integer key of that session
---@field first integer key of the session that the tutor has opened
---@field size integer changed lines that are left to review
---@field most integer the most since the step began
---@field least integer the least since the step began
---@field is_original boolean the code is as it was in the beginning
---@field edits integer how often the files were changed since the step began
---@field works boolean a turn runs

---@class acp.TutorStep
---@field title string
---@field text string[] paragraphs; `{name}` stands for the key of an option
---@field is_done fun(state: acp.TutorState): boolean
---@field wrong? fun(state: acp.TutorState): string? what to do, in place of the text, after a wrong turn

---@param event string
---@return fun(state: acp.TutorState): boolean
local function after(event)
  return function(state)
    return (state.events[event] or 0) > 0
  end
end

---@param words string
---@return fun(state: acp.TutorState): string?
local function unless_working(words)
  return function(state)
    return not state.works and words or nil
  end
end

local ASK_AGAIN = "The agent asks nothing any more: send `What is wrong?` again."
local EDIT_AGAIN = "Nothing is left to review: send `/edits`, and allow it with `{allow_once}`."

---@param state acp.TutorState
---@return string?
local function without_changes(state)
  return state.size == 0 and not state.works and EDIT_AGAIN or nil
end

---@type acp.TutorStep[]
return {
  {
    title = "Ask something",
    text = {
      "You are in the prompt, below the chat. Press `i`, type `What is wrong?`, and send it with `{send_insert}`. In Normal mode `{send}` sends.",
    },
    is_done = after("AcpTurnStart"),
  },
  {
    title = "Allow an edit",
    text = {
      "The agent reads the code and asks before it changes it. What it wants to change is already shown in the code, below this text.",
      "The line above the prompt says how to answer: `<Esc><C-w>k` leads to the chat, `{allow_once}` allows.",
    },
    is_done = function(state)
      return state.size > 0
    end,
    wrong = unless_working(ASK_AGAIN),
  },
  {
    title = "Reject a command",
    text = { "Next it wants to run a command. `{reject_once}` rejects it; the agent is told, and goes on." },
    is_done = after("AcpTurnEnd"),
    wrong = unless_working(ASK_AGAIN),
  },
  {
    title = "Use a command of the agent",
    text = {
      "`{focus_prompt}` in the chat leads back to the prompt. Type `/edits`: a menu shows the agent's commands while you type. Send it with `{send_insert}`, and allow it as before: `<Esc><C-w>k`, `{allow_once}`.",
    },
    is_done = after("AcpTurnEnd"),
  },
  {
    title = "Reject a change",
    text = {
      "The changes are marked in the code. `:AcpReview next` goes to the first one; `{review_next}` and `{review_previous}` go from one to the other. `{review_reject}` rejects the one at the cursor.",
    },
    is_done = function(state)
      return state.size < state.most and state.edits > 0
    end,
    wrong = function(state)
      local kept = state.size < state.most and "That has kept it: reject another one with `{review_reject}`." or nil
      return without_changes(state) or kept
    end,
  },
  {
    title = "Take that back",
    text = { "`u` brings the rejected change back, like any change of yours." },
    is_done = function(state)
      return state.size > state.least
    end,
    wrong = without_changes,
  },
  {
    title = "Keep the rest",
    text = {
      "`{review_keep}` keeps the change at the cursor, `{review_keep_all}` all of the file. Then nothing is left to review, and these keys are gone.",
    },
    is_done = function(state)
      return state.size == 0
    end,
  },
  {
    title = "Send while the agent works",
    text = {
      "`:AcpPrompt` leads to the prompt. Send `/slow`. While the agent talks, send `/markdown`: it waits below the prompt, and `:AcpQueue` would let you edit it.",
    },
    is_done = function(state)
      return state.status.queue > 0
    end,
    wrong = function(state)
      local again = "The agent was done before that: send `/slow` again, and then `/markdown` at once."
      return after("AcpTurnEnd")(state) and not state.works and again or nil
    end,
  },
  {
    title = "Cancel",
    text = {
      "`<Esc>{cancel}` cancels the turn. The prompt that waits is held then: `{send}` in the empty prompt sends it.",
    },
    is_done = function(state)
      return after("AcpTurnEnd")(state) and state.status.queue == 0
    end,
  },
  {
    title = "Choose a mode",
    text = {
      "`{mode_next}` in the prompt sets the agent's next mode; the line above the chat shows it. Press it until it says `Plan`: then the agent changes nothing.",
    },
    is_done = function(state)
      return state.status.mode == "plan"
    end,
  },
  {
    title = "Mention a file",
    text = {
      "Press `i` and type `Explain @exp`. CTRL-N selects `@expected.txt` in the menu. Send it: the agent gets the file with the prompt.",
    },
    is_done = after("AcpTurnEnd"),
  },
  {
    title = "Go back",
    text = {
      "`:AcpRestore` lists the turns. Choose the one of `What is wrong?`, look at what would change, and confirm: the code is as it was before.",
    },
    is_done = function(state)
      return state.is_original
    end,
  },
  {
    title = "Fork the session",
    text = {
      "`<Esc>:AcpFork` opens another session, which begins with this conversation. `:AcpSessions` lists all sessions, also those of yesterday.",
    },
    is_done = function(state)
      return state.session ~= state.first
    end,
  },
}
