-- What a prompt mentions: which words of it stand for something, and what is attached for them.
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.sessions")
local syntax = require("acp_nvim.prompt.mentions.syntax")
local targets = require("acp_nvim.prompt.mentions.targets")

local M = {}

local MENTIONS = 100 -- of one prompt: more is a mistake, or an attack on the context
-- Words with an @ in one prompt that are looked up: pasted code has hundreds of decorators
local MENTION_CANDIDATES = 1000

---@class acp.Mention
---@field row integer 0-based line of the text
---@field from integer byte column of its @, 0-based
---@field to integer byte column after it
---@field target acp.MentionTarget

---@param session acp.Session
---@param token acp.MentionToken
---@param done fun(reading?: acp.Reading, target?: acp.MentionTarget) the first reading that stands for something
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

---@param lines string[]
---@return { row: integer, token: acp.MentionToken }[] the first of them: pasted code may have any number
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
---@param count integer
---@return acp.Mention[] from left to right; none lies in another one
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

---@param session acp.Session
---@param lines string[]
---@param done fun(mentions: acp.Mention[]) called once; at once when nothing is mentioned
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

---@param items acp.ContextItem[]
---@param more acp.ContextItem[]
local function add(items, more)
  for _, item in ipairs(more) do
    local is_known = vim.iter(items):any(function(known)
      return known.type == item.type and known.uri == item.uri and known.text == item.text
    end)
    if not is_known then
      table.insert(items, item)
    end
  end
end

---@param mentions acp.Mention[]
---@param index integer
---@param items acp.ContextItem[]
---@param done fun(items: acp.ContextItem[])
local function take(mentions, index, items, done)
  local mention = mentions[index]
  if not mention then
    return done(items)
  end
  mention.target.take(function(more)
    add(items, more)
    take(mentions, index + 1, items, done)
  end)
end

---@param mentions acp.Mention[]
---@return string? why nothing should be sent
local function problem_of(mentions)
  for _, mention in ipairs(mentions) do
    if mention.target.problem then
      return mention.target.problem
    end
  end
  return #mentions > MENTIONS and ("a prompt can mention %d things, not more"):format(MENTIONS) or nil
end

---Makes what is attached for the mentions of a text, as everything is now.
---@param session acp.Session
---@param text string
---@param done fun(items: acp.ContextItem[], problem?: string) called once, at once when nothing is mentioned; with a
---problem nothing should be sent
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
      answer({}, "what the prompt mentions could not be looked up: a disk or a program does not answer")
    end, limits.mention_ms)
  end
end

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.mentions")

---@param bufnr integer
---@param mention acp.Mention
---@param first integer row of the first line that was looked at
local function mark(bufnr, mention, first)
  local group = mention.target.problem and "AcpMentionRefused" or "AcpMention"
  local row = first + mention.row
  pcall(api.nvim_buf_set_extmark, bufnr, NAMESPACE, row, mention.from, { end_col = mention.to, hl_group = group })
end

---@param session acp.Session
---@param bufnr integer
---@param win integer that shows it
local function look(session, bufnr, win)
  local first, last = vim.fn.line("w0", win) - 1, vim.fn.line("w$", win)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  M.find(session, api.nvim_buf_get_lines(bufnr, first, last, false), function(found)
    if not api.nvim_buf_is_loaded(bufnr) or api.nvim_buf_get_changedtick(bufnr) ~= tick then
      return -- what changed it looks again
    end
    api.nvim_buf_clear_namespace(bufnr, NAMESPACE, first, last)
    for _, mention in ipairs(found) do
      mark(bufnr, mention, first)
    end
  end)
end

---@param bufnr integer of a prompt
local function show(bufnr)
  local session = sessions.of_buffer(bufnr)
  local win = session and vim.fn.bufwinid(bufnr) or -1
  if session and win ~= -1 then
    look(session, bufnr, win)
  end
end

---Shows in a prompt which words of it will be attached: in the lines that are seen.
---@param bufnr integer
function M.watch(bufnr)
  local group = api.nvim_create_augroup("acp_nvim.mentions", { clear = false })
  api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  -- buffer-local: the chat scrolls with each batch
  local seen = { "TextChanged", "TextChangedI", "TextChangedP", "BufWinEnter", "WinEnter", "WinScrolled" }
  api.nvim_create_autocmd(seen, {
    group = group,
    buffer = bufnr,
    callback = function()
      show(bufnr)
    end,
  })
end

return M
