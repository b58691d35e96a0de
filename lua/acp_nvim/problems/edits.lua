-- Reads the edits that language servers propose. One of which a part is wrong, or too much, is refused as a whole.
local uri = require("acp_nvim.problems.uri")
local values = require("acp_nvim.problems.values")

local M = {}

local EDITS = 20000 -- of one answer: as many changed places as a file of 8 MB can sensibly have
local EDITED_FILES = 1000 -- more than the host lets a user be asked about
local EDIT_BYTES = 16 * 1024 * 1024 -- of all new texts together

local MALFORMED = "The language server has sent a malformed edit. Nothing was done."

local is_nothing, is_list, range = values.is_nothing, values.is_list, values.range

---@class acp.lsp.FileEdits
---@field uri string
---@field path? string
---@field version? integer that the server has edited
---@field edits acp.LspEdit[]

---@class acp.lsp.EditSizes
---@field edits integer
---@field bytes integer

---@param list any TextEdit[]
---@param into acp.LspEdit[]
---@param sizes acp.lsp.EditSizes of the whole answer
---@return string? problem an edit of which a part is left out would be another one
local function text_edits(list, into, sizes)
  if is_nothing(list) or not is_list(list) then
    return MALFORMED
  end
  sizes.edits = sizes.edits + #list
  if sizes.edits > EDITS then
    return ("The language server wants to change more than %d places. Nothing was done."):format(EDITS)
  end
  for _, one in ipairs(list) do
    local first, last = nil, nil
    if type(one) == "table" and type(one.newText) == "string" then
      first, last = range(one.range)
    end
    if not first or not last then
      return MALFORMED
    end
    sizes.bytes = sizes.bytes + #one.newText
    into[#into + 1] = {
      line = first.line,
      character = first.character,
      end_line = last.line,
      end_character = last.character,
      text = one.newText,
    }
  end
  if sizes.bytes > EDIT_BYTES then
    return ("The language server wants to insert more than %d MB. Nothing was done."):format(EDIT_BYTES / 1024 ^ 2)
  end
end

---@param value any TextEdit[] about one file
---@return acp.LspEdit[]?
---@return string? problem
function M.edits(value)
  local found = {}
  local problem = not is_nothing(value) and text_edits(value, found, { edits = 0, bytes = 0 }) or nil
  if problem then
    return nil, problem
  end
  return found
end

---@class acp.lsp.WorkspaceEdit
---@field files table<string, acp.lsp.FileEdits> by URI
---@field has_operations boolean it creates, renames or deletes files

---@param value any WorkspaceEdit
---@return acp.lsp.WorkspaceEdit?
---@return string? problem
function M.workspace_edit(value)
  local files, sizes, number = {}, { edits = 0, bytes = 0 }, 0 ---@type table<string, acp.lsp.FileEdits>
  local function add(name, list, version)
    if type(name) ~= "string" then
      return MALFORMED
    elseif not files[name] then
      number = number + 1
      files[name] = { uri = values.words(name), path = uri.path(name), edits = {} }
    end
    if number > EDITED_FILES then
      return ("The language server wants to change more than %d files. Nothing was done."):format(EDITED_FILES)
    end
    files[name].version = type(version) == "number" and version or nil
    return text_edits(list, files[name].edits, sizes)
  end
  if type(value) ~= "table" then
    return nil, MALFORMED
  end
  local changes, per_document = value.changes, value.documentChanges
  if not is_nothing(per_document) then
    if not is_list(per_document) or #per_document > EDITS then
      return nil, MALFORMED
    end
    for _, one in ipairs(per_document) do
      if type(one) == "table" and one.kind then
        return { files = {}, has_operations = true }
      end
      local document = type(one) == "table" and one.textDocument
      local problem = type(document) ~= "table" and MALFORMED or add(document.uri, one.edits, document.version)
      if problem then
        return nil, problem
      end
    end
  elseif not is_nothing(changes) then
    if type(changes) ~= "table" then
      return nil, MALFORMED
    end
    for name, list in pairs(changes) do
      local problem = add(name, list)
      if problem then
        return nil, problem
      end
    end
  end
  return { files = files, has_operations = false }
end

return M
