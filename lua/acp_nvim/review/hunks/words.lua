-- Finds the words that differ between the old and the new lines of a hunk.
local M = {}

local WORD_BYTES = 20 * 1024 -- of a hunk's old and new lines that are compared word by word: about a millisecond
local SAME_PART = 0.34 -- of a line's words that the other text must contain: with fewer it counts as a different line

---@class acp.Words byte spans { from, to } by line number; false: the line has no counterpart
---@field old table<integer, integer[][]|false>
---@field new table<integer, integer[][]|false>

---@class acp.DiffToken
---@field line integer
---@field from integer byte, 0-based
---@field to integer
---@field text string empty at the end of a line

---@return acp.DiffToken[]
local function tokens(lines)
  local found = {}
  for number, line in ipairs(lines) do
    local at = 1
    while at <= #line do
      local last = select(2, line:find("^[%w_\128-\255]+", at)) or select(2, line:find("^%s+", at)) or at
      found[#found + 1] = { line = number, from = at - 1, to = last, text = line:sub(at, last) }
      at = last + 1
    end
    found[#found + 1] = { line = number, from = #line, to = #line, text = "" }
  end
  return found
end

---@return string one token per line
local function joined(list)
  local texts = {}
  for index, token in ipairs(list) do
    texts[index] = token.text:gsub("\n", "\0")
  end
  return table.concat(texts, "\n") .. "\n"
end

---@param at integer index in a hunk of this side's start; its count follows
local function changed_tokens(list, hunks, at)
  local changed = {}
  for _, hunk in ipairs(hunks) do
    for index = hunk[at], hunk[at] + hunk[at + 1] - 1 do
      changed[list[index]] = true
    end
  end
  return changed
end

local function add(spans, line, token)
  local last = spans[#spans]
  if last and line:sub(last[2] + 1, token.from):match("^%s*%p?%s*$") then
    last[2] = token.to -- one span for changed words with only blanks or punctuation between them
  else
    spans[#spans + 1] = { token.from, token.to }
  end
end

local function by_line(lines, list, changed)
  local spans, same, all = {}, {}, {} -- the last two: how much text is unchanged, and how much there is
  for number in ipairs(lines) do
    spans[number], same[number], all[number] = {}, 0, 0
  end
  for _, token in ipairs(list) do
    local is_word = token.text:match("^[%w_\128-\255]") ~= nil
    local weight = is_word and token.to - token.from or token.text:match("%S") and 0.25 or 0
    all[token.line] = all[token.line] + weight
    if changed[token] then
      add(spans[token.line], lines[token.line], token)
    else
      same[token.line] = same[token.line] + weight
    end
  end
  for number in ipairs(lines) do
    if all[number] == 0 or same[number] / all[number] < SAME_PART then
      spans[number] = false
    end
  end
  return spans
end

local function size(lines)
  local bytes = #lines
  for _, line in ipairs(lines) do
    bytes = bytes + #line
  end
  return bytes
end

---@return acp.Words? nil when one side is empty or there is too much to compare
function M.of(old, new)
  if #old == 0 or #new == 0 or size(old) + size(new) > WORD_BYTES then
    return nil
  end
  local before, after = tokens(old), tokens(new)
  local hunks = vim.diff(joined(before), joined(after), { result_type = "indices" }) --[[@as integer[][] ]]
  return {
    old = by_line(old, before, changed_tokens(before, hunks, 1)),
    new = by_line(new, after, changed_tokens(after, hunks, 3)),
  }
end

return M
