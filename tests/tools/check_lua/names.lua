-- Names are data: what agents, servers and files are called never becomes a pattern, a command or an expression. The
-- functions that would make it one are forbidden, except in the files that are listed here with the reason.
local nodes = require("nodes")

---@class check.NameRule
---@field only? string[] modules that may
---@field given? string pattern of the first argument of a call that any file may make
---@field why string

---@param file check.File
---@return string its path from the folder of the modules
local function module(file)
  return (file.name:gsub("^lua/acp_nvim/", ""))
end

local EXPANDS = "a name would be expanded, or taken for a pattern; names.lua has what is safe"
local NUMBER = "bufnr%)?$" -- any other value may be a name, which is a pattern

local PATTERN = "text from outside would be a pattern"
local COMMAND = "text from outside would be a command"
local KEYS = "text from outside would be typed"
local SHOWS = "opens what a server or an agent names, and whatever that is"
local COMPUTED = "the check cannot see which function this is"

---@param why string
---@param only? string[]
---@param given? string
---@return check.NameRule
local function rule(why, only, given)
  return { why = why, only = only, given = given }
end

---@type table<string, check.NameRule> by what an expression names
local RULES = {
  ["vim.fn.bufwinid"] = rule(EXPANDS, nil, NUMBER),
  ["vim.fn.getbufinfo"] = rule(EXPANDS, { "windows/switch.lua" }, NUMBER),
  ["vim.fn.bufload"] = rule(EXPANDS, nil, NUMBER),
  -- programs: the user configures them, or the plugin names them
  ["vim.fn.executable"] = rule(EXPANDS, {
    "config/agents.lua",
    "prompt/images.lua",
    "mentions/words.lua",
    "host/environment.lua",
    "host/python.lua",
    "health/init.lua",
  }),
  ["vim.fn.exepath"] = rule(EXPANDS, { "host/environment.lua", "health/agents.lua", "names.lua" }),
  -- a path that is constant
  ["vim.api.nvim_get_runtime_file"] = rule("runs commands in names", { "host/environment.lua" }),
  -- of a language whose parser is loaded: Neovim has checked its name
  ["vim.treesitter.query.get"] = rule(
    "runs commands in names",
    { "transcript/markdown/code.lua", "review/hunks/syntax.lua" }
  ),
  -- a loaded buffer is found by its name before: here only for names of ours, and files that were renamed
  ["vim.api.nvim_buf_set_name"] = rule(
    "a buffer's name decides which file is written",
    { "buffers/named.lua", "buffers/gone.lua", "terminals/init.lua", "login/terminal.lua", "forms/editing.lua" }
  ),
  -- filename and text are data there, but for what the user's 'quickfixtextfunc' makes of them
  ["vim.fn.setqflist"] = rule(EXPANDS, { "review/files/quickfix.lua" }),
  -- patterns of the user: of an autocommand, and of a search with \V
  ["vim.regex"] = rule(PATTERN, { "buffers/handled.lua" }),
  ["vim.fn.search"] = rule(PATTERN, { "sessions/kept.lua" }),
  -- keys that are constant or mapped
  ["vim.api.nvim_feedkeys"] = rule(
    KEYS,
    { "actions/targets/init.lua", "keys/temporary.lua", "forms/editing.lua", "keys/typed_ahead.lua" }
  ),
  ["vim.api.nvim_input"] = rule(KEYS, { "buffers/pending.lua" }),
  ["vim.api.nvim_exec2"] = rule(COMMAND, { "kernel/autocmds.lua", "kernel/notifier.lua" }), -- constants
  ["vim.api[]"] = rule(COMPUTED),
  ["vim.cmd[]"] = rule(COMPUTED),
}

---@param prefix string
---@param words string separated by blanks
---@param why string
---@param only? string[]
local function forbid(prefix, words, why, only)
  for word in words:gmatch("%S+") do
    RULES[prefix .. word] = rule(why, only)
  end
end

