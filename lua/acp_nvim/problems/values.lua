-- Checks single values of what language servers answer, and bounds them, before anything works with them: a server may
-- send anything, of any size, and what it says of a project is written by whoever wrote that.
local M = {}

local LARGEST = 2 ^ 31 - 1 -- some servers name the end of a text by a number that no integer holds
M.NAME_BYTES = 500 -- of a symbol with those that it is in, of a title, of a URI that is shown
local ENCODINGS = { ["utf-8"] = true, ["utf-16"] = true, ["utf-32"] = true }

---Entries of an answer, and what is not among them.
---@class acp.lsp.Read<T>: { [integer]: T }
---@field bad integer entries that are none, or wrong
---@field is_cut boolean there are more

---@class acp.lsp.Position
---@field line integer from 0
---@field character integer from 0, in the units of the server's encoding

---@param text string
---@param most integer bytes
---@return string text cut between two characters
function M.cut(text, most)
  return #text > most and text:sub(1, most + vim.str_utf_start(text, most + 1)) or text
end

---@param value any
---@param most? integer bytes
---@return string? line without control characters; nil: it is no text
function M.words(value, most)
  if type(value) ~= "string" then
    return nil
  end
  return (M.cut(value, most or M.NAME_BYTES):gsub("%c", " "))
end

---@param value any
---@return boolean nothing was answered
function M.is_nothing(value)
  return value == nil or value == vim.NIL
end

---@param value any
---@return boolean
function M.is_list(value)
  return type(value) == "table" and (#value > 0 or next(value) == nil)
end

---@generic T
---@param value any
---@param most integer entries that are looked at
---@param read fun(entry: table): T? nil: the entry is wrong
---@return acp.lsp.Read<T>
function M.entries(value, most, read)
  local found = { bad = 0, is_cut = false }
  if M.is_nothing(value) then
    return found
  elseif not M.is_list(value) then
    found.bad = 1
    return found
  end
  for index = 1, math.min(#value, most) do
    local one = type(value[index]) == "table" and read(value[index]) or nil
    if one then
      found[#found + 1] = one
    else
      found.bad = found.bad + 1
    end
  end
  found.is_cut = #value > most
  return found
end

---@param value any
---@return integer? 0 or more; nil: it is no whole number
function M.count(value)
  return type(value) == "number" and value >= 0 and value % 1 == 0 and math.min(value, LARGEST) or nil
end

---@param value any
---@return acp.lsp.Position?
local function position(value)
  local line = type(value) == "table" and M.count(value.line)
  local character = line and M.count(value.character)
  return character and { line = line, character = character } or nil
end

---@param value any
---@return acp.lsp.Position? first
---@return acp.lsp.Position? last
function M.range(value)
  local first = type(value) == "table" and position(value.start)
  local last = first and position(value["end"])
  if first and last then
    return first, last
  end
end

---@param client vim.lsp.Client
---@return string encoding of its positions: the one of the protocol if it says another one than there is
function M.encoding(client)
  return ENCODINGS[client.offset_encoding] and client.offset_encoding or "utf-16"
end

---@param err any
---@return string
function M.error(err)
  local words = M.words(type(err) == "table" and err.message or err)
  return words and words ~= "" and words or "it has failed"
end

---@param found acp.lsp.Read<any>
---@return string? note about what could not be read
function M.note(found)
  if found.bad > 0 then
    local what = found.bad == 1 and "1 entry" or ("%d entries"):format(found.bad)
    return ("%s of what the language server has answered cannot be read: this may be incomplete."):format(what)
  end
end

return M
