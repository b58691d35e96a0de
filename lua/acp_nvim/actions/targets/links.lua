-- Reads the links of a line as CommonMark defines them.
local M = {}

local AROUND = 4000 -- bytes before and after the cursor in which links are looked for
local SHOWN = 1000 -- bytes of the text of a link
local PUNCTUATION = "[%p]"
local ENTITIES = { amp = "&", lt = "<", gt = ">", quot = '"' }

---@class acp.Link
---@field from integer first byte
---@field to integer last byte
---@field shown string text of the link
---@field targets string[] ways to read its target, the most likely first

---Whether a byte follows an odd number of backslashes.
local function is_escaped(line, at)
  local first = at
  while line:byte(first - 1) == 92 do
    first = first - 1
  end
  return (at - first) % 2 == 1
end

---@return integer? byte of the bracket that opens what the one at `at` closes
local function opening(line, at)
  local depth = 0
  for index = at, math.max(at - SHOWN, 1), -1 do
    local byte = line:byte(index)
    if (byte == 91 or byte == 93) and not is_escaped(line, index) then
      depth = depth + (byte == 93 and 1 or -1)
      if depth == 0 then
        return index
      end
    end
  end
end

---Finds the byte that ends a target without angle brackets: a blank, or a parenthesis that it does not open.
---@param ends string set of further bytes that end it
---@return integer? byte after the target
local function after_bare(line, at, ends)
  local depth = 0
  while at <= #line do
    local char = line:sub(at, at)
    if char == "\\" and line:find(PUNCTUATION, at + 1) == at + 1 then
      at = at + 1
    elseif char == "(" then
      depth = depth + 1
    elseif char == ")" then
      if depth == 0 then
        return at
      end
      depth = depth - 1
    elseif char:find(ends) then
      return depth == 0 and at or nil
    end
    at = at + 1
  end
end

---@return integer? byte of the parenthesis that ends the link, after a title
local function after_title(line, at)
  for _, pattern in ipairs({ "^%s*()%)", '^%s+"[^"]*"%s*()%)', "^%s+'[^']*'%s*()%)", "^%s+%([^()]*%)%s*()%)" }) do
    local close = line:match(pattern, at)
    if close then
      return close
    end
  end
end

---@param at integer byte after the opening parenthesis
---@return string? target as it is written
---@return integer? close byte of the closing parenthesis
local function target_at(line, at)
  local first = line:match("^%s*()", at)
  if line:byte(first) == 60 then
    local to = first
    repeat
      to = line:find("[<>]", to + 1)
    until not to or not is_escaped(line, to)
    local close = to and line:byte(to) == 62 and after_title(line, to + 1)
    if close then
      return line:sub(first + 1, to - 1), close
    end
  end
  local to = after_bare(line, first, "[%s%c]")
  local close = to and after_title(line, to)
  if close then
    return line:sub(first, to - 1), close
  end
  close = after_bare(line, first, "[%z]") -- with blanks it is no link by the standard, but agents write it
  return close and vim.trim(line:sub(first, close - 1)), close
end

---@param target string
---@return string[]
local function read(target)
  local plain = target:gsub("\\(" .. PUNCTUATION .. ")", "%1")
  local found = { plain, target }
  local text = plain:gsub("&(%a+);", ENTITIES)
  if text ~= plain then
    table.insert(found, text)
  end
  local untitled = target:match("^<?(.-)>?%s+[\"'(].*$")
  found[#found + 1] = untitled
  return found
end

---Finds the innermost link that contains a column.
---@param col integer byte, 0-based
---@return acp.Link?
function M.at(line, col)
  local shift = math.max(col - AROUND, 0)
  local text, at = line:sub(shift + 1, col + AROUND), col + 1 - shift
  local best, from = nil, 1
  while true do
    local middle = text:find("](", from, true)
    if not middle then
      break
    end
    local open = middle + 2 > at - AROUND and opening(text, middle)
    local target, close = nil, nil
    if open and open - 1 <= at then
      target, close = target_at(text, middle + 2)
    end
    local first = open and text:byte(open - 1) == 33 and open - 1 or open
    if
      target
      and target ~= ""
      and first <= at
      and close >= at
      and (not best or close - first < best.to - best.from)
    then
      local shown = text:sub(open + 1, middle - 1)
      best = { from = first + shift, to = close + shift, shown = shown, targets = read(target) }
    end
    from = middle + 2
  end
  return best
end

return M