local OURS = { "names.lua" }
forbid("vim.fn.", "bufnr expand fnamemodify", EXPANDS, OURS)
forbid("vim.fn.", "bufname bufexists buflisted bufloaded bufwinnr getbufline getbufoneline", EXPANDS)
forbid("vim.fn.", "getbufvar setbufvar setbufline appendbufline deletebufline prompt_setprompt", EXPANDS)
forbid("vim.fn.", "buffer_exists buffer_name buffer_number glob globpath expandcmd findfile finddir", EXPANDS)
forbid("vim.fn.", "resolve setloclist chdir undofile getcompletion", EXPANDS)
forbid("vim.fn.", "searchpos searchcount matchadd match matchstr matchlist substitute", PATTERN)
forbid("vim.fn.", "eval win_execute luaeval py3eval call funcref", COMMAND)
forbid("vim.fn.", "execute", COMMAND, { "buffers/file_check.lua" }) -- a constant
forbid("vim.fn.", "feedkeys", KEYS)
forbid("vim.api.", "nvim_cmd", COMMAND, OURS)
forbid("vim.api.", "nvim_command nvim_exec nvim_eval", COMMAND)
forbid("vim.api.", "nvim_eval_statusline nvim_set_current_dir", COMMAND)
forbid("", "loadstring", COMMAND)
forbid("vim.filetype.", "match", EXPANDS, OURS)
forbid("vim.fs.", "normalize", EXPANDS, OURS)
forbid("vim.fs.", "find", EXPANDS)
forbid("vim.lsp.util.", "open_floating_preview stylize_markdown", SHOWS)

---Commands of `vim.cmd` that take no name.
local NAMELESS = {}
for word in ("redraw tabclose bwipeout wincmd startinsert stopinsert enew"):gmatch("%S+") do
  NAMELESS[word] = true
end

---Files that put commands together, of numbers and of what Neovim itself says.
local COMPOSES = {
  ["windows/own.lua"] = "winrestcmd()",
  ["transcript/folds/manual.lua"] = "folds: numbers of lines",
  ["buffers/pending.lua"] = "a key",
  ["buffers/file_buffer.lua"] = "string() of 'shortmess'",
  ["buffers/named.lua"] = "a filetype that is a constant",
  ["buffers/file_check.lua"] = "a value of 'buftype' that is a constant",
  ["windows/switch.lua"] = "a modifier that is a constant",
}

---Files whose autocommands have other patterns than constants.
local PATTERNS = {
  ["chat/windows/init.lua"] = "a window",
  ["review/hunks/watch.lua"] = "constants",
  ["kernel/autocmds.lua"] = "constants",
}

---Options that are evaluated; `reader.lua` doubles each percent sign.
local EVALUATED = { winbar = true, statusline = true, tabline = true, titlestring = true, statuscolumn = true }
for word in ("foldexpr indentexpr formatexpr includeexpr foldtext iconstring rulerformat path tags"):gmatch("%S+") do
  EVALUATED[word] = true
end
local EVALUATES = { ["permission/reader.lua"] = true }

local VIM_SCRIPT = { "glob", "globpath", "expand", "system", "systemlist", "execute", "eval", "bufnr", "bufname" }

---@param node TSNode
---@param file check.File
---@return boolean its value is put together of constants and numbers
local function is_constant(node, file)
  local kind = node:type()
  local first, second = node:named_child(0), node:named_child(1)
  if kind == "string" or kind == "number" then
    return true
  elseif kind == "parenthesized_expression" then
    return is_constant(first, file)
  elseif kind == "table_constructor" or kind == "field" then
    for child in node:iter_children() do
      if child:named() and not is_constant(child, file) then
        return false
      end
    end
    return true
  elseif kind == "binary_expression" then
    local operator = nodes.text(node:child(1), file)
    return is_constant(second, file) and (operator == "and" or is_constant(first, file))
  elseif kind ~= "function_call" or first:type() ~= "method_index_expression" then
    return false
  end
  local format = first:field("table")[1]
  format = format:type() == "parenthesized_expression" and format:named_child(0) or format
  return format:type() == "string"
    and nodes.text(first:field("method")[1], file) == "format"
    and not nodes.content(format, file):gsub("%%%%", ""):find("%%[^d]")
end

