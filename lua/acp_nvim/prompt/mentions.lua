-- Finds the mentions in a prompt, resolves them to attachments, and highlights them.
local autocmds = require("acp_nvim.autocmds")
local lazy = require("acp_nvim.lazy")
local context = lazy("acp_nvim.prompt.context")
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.sessions")
local syntax = lazy("acp_nvim.prompt.mentions.syntax")
local targets = lazy("acp_nvim.prompt.mentions.targets")

local M = {}

local MENTIONS = 100 -- of one prompt: more is a mistake, or an attack on the context
-- Words with an @ in one prompt that are resolved: pasted code has hundreds of decorators
local MENTION_CANDIDATES = 1000

---@class acp.Mention
---@field row integer 0-based line of the text
---@field from integer byte column of its @, 0-based
---@field to integer byte column after its end
---@field target acp.MentionTarget

---@param token acp.MentionToken
---@param done fun(reading?: acp.Reading, target?: acp.MentionTarget) called with the first reading that has a target
local function meant(session, token, done)
  local found, left = {}, #token.readings
  for index, reading in ipairs(token.readings) do
    targets.find(session, reading, function(target)
      found[index] = target
      left = left - 1
      if left == 0 then
        local at = vim.iter(ipairs(token.readings)):find(function(i)
          return found[i] ~= nil
        end)
        done(token.readings[at], found[at])
      end
    end)
  end
end

---@return { row: integer, token: acp.MentionToken }[] at most MENTION_CANDIDATES
local function candidates(lines)
  local out = {}
  for row, line in ipairs(lines) do
    if line:find("@", 1, true) then
      for _, token in ipairs(syntax.parse(line)) do
        if #out == MENTION_CANDIDATES then
          return out
        end
        table.insert(out, { row = row - 1, token = token })
      end
    end
  end
  return out
end

---@param per_candidate table<integer, acp.Mention>
---@return acp.Mention[] from left to right, without those that overlap an earlier one
local function apart(per_candidate, count)
  local out = {}
  for index = 1, count do
    local mention, last = per_candidate[index], out[#out]
    if mention and not (last and last.row == mention.row and mention.from < last.to) then
      table.insert(out, mention)
    end
  end
  return out
end

---@param done fun(mentions: acp.Mention[]) called once; synchronously when there are no candidates
function M.find(session, lines, done)
  local found = candidates(lines)
  local per_candidate, left = {}, #found
  if left == 0 then
    return done({})
  end
  for index, candidate in ipairs(found) do
    meant(session, candidate.token, function(reading, target)
      if reading then
        local from = candidate.token.from
        per_candidate[index] = { row = candidate.row, from = from, to = reading.to, target = target }
      end
      left = left - 1
      if left == 0 then
        done(apart(per_candidate, #found))
      end
    end)
  end
end

---@param mentions acp.Mention[]
---@param items acp.ContextItem[]
---@param done fun(items: acp.ContextItem[])
local function take(mentions, index, items, done)
  local mention = mentions[index]
  if not mention then
    return done(items)
  end
  mention.target.take(function(more)
    context.add(items, more)
    take(mentions, index + 1, items, done)
  end)
end

---@param mentions acp.Mention[]
---@return string? problem with which the prompt must not be sent
local function problem_of(mentions)
  for _, mention in ipairs(mentions) do
    if mention.target.problem then
      return mention.target.problem
    end
  end
  return #mentions > MENTIONS and ("a prompt can have at most %d mentions"):format(MENTIONS) or nil
end

---Resolves the mentions of a text to context items with the present contents.
---@param done fun(items: acp.ContextItem[], problem?: string) called once, synchronously when nothing is mentioned;
---with a problem the prompt must not be sent
function M.resolve(session, text, done)
  local answered = false
  local function answer(items, problem)
    if not answered then
      answered = true
      done(items, problem)
    end
  end
  M.find(session, vim.split(text, "\n", { plain = true }), function(mentions)
    local problem = problem_of(mentions)
    if problem then
      return answer({}, problem)
    end
    take(mentions, 1, {}, answer)
  end)
  if not answered then
    vim.defer_fn(function()
      answer({}, "the mentions in the prompt could not be resolved: a disk or a program does not answer")
    end, limits.mention_ms)
  end
end

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.mentions")

---@param mention acp.Mention
---@param first integer row of the first line of the searched text
local function mark(bufnr, mention, first)
  local group = mention.target.problem and "AcpMentionRefused" or "AcpMention"
  local row = first + mention.row
  pcall(api.nvim_buf_set_extmark, bufnr, NAMESPACE, row, mention.from, { end_col = mention.to, hl_group = group })
end

---@param bufnr integer of a prompt
local function highlight(bufnr)
  local session, win = sessions.of_buffer(bufnr), vim.fn.bufwinid(bufnr)
  if not session or win == -1 then
    return
  end
  local first, last = vim.fn.line("w0", win) - 1, vim.fn.line("w$", win)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  M.find(session, api.nvim_buf_get_lines(bufnr, first, last, false), function(found)
    if not api.nvim_buf_is_loaded(bufnr) or api.nvim_buf_get_changedtick(bufnr) ~= tick then
      return -- the change starts another search
    end
    api.nvim_buf_clear_namespace(bufnr, NAMESPACE, first, last)
    for _, mention in ipairs(found) do
      mark(bufnr, mention, first)
    end
  end)
end

---Highlights the mentions in the visible lines of a prompt from now on.
function M.watch(bufnr)
  -- buffer-local, since the chat scrolls with each batch
  autocmds.on_buffer("acp_nvim.mentions", bufnr, {
    ["TextChanged TextChangedI TextChangedP BufWinEnter WinEnter WinScrolled"] = highlight,
  })
end

return M
