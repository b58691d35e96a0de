-- Finds the file, link or URL written at a column of a line.
local links = require("acp_nvim.actions.targets.links")
local places = require("acp_nvim.actions.targets.places")

local M = {}

local AROUND = 4000 -- bytes before and after the cursor in which a target is looked for
local WIDE_CUTS = 8 -- places within a word with other than ASCII characters where a path may begin or end
---First bytes of the punctuation of East Asian texts, which ends a URL.
local WIDE_PUNCTUATION = { "\227\128", "\239\188", "\226\128[\152-\157\166]" }
---A line after a path: `File "x.py", line 3`, `a.py (line 3)`, [a.py](a.py), lines 3-5.
local LINES_AFTER = {
  "^[,:;]?%s+%(?[lL]ines?%s+(%d+)",
  "^[,:;]?%s*%([lL]ines?%s+(%d+)",
  "^[,:;]?%s*%(L(%d+)",
}

---@class acp.Candidate
---@field text string
---@field to integer last byte of it in the line
---@field shown? string text of a link
---@field is_link? boolean

---@param pattern string with one capture between two position captures
---@param col integer byte, 0-based
---@return string? capture of the match that contains the column
---@return integer? first byte of it
local function match_at(line, pattern, col)
  local at = 1
  while true do
    local first, last, from, found = line:find(pattern, at)
    if not first or first > col + 1 then
      return nil
    elseif last > col then
      return found, from
    end
    at = last + 1
  end
end

---@return integer[] bytes of a word where a path may begin, or before which it may end: beside each character beyond ASCII
local function boundaries(word)
  local cuts = {}
  for at, after in word:gmatch("()[\194-\244][\128-\191]+()") do
    if cuts[#cuts] ~= at then
      cuts[#cuts + 1] = at
    end
    cuts[#cuts + 1] = after
  end
  return cuts
end

---Adds the parts of a word with other than ASCII characters, which may be a path within a text without blanks. The longest
---come first.
---@param add fun(text: string, first: integer)
---@param at integer byte of the word that the cursor is on
local function add_parts(add, word, first, at)
  local starts, ends = { 1 }, { #word }
  for _, cut in ipairs(boundaries(word)) do
    if cut <= at then
      starts[#starts + 1] = cut
    elseif cut > at then
      ends[#ends + 1] = cut - 1
    end
  end
  local parts = {}
  for index = math.max(#starts - WIDE_CUTS + 1, 1), #starts do
    for last = 1, math.min(#ends, WIDE_CUTS) do
      parts[#parts + 1] = { starts[index], ends[last] }
    end
  end
  table.sort(parts, function(a, b)
    return a[2] - a[1] > b[2] - b[1]
  end)
  for _, part in ipairs(parts) do
    add(word:sub(part[1], part[2]), first + part[1] - 1)
  end
end

---@param col integer byte, 0-based
---@return acp.Candidate[] possible targets, the most likely first
local function candidates(line, col)
  local found = {} ---@type acp.Candidate[]
  ---@param text? string
  ---@param first? integer byte
  local function add(text, first)
    if text and text ~= "" then
      found[#found + 1] = { text = text, to = first + #text - 1 }
    end
  end
  local link = links.at(line, col)
  for index, text in ipairs(link and link.targets or {}) do
    found[#found + 1] = { text = text, to = link.to, is_link = true, shown = index == 1 and link.shown or nil }
  end
  for _, pattern in ipairs({ "`()([^`]+)`", '"()([^"]+)"', "'()([^']+)'", "<()([^>]+)>" }) do
    add(match_at(line, pattern, col))
  end
  local word, first = match_at(line, "()([^%s\"'`<>|]+)", col)
  if not word then
    return found
  end
  local function add_word(text, from)
    local open, marks = #text:match("^[%(%[{]*"), #text:match("^[%(%[{*]*")
    local rest = text:sub(marks + 1)
    local shapes = { { text:sub(open + 1), open }, { rest:match("^(.-)%*+[,;:%.!?]*$"), marks } }
    table.insert(shapes, { rest:match("^(.-)[%)%]},;:%.!?*]*$"), marks })
    for _, shape in ipairs(shapes) do
      local whole, at = shape[1], from + shape[2]
      add(whole, at)
      for _, pattern in ipairs({ "^@()(.+)$", "=()(.+)$" }) do
        local after, value = (whole or ""):match(pattern)
        add(value, at + (after or 1) - 1)
      end
    end
  end
  add_word(word, first)
  if word:find("[\128-\255]") then
    add_parts(add_word, word, first, col + 2 - first)
  end
  return found
end

---@param after integer byte after the name of a file
---@return integer? line that is written there
local function line_after(line, after)
  after = line:match("^[`\"'*_%])>]*()", after)
  after = line:match("^[\227\239][\128-\191][\128-\191]()", after) or after -- East Asian punctuation
  for _, pattern in ipairs(LINES_AFTER) do
    local number = line:match(pattern, after)
    if number then
      return tonumber(number)
    end
  end
end

---@param text string of a word
---@return string text without the punctuation behind a URL
local function trimmed(text)
  if not places.is_url(text) then
    return text
  end
  for _, pattern in ipairs(WIDE_PUNCTUATION) do
    text = text:sub(1, (text:find(pattern) or 0) - 1)
  end
  return (text:gsub("[,.;:!?*'\"]+$", ""))
end

---@return acp.Target?
---@return string? missing name of a file that is written there and does not exist
local function find(line, col, cwd)
  local missing
  for _, candidate in ipairs(candidates(line, col)) do
    local text = trimmed(candidate.text)
    local target = places.find(text, cwd)
    if target then
      if target.path and not target.line then
        target.line = line_after(line, candidate.to + 1)
      end
      target.shown = candidate.shown
      return target
    end
    missing = missing or (candidate.is_link and text or places.likely_path((text:gsub("^@", ""))))
  end
  return nil, missing
end

---Finds the file, link or URL written at a column of a line.
---@param col integer byte, 0-based
---@param cwd string base of relative paths
---@return acp.Target?
---@return string? missing name of a file that is written there and does not exist
function M.target(line, col, cwd)
  local shift = math.max(col - AROUND, 0)
  local text = line:sub(shift + 1, col + AROUND)
  local target, missing = find(text, col - shift, cwd)
  if not target then -- on the line number that follows a path
    local words, first = match_at(text, "()(,?%s*%(?[lL]ines?%s+%d+)", col - shift)
    local before = words and first and first > 1 and find(text, first - 2, cwd)
    target = before and before.path and before.line and before or nil
  end
  return target, missing
end

return M