---@param call TSNode
---@return TSNode[]
local function arguments(call)
  local out = {}
  for child in call:field("arguments")[1]:iter_children() do
    if child:named() then
      out[#out + 1] = child
    end
  end
  return out
end

---@param node TSNode that names `vim.cmd`
---@param file check.File
---@return string? problem
local function of_cmd(node, file)
  local parent = node:parent()
  if parent:type():find("_index_expression$") then -- its path has been looked at
    return nil
  elseif parent:type() == "variable_list" or parent:parent():type() == "assignment_statement" then
    return nil -- an alias
  end
  local is_protected = parent:type() == "arguments" and nodes.path(parent:parent():field("name")[1], file) == "pcall"
  local call = is_protected and parent:parent() or parent
  local command = call:type() == "function_call" and arguments(call)[is_protected and 2 or 1]
  if command and command:type() ~= "table_constructor" and is_constant(command, file) then
    return nil
  end
  return COMPOSES[module(file)] == nil and COMMAND or nil
end

---@param node TSNode
---@param file check.File
---@return string? problem
local function of_path(node, file)
  local path = nodes.path(node, file)
  local name, found = module(file), path and RULES[path]
  if path == "vim.cmd" then
    return of_cmd(node, file)
  elseif path and vim.startswith(path, "vim.cmd.") and name ~= "names.lua" then
    return not NAMELESS[path:sub(#"vim.cmd." + 1)] and COMMAND or nil
  elseif not found or vim.list_contains(found.only or {}, name) then
    return nil
  end
  local call = found.given and node:parent()
  local given = call and call:type() == "function_call" and arguments(call)[1]
  if given and nodes.text(given, file):find(found.given) then
    return nil
  end
  return found.why
end

---@param node TSNode a call
---@param file check.File
---@return string? problem an autocommand with a pattern that is no constant
local function of_autocommand(node, file)
  local path = nodes.path(node:field("name")[1], file) or ""
  local options = path:find("^vim%.api%.nvim_[a-z]+_autocmds?$") and arguments(node)[path:find("create") and 2 or 1]
  options = path == "vim.api.nvim_exec_autocmds" and arguments(node)[2] or options
  for child in (options or node):iter_children() do
    local key = options and child:type() == "field" and child:field("name")[1]
    if key and nodes.text(key, file) == "pattern" and not is_constant(child:field("value")[1], file) then
      return PATTERNS[module(file)] == nil and PATTERN or nil
    end
  end
end

---@param node TSNode an assignment
---@param file check.File
---@return string? problem an option that is evaluated gets a value that is no constant
local function of_option(node, file)
  local names, values = node:named_child(0), node:named_child(1)
  for index = 0, math.min(names:named_child_count(), values:named_child_count()) - 1 do
    local path = nodes.path(names:named_child(index), file) or ""
    local option = path:match("^vim%.[bwg]?o[%[%]]*[%[%]]*%.(%w+)$")
    if option and EVALUATED[option] and not is_constant(values:named_child(index), file) then
      return not EVALUATES[module(file)] and COMMAND or nil
    end
  end
end

---@param node TSNode a string
---@param file check.File
---@return string? problem Vim script that expands
local function of_string(node, file)
  local text = nodes.text(node, file)
  for _, name in ipairs(VIM_SCRIPT) do
    if text:find("%f[%w:_.]" .. name .. "%(") and not text:find("expand('<abuf>')", 1, true) then
      return EXPANDS
    end
  end
end

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems = {}
  nodes.walk(file.tree, function(node)
    local kind, problem = node:type(), nil
    if kind == "identifier" and not nodes.is_field(node) or kind:find("_index_expression$") then
      problem = of_path(node, file)
    elseif kind == "function_call" then
      problem = of_autocommand(node, file)
    elseif kind == "assignment_statement" then
      problem = of_option(node, file)
    elseif kind == "string" then
      problem = of_string(node, file)
    end
    if problem then
      local text = nodes.text(node, file):match("^[^\n]*")
      problems[#problems + 1] = { line = nodes.line(node), text = ("`%s`: %s"):format(text, problem) }
    end
  end)
  return problems
end
