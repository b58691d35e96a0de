-- Files that somebody else names are read by buffers/file_buffer.lua only, which checks kind and size before. Finds what
-- reads files, or has Neovim read them, by its name: through whatever variable, with dots or brackets, or as a string.
local nodes = require("nodes")

local OPENED = "files are opened by buffers/file_buffer.lua, which refuses what could not be read at once"

---Functions by their last name, with the files that may use them.
---@type table<string, string[]>
local READERS = {
  bufadd = { "buffers/file_buffer.lua" },
  bufload = { "buffers/named.lua" },
  readfile = {},
  readblob = {},
  taglist = {},
  swapinfo = { "buffers/swap.lua" },
  fs_open = {
    "host/environment.lua",
    "prompt/history.lua",
    "prompt/images.lua",
    "prompt/lsp_server.lua",
    "buffers/file_buffer.lua",
    "kernel/state_files.lua",
  },
  fs_copyfile = { "tutor/init.lua" },
  fs_sendfile = {},
  -- of vim.lsp.util, vim.lsp and vim: these read the files that a language server names, or load them
  locations_to_items = {},
  symbols_to_items = {},
  apply_text_edits = {},
  apply_text_document_edit = {},
  apply_workspace_edit = {},
  show_document = {},
  jump_to_location = {},
  preview_location = {},
  uri_to_bufnr = {},
  tagfunc = {},
  -- these call a function by any name
  nvim_call_function = {},
  nvim_call_dict_function = {},
}

---Functions and modules by their whole name, and variables that lead to some.
---@type table<string, string[]>
local WHOLE = {
  ["vim.secure"] = {},
  ["vim.call"] = {},
  ["vim.lsp.buf"] = {},
  ["vim.lsp.util.rename"] = {},
  io = { "kernel/state_files.lua" },
  dofile = { "host/environment.lua" }, -- of a file of the plugin
  loadfile = {},
}

---Tables of functions that no variable may hold: it would hide which function is called.
local UNNAMED = { ["vim.fn"] = true, ["vim.lsp"] = true, ["vim.lsp.util"] = true }

---Ex commands that read the file they are given.
local COMMANDS = {}
for name in
  ("read tabedit new vnew sview pedit drop find source luafile runtime rundo rshada recover tag vimgrep cfile lfile argedit argadd"):gmatch(
    "%a+"
  )
do
  COMMANDS[name] = true
end

---@param node TSNode
---@param file check.File
---@return string? text of a string
local function literal(node, file)
  local content = node:type() == "string" and node:field("content")[1]
  return content and nodes.text(content, file) or nil
end

---@param node TSNode
---@return boolean it is an expression with a dot or brackets
local function is_index(node)
  return node:type() == "dot_index_expression" or node:type() == "bracket_index_expression"
end

---@param node TSNode
---@param file check.File
---@return string? name with dots, also of `vim["fn"]`
---@return string? last
local function name_of(node, file)
  if node:type() == "identifier" then
    local name = nodes.text(node, file)
    return name, name
  elseif not is_index(node) then
    return nil
  end
  local base, field = name_of(node:field("table")[1], file), node:field("field")[1]
  local last = node:type() == "dot_index_expression" and nodes.text(field, file) or literal(field, file)
  return base and last and ("%s.%s"):format(base, last) or nil, last
end

---@param node TSNode
---@return boolean the node is a name of a member, and no variable
local function is_member(node)
  local parent = assert(node:parent())
  local kind = parent:type()
  local of_parent = (kind == "dot_index_expression" and parent:field("field")[1])
    or (kind == "field" and parent:field("name")[1])
    or (kind == "method_index_expression" and parent:field("method")[1])
  return of_parent ~= nil and of_parent ~= false and of_parent:equal(node)
end

---@param node TSNode
---@return TSNode? parent that indexes it
local function indexed(node)
  local parent = node:parent()
  return parent and is_index(parent) and parent:field("table")[1]:equal(node) and parent or nil
end

---@param node TSNode of a name
---@param file check.File
---@return string[]? only the files that may use it, if not all
local function rule_of(node, file)
  local whole, last = name_of(node, file)
  local is_variable = node:type() ~= "identifier" or not is_member(node)
  whole = whole and whole:gsub("^_G%.", "")
  if not is_variable then
    return nil
  elseif whole and UNNAMED[whole] then
    local parent = indexed(node)
    return (not parent or not select(2, name_of(parent, file))) and {} or nil
  elseif whole and COMMANDS[whole:match("^vim%.cmd%.(%a+)$")] then
    return {}
  end
  return WHOLE[whole] or is_index(node) and READERS[last] or nil
end

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems, name = {}, file.name:gsub("^lua/acp_nvim/", "")
  nodes.walk(file.tree, function(node)
    local text = literal(node, file)
    local only = READERS[text or ""] or (not text and rule_of(node, file)) or nil
    local shown = indexed(node) or node
    local is_within = text and is_index(assert(node:parent())) -- is reported with the whole expression
    if only and not is_within and not vim.list_contains(only, name) then
      problems[#problems + 1] = { line = nodes.line(node), text = ("`%s`: %s"):format(nodes.text(shown, file), OPENED) }
    end
  end)
  return problems
end
