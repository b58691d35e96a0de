-- What a prompt mentions: which words of it stand for something, and what is attached for them.
local limits = require("acp_nvim.limits")
local syntax = require("acp_nvim.prompt.mentions.syntax")
local targets = require("acp_nvim.prompt.mentions.targets")

local M = {}

---@class acp.Mention
---@field row integer 0-based line of the text
---@field from integer byte column of its @, 0-based
---@field to integer byte column after it
---@field target acp.MentionTarget

---@param session acp.Session
---@param token acp.Token
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
---@return { row: integer, token: acp.Token }[] the first of them: pasted code may have any number
local function candidates(lines)
  local out = {}
  for row, line in ipairs(lines) do
    if line:find("@", 1, true) then
      for _, token in ipairs(syntax.parse(line)) do
        if #out == limits.mention_candidates then
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
  return #mentions > limits.mentions and ("a prompt can mention %d things, not more"):format(limits.mentions) or nil
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

return M
