-- Finds the parser for the word behind a fence; what is slow the first time is done by itself, not while drawing.
local M = {}

local LENGTH = 30 -- characters of a language's name
-- its grammar ends Neovim with a segmentation fault where quotes are nested deeply
local NEVER = { markdown = true, markdown_inline = true }

---@class acp.Language
---@field name string of the parser
---@field query vim.treesitter.Query

---@type table<string, acp.Language|false> by the word
local known = {}
local count = 0
---@type table<string, fun()[]> words that are being looked for -> who waits for them
local wanted = {}

---@param info string what stands behind the fence: "lua", "{.python}", "rust,ignore", "12:20:src/main.ts"
---@return string?
local function word(info)
  local first = info:match("^[{.%s]*([^%s,{}]+)") or ""
  first = first:match("[^/:]*$")
  first = (first:match("%.([%w_+#-]+)$") or first):lower()
  return first:match("^[%w_+#-]+$") and #first <= LENGTH and first or nil
end

---@param name string
---@return string? parser that is installed
local function parser_of(name)
  local tried = { name, vim.treesitter.language.get_lang(name) }
  local ok, filetype = pcall(vim.filetype.match, { filename = "a." .. name })
  if ok and filetype then
    tried[#tried + 1] = vim.treesitter.language.get_lang(filetype) or filetype
  end
  for _, one in ipairs(tried) do
    local loaded, there = pcall(vim.treesitter.language.add, one)
    if loaded and there and not NEVER[one] then
      return one
    end
  end
end

---@param name string
---@return acp.Language|false
local function load(name)
  local parser = parser_of(name)
  local ok, query = pcall(vim.treesitter.query.get, parser or "", "highlights")
  return parser and ok and query and { name = parser, query = query } or false
end

---@param info string
---@param found fun() called once it is known, if it is not yet
---@return acp.Language|false|nil language false: there is none; nil: not known yet
function M.of(info, found)
  local name = word(info)
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
    if count >= 200 then -- words are the agent's, there may be any number
      known, count = {}, 0
    end
    known[name] = load(name)
    count = count + 1
    for _, tell in ipairs(waiting) do
      tell()
    end
  end)
end

return M
