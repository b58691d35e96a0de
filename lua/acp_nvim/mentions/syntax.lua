-- Parses and formats mentions (`@file:10-20`, `@"a b.txt"`, `@selection`). Does not look up what they name.
local M = {}

---A possible reading of a mention. Which one applies depends on the files that exist.
---@class acp.Reading
---@field text string without quotes and escapes
---@field quoted boolean
---@field first? integer 1-based line
---@field last? integer 1-based line, included; not before `first`
---@field to integer 0-based byte column after its end

---@class acp.MentionToken
---@field from integer 0-based byte column of its @
---@field readings acp.Reading[] the longest first

local LONGEST = 1024 -- bytes: paths are shorter
local READINGS = 16 -- of one token: each is looked up on disk
local TOKENS = 200 -- of one line: each takes some microseconds

local BEFORE = "[%s%(%[{<\"'`,;|=*\128-\255]" -- in an e-mail address a letter precedes the @
local PUNCTUATION = vim.split([[. , ; : ! ? ) ] } > ' " ` * _ … 。 ， 、 」 ” ’ ）]], " ")
local WORDS = { selection = true, diagnostics = true, ["diagnostics:workspace"] = true, quickfix = true, diff = true }
local INSIDE = "[,;%)%]}>'\"`]"

---@param at integer 1-based column after the opening quote
---@return string? text nil when the closing quote is missing
---@return integer at column after the closing quote
local function quoted(line, at)
  local out, from = {}, at
  while at <= #line and at - from <= LONGEST do
    local char = line:sub(at, at)
    if char == '"' then
      return table.concat(out), at + 1
    elseif char == "\\" and line:find('^["\\]', at + 1) then
      at = at + 1
      char = line:sub(at, at)
    end
    table.insert(out, char)
    at = at + 1
  end
  return nil, at
end

---@param at integer 1-based column
---@return string raw text up to a blank, with its escapes; empty when it is longer than any path
local function bare(line, at)
  local text = line:sub(at, at + LONGEST)
  local stop = text:find("[%s\\]") or #text + 1
  while text:find("^\\.", stop) do
    stop = text:find("[%s\\]", stop + 2) or #text + 1
  end
  if text:sub(stop) == "\\" then -- the last character
    stop = stop + 1
  end
  return stop <= LONGEST + 1 and text:sub(1, stop - 1) or ""
end

local function unescaped(raw)
  return (raw:gsub("\\(.)", "%1"))
end

---@return integer? first
---@return integer? last
local function range(first, last)
  local a = tonumber(first)
  local b = tonumber(last) or a
  if not a or a > 2 ^ 31 or b > 2 ^ 31 then
    return nil, nil
  end
  return math.min(a, b), math.max(a, b)
end

---@param readings acp.Reading[]
---@param start integer column of its first byte
local function add(readings, raw, start)
  if raw == "" or #readings >= READINGS then
    return
  end
  table.insert(readings, { text = unescaped(raw), quoted = false, to = start + #raw })
  local path, from, to = raw:match("^(.-[^:]):(%d+)%-?(%d*)$")
  local first, last = range(from or "", to or "")
  if path and first and not raw:match("%-$") then
    table.insert(readings, { text = unescaped(path), quoted = false, first = first, last = last, to = start + #raw })
  end
end

---@return string? shorter nil when the text does not end with punctuation
local function without_end(raw)
  for _, mark in ipairs(PUNCTUATION) do
    if #raw > #mark and vim.endswith(raw, mark) then
      return raw:sub(1, -1 - #mark)
    end
  end
end

---@return acp.Reading[]
local function bare_readings(raw, start)
  local readings = {}
  local rest = raw ---@type string?
  while rest and #readings < READINGS do
    add(readings, rest, start)
    rest = without_end(rest)
  end
  local cut = raw:find(INSIDE)
  if cut and cut > 1 then
    add(readings, raw:sub(1, cut - 1), start)
  end
  return readings
end

---@param at integer 1-based column of the opening quote
---@param prefix string that is part of the text
---@return acp.Reading[]
local function quoted_readings(line, at, prefix)
  local text, after = quoted(line, at + 1)
  if not text or text == "" then
    return {}
  end
  local readings = { { text = prefix .. text, quoted = prefix == "", to = after - 1 } }
  local from, to = line:match("^:(%d+)%-(%d+)", after)
  if not from then
    from = line:match("^:(%d+)", after)
  end
  local first, last = range(from or "", to or "")
  if first then
    local length = 1 + #from + (to and 1 + #to or 0)
    local reading =
      { text = prefix .. text, quoted = prefix == "", first = first, last = last, to = after - 1 + length }
    table.insert(readings, 1, reading)
  end
  return readings
end

---@param at integer 1-based column of an @
---@return acp.Reading[]
local function readings_at(line, at)
  local word = line:match("^symbol:", at + 1) or ""
  local after = at + 1 + #word
  if line:sub(after, after) == '"' then
    return quoted_readings(line, after, word)
  end
  return bare_readings(bare(line, at + 1), at)
end

---@param at integer 1-based column of an @
local function begins(line, at)
  return at == 1 or line:find("^" .. BEFORE, at - 1) ~= nil
end

---@return acp.MentionToken[] possible mentions from left to right; they may overlap
function M.parse(line)
  local tokens, tried = {}, 0
  local at = line:find("@", 1, true)
  while at and tried < TOKENS do
    if begins(line, at) then
      tried = tried + 1
      local readings = readings_at(line, at)
      if #readings > 0 then
        table.insert(tokens, { from = at - 1, readings = readings })
      end
    end
    at = line:find("@", at + 1, true)
  end
  return tokens
end

---@return boolean the text is a keyword, not a path
function M.is_word(text)
  return WORDS[text] ~= nil or text:match("^symbol:.") ~= nil or text:match("^buffer:%d+$") ~= nil
end

---@param text string a path, or a keyword
---@param first? integer
---@param last? integer
function M.format(text, first, last)
  local lines = first and (":%d%s"):format(first, last and last ~= first and "-" .. last or "") or ""
  local is_symbol = vim.startswith(text, "symbol:")
  local word = is_symbol and "symbol:" or ""
  local rest = text:sub(#word + 1)
  if rest:find('[%s"\\]') or rest == "" or first and rest:sub(-1) == ":" then
    rest = '"' .. rest:gsub('["\\]', "\\%0") .. '"'
  end
  return "@" .. word .. rest .. lines
end

---@param text string end of a line
---@param at integer 1-based column of an @
---@return string? typed nil when the mention ends before the text
---@return integer after column at which to go on
local function open_at(text, at)
  local word = text:match("^symbol:", at + 1) or ""
  local start = at + 1 + #word
  if text:sub(start, start) ~= '"' then
    local raw = bare(text, at + 1)
    return at + #raw == #text and unescaped(raw) or nil, at + 1
  end
  local closed, after = quoted(text, start + 1)
  if closed then
    return nil, after
  end
  return word .. text:sub(start + 1):gsub('\\(["\\])', "%1"), #text + 1
end

---@param before string the line up to the cursor
---@return integer? from column of the @ of the mention being typed
---@return string? text of the mention, without quotes and escapes
function M.typed(before)
  local cut = math.max(0, #before - LONGEST - 1)
  local text = before:sub(cut + 1)
  local from, typed
  local at = text:find("@", 1, true)
  while at do
    local after = at + 1
    if begins(text, at) then -- the last one counts
      typed, after = open_at(text, at)
      from = typed and cut + at - 1
    end
    at = text:find("@", after, true)
  end
  return from, typed
end

return M
