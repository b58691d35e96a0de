-- Ends sessions: closes a chat for good, deletes what is kept of one, removes its worktree; asks where something is lost.
local client = require("acp_nvim.host.client")
local message = require("acp_nvim.message")
local question = require("acp_nvim.sessions.question")
local session_entries = require("acp_nvim.sessions.entries")
local sessions = require("acp_nvim.sessions")
local states = require("acp_nvim.states")

local M = {}

---@class acp.Answer
---@field words string
---@field act? fun() nothing is done without it

---@param prompt string
---@param answers acp.Answer[] the first one loses nothing
local function ask(prompt, answers)
  vim.ui.select(answers, {
    prompt = prompt,
    kind = "acp_session_answer",
    format_item = function(answer)
      return answer.words
    end,
  }, function(answer)
    if answer and answer.act then
      answer.act()
    end
  end)
end

---@param event acp.Event of type session_done
local function tell(event)
  if event.problem then
    message.error(event.problem)
  elseif event.words then
    message.info(event.words)
  end
end

---@param path string of a worktree
---@param force boolean
local function remove_worktree(path, force)
  question.ask("worktree_remove", { path = path, force = force }, tell)
end

---@param event acp.Event of type worktree_seen
local function ask_about_worktree(event)
  if event.problem then
    return message.warn(("the worktree %s stays: %s"):format(event.path, event.problem))
  end
  local name, branch = vim.fn.fnamemodify(event.path, ":~"), event.branch or "no branch"
  local commits = (event.commits or 0) > 0
      and ("; %d commits are on %s only, which stays"):format(event.commits, branch)
    or ""
  local answers = { { words = "keep it" } }
  if (event.changed or 0) == 0 then
    local act = function()
      remove_worktree(event.path, false)
    end
    table.insert(answers, { words = "remove it" .. (commits ~= "" and commits or ": nothing is lost"), act = act })
  else
    local words = ("remove it, and with it the changes of %d files that are not committed"):format(event.changed)
    local act = function()
      ask(("The changes of %d files are lost. Remove %s?"):format(event.changed, name), {
        { words = "keep it" },
        {
          words = "remove it with all changes",
          act = function()
            remove_worktree(event.path, true)
          end,
        },
      })
    end
    table.insert(answers, { words = words .. commits, act = act })
  end
  ask(("The worktree %s (%s)"):format(name, branch), answers)
end

---@param cwd string of a session that is gone, perhaps in a worktree
local function leave_worktree(cwd)
  for _, other in ipairs(sessions.all()) do
    if other.status.worktree and vim.startswith(cwd, other.status.worktree) then
      return
    end
  end
  question.ask("worktree_look", { path = cwd }, function(event)
    if event.path ~= "" then
      ask_about_worktree(event)
    end
  end)
end

---@param session acp.Session
local function close_now(session)
  question.ask("session_close", { session = session.key }, function(event)
    tell(event)
    leave_worktree(session.cwd)
  end)
  client.forget(session)
end

---@param session acp.Session
---@return string? what would end, in words
local function going_on(session)
  local queue = session.status.queue or 0
  if states.is_busy(session.status.state) then
    return "The agent works in it."
  elseif queue > 0 then
    return queue == 1 and "A prompt waits to be sent." or ("%d prompts wait to be sent."):format(queue)
  end
  local prompt = session.prompt_bufnr
  local typed = prompt and vim.api.nvim_buf_is_loaded(prompt) and vim.api.nvim_buf_get_lines(prompt, 0, -1, true) or {}
  if vim.trim(table.concat(typed, "\n")) ~= "" then
    return "What you typed in its prompt was not sent."
  end
end

---Closes a chat for good: the agent is told, the buffers go; what was said is kept, where conversations are kept.
---@param session acp.Session
function M.close(session)
  local words = going_on(session)
  if not words then
    return close_now(session)
  end
  ask(words .. " Close this session?", {
    { words = "leave it open" },
    {
      words = "close it",
      act = function()
        close_now(session)
      end,
    },
  })
end

---@param entry acp.SessionEntry
---@param at_agent boolean
---@param here boolean
local function delete_now(entry, at_agent, here)
  local params = {
    agent = entry.agent,
    cwd = entry.cwd,
    session = entry.session and entry.session.key or nil,
    session_id = at_agent and entry.session_id or nil,
    transcripts = {},
  }
  for _, one in ipairs(here and entry.kept or {}) do
    table.insert(params.transcripts, one.id)
  end
  question.ask("session_delete", params, function(event)
    tell(event)
    if not event.problem then
      leave_worktree(entry.cwd)
    end
  end)
  if entry.session then
    client.forget(entry.session)
  end
end

---Deletes a session where the user wants it to be deleted.
---@param entry acp.SessionEntry
---@param offers table<string, true> of its agent
function M.delete(entry, offers)
  local at_agent, here = entry.session_id ~= nil and offers.delete == true, #entry.kept > 0
  local open = entry.session and "; its chat is closed" or ""
  local answers = { { words = "delete nothing" } }
  local function offer(words, is_at_agent, is_here)
    local act = function()
      delete_now(entry, is_at_agent, is_here)
    end
    table.insert(answers, { words = words .. open, act = act })
  end
  if at_agent and here then
    offer(("delete it at %s, and what is kept of it here"):format(entry.agent), true, true)
  end
  if at_agent then
    offer(("delete it at %s"):format(entry.agent) .. (here and " only" or ""), true, false)
  end
  if here then
    offer("delete what is kept of it here" .. (at_agent and " only" or ""), false, true)
  end
  ask(("Delete %q (%s, %s)?"):format(session_entries.title(entry), entry.agent, entry.cwd), answers)
end

return M
