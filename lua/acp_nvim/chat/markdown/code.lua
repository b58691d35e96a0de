-- Colours a segment of fenced code, in the language of the word behind its fence if there is a parser for it.
require("acp_nvim.chat.markdown.interpreted")()

local limits = require("acp_nvim.limits")
local spans = require("acp_nvim.chat.markdown.spans")

local M = {}

local PARSE_NS = 5e6 -- for one parse of code: twenty lines and what is above take two; odd bytes may take seconds
local CODE_DEPTH = 100 -- of brackets in each other: ten times as deep as people write
local CODE_NS = 3e6 -- for the colours of one segment: what is left is plain
local NAME_LENGTH = 30 -- characters of a language's name
local LANGUAGES = 200 -- that are kept: their names are the agent's, there may be any number
local LABEL = "@label.markdown"
-- its grammar ends Neovim with a segmentation fault where quotes are nested deeply
local NEVER = { markdown = true, markdown_inline = true }

---@class acp.Language
---@field name string of the parser
---@field query vim.treesitter.Query

---@class acp.CodeText
---@field lines string[] of the segment, from a row of it on
---@field from integer that row, from 0
---@field before string[] lines of the same fence that stand above it
---@field kind acp.SegmentKind
---@field closes boolean the last line ends the fence

---@type table<string, acp.Language|false> by the word behind a fence; false: there is no parser
local known = {}
local count = 0
---@type table<string, fun()[]> words that are being looked for -> who waits for them
local wanted = {}
---@type table<string, table<string, string|false>> parser -> capture -> group
local groups = vim.defaulttable(function()
  return {}
end)
---@type table<string, TSParser> by name: each takes some ten kB, of which Lua's collector knows nothing
local parsers = {}

---@param info string what stands behind the fence: "lua", "{.python}", "rust,ignore", "12:20:src/main.ts"
---@return string? word
local function word_of(info)
  local first = info:match("^[{.%s]*([^%s,{}]+)") or ""
  first = first:match("[^/:]*$")
  first = (first:match("%.([%w_+#-]+)$") or first):lower()
  return first:match("^[%w_+#-]+$") and #first <= NAME_LENGTH and first or nil
end

