-- Closes, renames and archives sessions, deletes what is kept of them, and removes their worktrees. Asks before anything
-- is lost.
local client = require("acp_nvim.sessions.client")
local dialog = require("acp_nvim.kernel.dialog")
local late = require("acp_nvim.kernel.late")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local prompt = require("acp_nvim.prompt.buffer")
local question = require("acp_nvim.host.question")
local sessions = require("acp_nvim.host.sessions")
local states = require("acp_nvim.host.states")

local M = {}

---Closes a session that nothing was sent from, without a question. One with a draft or attachments stays.
function M.drop(session)
  if not prompt.has_text(session) and #session.context == 0 then
    question.ask("session_close", { session = session.key }, function() end)
    client.forget(session)
  end
end

---@param answers { words: string, act?: fun() }[] the first one loses nothing
local function ask(prompt, answers)
  dialog.select(answers, {
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
local function report(event)
  if event.problem then
    message.error(event.problem)
  elseif event.words then
    message.info(event.words)
  end
end

---@param event acp.Event of type worktree_seen
local function ask_about_worktree(event)
  if event.problem then
    return message.warn(("the worktree %s stays: %s"):format(event.path, event.problem))
  end
  local name, branch = names.below_home(event.path), event.branch or "no branch"
  local commits = (event.commits or 0) > 0
      and ("; %d commits are on %s only, which stays"):format(event.commits, branch)
    or ""
  local is_clean = (event.changed or 0) == 0
  local function remove()
    question.ask("worktree_remove", { path = event.path, force = not is_clean }, report)
  end
  local words = "remove it" .. (commits == "" and ": nothing is lost" or "")
  local act = remove
  if not is_clean then
    words = ("remove it, and with it the changes of %d files that are not committed"):format(event.changed)
    act = function()
      local prompt = ("The changes of %d files are lost. Remove %s?"):format(event.changed, name)
      ask(prompt, { { words = "keep it" }, { words = "remove it with all changes", act = remove } })
    end
  end
  ask(("The worktree %s (%s)"):format(name, branch), { { words = "keep it" }, { words = words .. commits, act = act } })
end

---Offers to remove the worktree of a session that is gone, unless another session uses it.
---@param on_answer acp.OnAnswer
local function leave_worktree(cwd, on_answer)
  for _, other in ipairs(sessions.all()) do
    if other.status.worktree and vim.startswith(cwd, other.status.worktree) then
      return
    end
  end
  question.ask("worktree_look", { path = cwd }, function(event)
    if event.path ~= "" then
      on_answer(function()
        ask_about_worktree(event)
      end, ("the worktree %s stays (git worktree remove)"):format(names.below_home(event.path)))
    end
  end)
end

---@return string? words for the work that closing would end
local function unfinished_work(session)
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

---@return { agent: string, cwd: string, session_id: string, session?: integer }
local function named(entry)
  local session = entry.session and entry.session.key or nil
  return { agent = entry.agent, cwd = entry.cwd, session_id = entry.session_id, session = session }
end

---Lets the user type another title of a session, which its agent stores.
function M.rename(entry)
  dialog.input({ prompt = "New title: ", default = entry.title and question.title(entry) }, function(title)
    title = vim.trim(title or "")
    if title ~= "" then
      question.ask("session_rename", vim.tbl_extend("error", named(entry), { title = title }), report)
    end
  end)
end

---Archives a session at its agent and closes its chat, or undoes that.
---@param archived boolean
function M.archive(entry, archived)
  local function archive()
    question.ask("session_archive", vim.tbl_extend("error", named(entry), { archived = archived }), report)
    if entry.session and archived then
      client.forget(entry.session)
    end
  end
  local words = archived and entry.session and unfinished_work(entry.session)
  if words then
    ask(words .. " Archive this session?", { { words = "leave it open" }, { words = "archive it", act = archive } })
  else
    archive()
  end
end

---Closes a session and its chat. The conversation stays, where conversations are kept.
function M.close(session)
  local function close()
    local on_answer = late.wait()
    question.ask("session_close", { session = session.key }, function(event)
      report(event)
      leave_worktree(session.cwd, on_answer)
    end)
    client.forget(session)
  end
  local words = unfinished_work(session)
  if words then
    ask(words .. " Close this session?", { { words = "leave it open" }, { words = "close it", act = close } })
  else
    close()
  end
end

---Lets the user choose where a session is deleted: at the agent, here, or both.
---@param offers table<string, true> of its agent
function M.delete(entry, offers)
  local at_agent, here = entry.session_id ~= nil and offers.delete == true, #entry.kept > 0
  local answers = { { words = "delete nothing" } }
  local function offer(words, is_at_agent, is_here)
    local act = function()
      local params = {
        agent = entry.agent,
        cwd = entry.cwd,
        session = entry.session and entry.session.key or nil,
        session_id = is_at_agent and entry.session_id or nil,
        transcripts = {},
      }
      for _, one in ipairs(is_here and entry.kept or {}) do
        table.insert(params.transcripts, one.id)
      end
      local on_answer = late.wait()
      question.ask("session_delete", params, function(event)
        report(event)
        if not event.problem then
          leave_worktree(entry.cwd, on_answer)
        end
      end)
      if entry.session then
        client.forget(entry.session)
      end
    end
    table.insert(answers, { words = words .. (entry.session and "; its chat is closed" or ""), act = act })
  end
  if at_agent and here then
    offer(("delete it at %s and on this machine"):format(entry.agent), true, true)
  end
  if at_agent then
    offer(("delete it at %s"):format(entry.agent) .. (here and " only" or ""), true, false)
  end
  if here then
    offer("delete it on this machine" .. (at_agent and " only" or ""), false, true)
  end
  ask(("Delete %q (%s, %s)?"):format(question.title(entry), entry.agent, entry.cwd), answers)
end

return M
