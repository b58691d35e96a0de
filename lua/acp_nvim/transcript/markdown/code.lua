-- Highlights a segment of fenced code with the tree-sitter parser of its language, if there is one.
require("acp_nvim.transcript.markdown.interpreted")()

local characters = require("acp_nvim.render.characters")
local names = require("acp_nvim.names")
local limits = require("acp_nvim.limits")
local spans = require("acp_nvim.transcript.markdown.spans")

local M = {}

local PARSE_NS = 5e6 -- nanoseconds of one parse: twenty lines with context take 2e6; malformed code may take seconds
local CODE_DEPTH = 100 -- of nested brackets: ten times as deep as in usual code
local CAPTURE_SECONDS = 0.003 -- of processor time, for the captures of one segment
local NAME_LENGTH = 30 -- characters of a language's name
local LANGUAGES = 200 -- in the cache: agents may use any number of names
local LABEL = "@label.markdown"
-- the grammar crashes Neovim on deeply nested quotes
local NEVER = { markdown = true, markdown_inline = true }

---@alias acp.Language { name: string, query: vim.treesitter.Query } name of the parser

---@class acp.CodeText
---@field lines string[] of the segment, beginning with row `from`
---@field from integer row in the segment, from 0
---@field before string[] lines of the same fence above it
---@field kind acp.SegmentKind
---@field closes boolean the last line closes the fence

---@type table<string, acp.Language|false> by the word after a fence; false: no parser
local known = {}
local count = 0
---@type table<string, fun()[]> word that is being looked up -> callbacks
local wanted = {}
---@type table<string, table<string, string|false>> parser -> capture -> group
local groups = vim.defaulttable(function()
  return {}
end)
---@type table<string, TSParser> by language: each takes tens of kB that Lua's collector does not count
local parsers = {}

---@param info string text after the fence: "lua", "{.python}", "rust,ignore", "12:20:src/main.ts"
---@return string? word
local function word_of(info)
  local first = info:match("^[{.%s]*([^%s,{}]+)") or ""
  first = first:match("[^/:]*$")
  first = (first:match("%.([%w_+#-]+)$") or first):lower()
  return first:match("^[%w_+#-]+$") and #first <= NAME_LENGTH and first or nil
end

local function load(name)
  local tried = { name, vim.treesitter.language.get_lang(name) }
  local ok, filetype = pcall(names.filetype, "a." .. name)
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

---Whether a fence contains a diff, which is highlighted without a parser.
local function is_diff(kind)
  return kind.code:find("^diff") ~= nil or kind.code:find("^patch") ~= nil
end

---Returns the language of a fence. Its first lookup is slow and runs outside of drawing.
---@param kind acp.SegmentKind
---@param found fun() called when a language that is not known yet becomes known
---@return acp.Language|false|nil language false: none; nil: not known yet
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

---@return string line without the fence's indentation; empty if it is too long
---@return integer number of bytes removed at its beginning
local function undented(line, indent)
  local spaces = indent > 0 and #line:match("^ *") or 0
  local cut = math.min(spaces, indent)
  if #line > limits.code_line_bytes then
    return "", 0
  end
  -- Neovim represents NULs as newlines
  return (cut > 0 and line:sub(cut + 1) or line):gsub("\n", " "), cut
end

---Replaces bytes that are not UTF-8, for which grammars take long; keeps the length.
local function valid(code)
  if not characters.is_valid(code) then
    code = code:gsub("[\128-\255]", "?")
  end
  return code
end

---Whether the first line is the opening fence.
local function opens(text)
  return text.kind.above == 0 and text.from == 0
end

---@return string
---@return integer first row of the segment in it
---@return integer[] cuts number of bytes removed from each line
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

---Whether brackets are nested so deeply that finding captures, which takes quadratic time, would be slow.
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

---Parses with a time limit, since grammars may take seconds for a few thousand malformed bytes. A LanguageTree has no
---such limit.
---@return TSTree? tree nil when it took too long
local function parse(code, lang)
  local parser = parsers[lang.name] or vim._create_ts_parser(lang.name)
  parsers[lang.name] = parser
  parser:reset() -- the last parse may be incomplete
  if parser.set_timeout then -- Neovim 0.11
    parser:set_timeout(PARSE_NS / 1000)
    return (parser:parse(nil, code, false))
  end
  return (parser:parse(nil, code, false, PARSE_NS))
end

---@return boolean is_complete
local function colour_tree(rows, text, lang)
  local code, first, cuts = source(text)
  local tree = not is_deep(code) and parse(code, lang)
  if not tree then
    return false
  end
  local at = { first = first, cuts = cuts, lines = text.lines, from = text.from }
  local deadline, seen = os.clock() + CAPTURE_SECONDS, 0
  for id, node, metadata in lang.query:iter_captures(tree:root(), code, first, first + #text.lines) do
    local group = group_of(lang.name, lang.query.captures[id])
    if group then
      add(rows, node, group, math.min(math.max(tonumber(metadata.priority) or 100, 91), 199), at)
    end
    seen = seen + 1
    if seen % 32 == 0 and os.clock() > deadline then
      return false
    end
  end
  return true
end

local function colour_fence(rows, row, line)
  local from, to = line:match("^%s*()[`~]+()")
  spans.add(rows, row, from - 1, to - 1, LABEL, "")
  spans.add(rows, row, to - 1, #line, LABEL)
end

local function colour_diff(rows, lines)
  for row, line in ipairs(lines) do
    local group = line:find("^%+") and "AcpDiffAdded" or line:find("^%-") and "AcpDiffRemoved"
    group = group or line:find("^@@") and "AcpDiffHeader" or nil
    if group then
      spans.add(rows, row, 0, #line, group)
    end
  end
end

---@param rows table<integer, acp.Span[]> of the segment, from 1; gets the highlights
---@param text acp.CodeText
---@param lang? acp.Language|false
---@return boolean is_complete false: there is no parser, or it took too long
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
