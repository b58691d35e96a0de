-- Finds the mentions in a prompt, resolves them to attachments, and highlights them.
local autocmds = require("acp_nvim.kernel.autocmds")
local cells = require("acp_nvim.render.cells")
local lazy = require("acp_nvim.lazy")
local context = lazy("acp_nvim.mentions.context")
local limits = require("acp_nvim.limits")
local message = lazy("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local sessions = require("acp_nvim.host.sessions")
local syntax = lazy("acp_nvim.mentions.syntax")
local targets = lazy("acp_nvim.mentions.targets")

local M = {}

local MISSING = 5 -- words that a message names
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

---@param done fun(mentions: acp.Mention[], others: { row: integer, token: acp.MentionToken }[]) called once, synchronously
---when there are no candidates; `others` name nothing
function M.find(session, lines, done)
  local found = candidates(lines)
  local per_candidate, left = {}, #found
  if left == 0 then
    return done({}, {})
  end
  for index, candidate in ipairs(found) do
    meant(session, candidate.token, function(reading, target)
      if reading then
        local from = candidate.token.from
        per_candidate[index] = { row = candidate.row, from = from, to = reading.to, target = target }
      end
      left = left - 1
      if left == 0 then
        local others = {}
        for at, other in ipairs(found) do
          table.insert(others, not per_candidate[at] and other or nil)
        end
        done(apart(per_candidate, #found), others)
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

---@param text string without the @
---@return boolean it is written like the path of a file
local function is_path_like(text)
  local is_file = text:find("%.%w+$") and names.filetype(text) ~= nil
  return is_file or text:find("^%.%.?/%S") ~= nil or text:find("^~/%S") ~= nil
end

---@param line string
---@param token acp.MentionToken that names nothing
---@return string? written if it was meant as a mention: pasted code has decorators, and aliases of packages
local function meant_text(session, line, token)
  local is_in_code = line:sub(token.from, token.from):find("[\"'`]")
  for _, reading in ipairs(token.readings) do
    local written = line:sub(token.from + 1, reading.to)
    local is_call = line:sub(reading.to + 1, reading.to + 1) == "("
    local is_meant = not is_in_code
      and not is_call
      and (is_path_like(reading.text) or not reading.quoted and syntax.is_word(reading.text))
    if is_meant or session.offered and session.offered[written] then
      return written
    end
  end
end

---Tells which words of a prompt that were meant as mentions name nothing.
---@param others { row: integer, token: acp.MentionToken }[]
local function tell_missing(session, lines, others)
  local found = {}
  for _, other in ipairs(others) do
    local written = #found < MISSING and meant_text(session, lines[other.row + 1], other.token)
    if written and not vim.list_contains(found, written) then
      table.insert(found, written)
    end
  end
  if #found > 0 then
    local words = "%s: sent as plain text, nothing of that name is here (looked for in %s, in the windows' "
      .. "directories and among the open buffers)"
    message.warn(words:format(cells.plain(table.concat(found, ", ")), names.below_home(session.cwd)))
  end
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
  local lines = vim.split(text, "\n", { plain = true })
  M.find(session, lines, function(mentions, others)
    local problem = problem_of(mentions)
    if problem then
      return answer({}, problem)
    end
    tell_missing(session, lines, others)
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
