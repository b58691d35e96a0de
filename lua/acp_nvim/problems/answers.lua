-- Reads what language servers answer about symbols: places, descriptions, lists of symbols, actions.
local uri = require("acp_nvim.problems.uri")
local values = require("acp_nvim.problems.values")

local M = {}

local DEPTH = 50 -- of nested symbols: people nest ten levels
local HOVER_BYTES = 32 * 1024 -- two pages of a tool's result
local HOVER_PARTS = 50

local is_nothing, is_list, entries, range = values.is_nothing, values.is_list, values.entries, values.range

---@class acp.lsp.Place
---@field uri string as it may be shown
---@field path? string nil: it is no file of this machine
---@field line integer from 0
---@field character integer

---@param name any URI
---@param at? acp.lsp.Position
---@param known? table<string, string|false> paths of URIs that were read before
---@return acp.lsp.Place?
local function place(name, at, known)
  local shown = values.words(name)
  if not shown or not at then
    return nil
  end
  local path = known and known[name]
  if path == nil then
    path = uri.path(name) or false
  end
  if known then
    known[name] = path
  end
  return { uri = shown, path = path or nil, line = at.line, character = at.character }
end

---@param result any Location, or a list of Location or LocationLink
---@param most integer
---@return acp.lsp.Read<acp.lsp.Place>
function M.places(result, most)
  if type(result) == "table" and (result.uri or result.targetUri) then
    result = { result }
  end
  local known = {}
  return entries(result, most, function(one)
    return place(one.uri or one.targetUri, (range(one.range or one.targetSelectionRange or one.targetRange)), known)
  end)
end

---@class acp.lsp.Hover
---@field lines string[]
---@field is_cut boolean
---@field bad integer parts that are no texts

---@param found acp.lsp.Hover
---@param part any string, MarkupContent or MarkedString
---@param left integer bytes that may still be added
---@return integer left
local function add_part(found, part, left)
  local is_table = type(part) == "table"
  local value = is_table and part.value or part
  if type(value) ~= "string" then
    found.bad = found.bad + 1
    return left
  end
  local text = values.cut(value, left) -- before it is split
  found.is_cut = found.is_cut or #text < #value
  local language = is_table and not part.kind and values.words(part.language)
  vim.lsp.util.convert_input_to_markdown_lines(language and { language = language, value = text } or text, found.lines)
  return left - #text
end

---@param result any Hover
---@return acp.lsp.Hover
function M.hover(result)
  local found = { lines = {}, is_cut = false, bad = 0 }
  if is_nothing(result) then
    return found
  end
  local contents = type(result) == "table" and result.contents
  local parts = is_list(contents) and contents --[[@as any[] ]] or { contents }
  local left = HOVER_BYTES
  for index = 1, math.min(#parts, HOVER_PARTS) do
    left = add_part(found, parts[index], left)
  end
  found.is_cut = found.is_cut or #parts > HOVER_PARTS
  if #found.lines == 1 and found.lines[1] == "" then
    found.lines = {}
  end
  return found
end

---@class acp.lsp.Symbol
---@field name string
---@field full string name, with those of the symbols that it is in
---@field kind? string in words
---@field place? acp.lsp.Place of its name; nil: only the file is known, or nothing
---@field first? integer line from 0
---@field last? integer line from 0, included

---@param value any
---@return string?
local function kind_of(value)
  local name = type(value) == "number" and vim.lsp.protocol.SymbolKind[value]
  return type(name) == "string" and name:lower() or nil
end

---@param one table DocumentSymbol, SymbolInformation or WorkspaceSymbol
---@param within string
---@return acp.lsp.Symbol? nil: it is wrong
local function symbol(one, within)
  local name, location = values.words(one.name), type(one.location) == "table" and one.location or {}
  local span = one.range or location.range
  local first, last = range(span)
  if not name or span ~= nil and not first then
    return nil
  end
  local at = (range(one.selectionRange)) or first or (location.uri and { line = 0, character = 0 }) or nil
  return {
    name = name,
    full = values.cut(within .. name, values.NAME_BYTES),
    kind = kind_of(one.kind),
    place = place(location.uri or "", at),
    first = first and first.line,
    last = last and (last.character == 0 and last.line > first.line and last.line - 1 or last.line),
  }
end

---@param result any list of DocumentSymbol, SymbolInformation or WorkspaceSymbol
---@param most integer symbols, nested ones included, that are looked at
---@return acp.lsp.Read<acp.lsp.Symbol>
function M.symbols(result, most)
  local found = { bad = 0, is_cut = false }
  local looked = 0
  local function add(list, within, depth)
    if not is_nothing(list) and not is_list(list) then
      found.bad = found.bad + 1
      return
    end
    for _, one in ipairs(is_nothing(list) and {} or list) do
      if looked == most or depth > DEPTH then
        found.is_cut = true
        return
      end
      looked = looked + 1
      local read = type(one) == "table" and symbol(one, within) or nil
      if read then
        found[#found + 1] = read
        add(one.children, read.full .. ".", depth + 1)
      else
        found.bad = found.bad + 1
      end
    end
  end
  add(result, "", 1)
  return found
end

---@class acp.lsp.Action
---@field title string
---@field kind? string
---@field disabled? string why it cannot be done now
---@field has_command boolean
---@field edit? table to be read by `workspace_edit`
---@field raw table as the server has sent it

---@param one any CodeAction or Command
---@return acp.lsp.Action?
function M.action(one)
  local title = type(one) == "table" and values.words(one.title)
  if not title then
    return nil
  end
  local disabled = not is_nothing(one.disabled) and one.disabled ~= false and one.disabled
  local reason = type(disabled) == "table" and values.words(disabled.reason)
  return {
    title = title,
    kind = values.words(one.kind),
    disabled = disabled and (reason or "it cannot be done now") or nil,
    has_command = not is_nothing(one.command),
    edit = type(one.edit) == "table" and one.edit or nil,
    raw = one,
  }
end

---@param result any
---@param most integer
---@return acp.lsp.Read<acp.lsp.Action>
function M.actions(result, most)
  return entries(result, most, M.action)
end

return M