---@param name string
---@return acp.Language|false
local function load(name)
  local tried = { name, vim.treesitter.language.get_lang(name) }
  local ok, filetype = pcall(vim.filetype.match, { filename = "a." .. name })
  if ok and filetype then
    tried[#tried + 1] = vim.treesitter.language.get_lang(filetype) or filetype
  end
  for _, one in ipairs(tried) do
    local loaded, there = pcall(vim.treesitter.language.add, one)
    if loaded and there and not NEVER[one] then
      local has, query = pcall(vim.treesitter.query.get, one, "highlights")
      return has and query and { name = one, query = query } or false
    end
  end
  return false
end

---Whether a fence holds a diff, which is coloured without a parser.
---@param kind acp.SegmentKind
---@return boolean
local function is_diff(kind)
  return kind.code:find("^diff") ~= nil or kind.code:find("^patch") ~= nil
end

---The language of a fence. What is slow the first time is done by itself, not while drawing.
---@param kind acp.SegmentKind
---@param found fun() called once the language is known, if it is not yet
---@return acp.Language|false|nil language false: there is none; nil: not known yet
function M.language(kind, found)
  local name = not is_diff(kind) and word_of(kind.code)
  if not name then
    return false
  elseif known[name] ~= nil then
    return known[name]
  elseif wanted[name] then
    table.insert(wanted[name], found)
    return nil
  end
  wanted[name] = { found }
  vim.schedule(function()
    local waiting = wanted[name]
    wanted[name] = nil
    if count >= LANGUAGES then
      known, count = {}, 0
    end
    known[name] = load(name)
    count = count + 1
    for _, tell in ipairs(waiting) do
      tell()
    end
  end)
end

---@param parser string
---@param name string of a capture
---@return string|false group
local function group_of(parser, name)
  local of = groups[parser]
  if of[name] == nil then
    local none = name:find("^_") or name:find("spell") or name == "conceal" or name == "none"
    of[name] = not none and ("@%s.%s"):format(name, parser) or false
  end
  return of[name]
end

---@param line string
---@param indent integer
---@return string line without the fence's indentation, nothing if it is too long to be read
---@return integer bytes that were left out
local function undented(line, indent)
  local spaces = indent > 0 and #line:match("^ *") or 0
  local cut = math.min(spaces, indent)
  if #line > limits.code_line_bytes then
    return "", 0
  end
  -- Neovim gives NULs as newlines
  return (cut > 0 and line:sub(cut + 1) or line):gsub("\n", " "), cut
end

---@param code string
---@return string code as long, and UTF-8: grammars take long for bytes that are no characters
local function valid(code)
  if code:find("[\128-\255]") and vim.iconv(code, "utf-8", "utf-8") ~= code then
    code = code:gsub("[\128-\255]", "?")
  end
  return code
end

---@param text acp.CodeText
---@return boolean its first line is the fence
local function opens(text)
  return text.kind.above == 0 and text.from == 0
end

---@param text acp.CodeText
---@return string
---@return integer first row of the segment in it
---@return integer[] cuts bytes left out of each line
local function source(text)
  local all, cuts = {}, {}
  for _, lines in ipairs({ text.before, text.lines }) do
    for _, line in ipairs(lines) do
      all[#all + 1], cuts[#cuts + 1] = undented(line, text.kind.indent)
    end
  end
  if opens(text) then
    all[1] = "" -- the fence itself
  end
  if text.closes then
    all[#all] = ""
  end
  return valid(table.concat(all, "\n") .. "\n"), #text.before, cuts
end

---@param rows table<integer, acp.Span[]>
---@param node TSNode
---@param group string
---@param priority integer
---@param at { first: integer, cuts: integer[], lines: string[], from: integer }
local function add(rows, node, group, priority, at)
  local from_row, from, to_row, to = node:range()
  for row = math.max(from_row, at.first), math.min(to_row, at.first + #at.lines - 1) do
    local cut, line = at.cuts[row + 1], at.lines[row - at.first + 1]
    local start = row == from_row and from + cut or 0
    local stop = row == to_row and to + cut or #line
    if stop > start and #line <= limits.code_line_bytes then
      spans.add(rows, row - at.first + 1 + at.from, start, stop, group, nil, priority)
    end
  end
end

---@param code string
---@return boolean brackets stand in each other as nobody writes them: to find captures then takes time with its square
local function is_deep(code)
  local depth = 0
  for bracket in code:gmatch("[%(%[{}%]%)]") do
    depth = math.max(depth + (bracket:find("[%(%[{]") and 1 or -1), 0)
    if depth > CODE_DEPTH then
      return true
    end
  end
  return false
end

---Grammars may take seconds for a few thousand odd bytes; only this parser can be told when to give up.
---@param code string
---@param lang acp.Language
---@return TSTree? tree nil when it took too long
local function parse(code, lang)
  local parser = parsers[lang.name] or vim._create_ts_parser(lang.name)
  parsers[lang.name] = parser
  parser:reset() -- it may have given up the last time
  if parser.set_timeout then -- Neovim 0.11
    parser:set_timeout(PARSE_NS / 1000)
    return (parser:parse(nil, code, false))
  end
  return (parser:parse(nil, code, false, PARSE_NS))
end

---@param rows table<integer, acp.Span[]>
---@param text acp.CodeText
---@param lang acp.Language
---@return boolean done
local function colour_tree(rows, text, lang)
  local code, first, cuts = source(text)
  local tree = not is_deep(code) and parse(code, lang)
  if not tree then
    return false
  end
  local at = { first = first, cuts = cuts, lines = text.lines, from = text.from }
  local deadline, seen = vim.uv.hrtime() + CODE_NS, 0
  for id, node, metadata in lang.query:iter_captures(tree:root(), code, first, first + #text.lines) do
    local group = group_of(lang.name, lang.query.captures[id])
    if group then
      add(rows, node, group, math.min(math.max(tonumber(metadata.priority) or 100, 91), 199), at)
    end
    seen = seen + 1
    if seen % 32 == 0 and vim.uv.hrtime() > deadline then
      break
    end
  end
  return true
end

---@param rows table<integer, acp.Span[]>
---@param row integer
---@param line string
local function colour_fence(rows, row, line)
  local from, to = line:match("^%s*()[`~]+()")
  spans.add(rows, row, from - 1, to - 1, LABEL, "")
  spans.add(rows, row, to - 1, #line, LABEL)
end

---@param rows table<integer, acp.Span[]>
---@param lines string[]
local function colour_diff(rows, lines)
  for row, line in ipairs(lines) do
    local group = line:find("^%+") and "AcpDiffAdded" or line:find("^%-") and "AcpDiffRemoved"
    group = group or line:find("^@@") and "AcpDiffHeader" or nil
    if group then
      spans.add(rows, row, 0, #line, group)
    end
  end
end

---@param rows table<integer, acp.Span[]> of the segment, from 1; gets those of the text
---@param text acp.CodeText
---@param lang? acp.Language|false
---@return boolean in_language whether it has the colours of its language
function M.colour(rows, text, lang)
  local last = text.from + #text.lines
  local ok, done = false, false
  if lang then
    ok, done = pcall(colour_tree, rows, text, lang)
  elseif is_diff(text.kind) then
    colour_diff(rows, text.lines)
  end
  if opens(text) then
    rows[1] = nil
    colour_fence(rows, 1, text.lines[1])
  end
  if text.closes then
    rows[last] = nil
    colour_fence(rows, last, text.lines[#text.lines])
  end
  return ok and done
end

return M
