-- Only one module shows buffers in windows, and only one has Neovim compare buffers with their files: Neovim would ask
-- the user about a file that has changed.
local nodes = require("nodes")

local SWITCH = "windows/switch.lua"
local FILE_CHECK = "buffers/file_check.lua"
local WHY = "only %s does this, so that Neovim does not ask about a changed file while the user types"

---@type table<string, string[]> functions, and the files that may call them
local FUNCTIONS = {
  nvim_win_set_buf = { SWITCH },
  nvim_set_current_buf = { SWITCH },
  nvim_open_win = {
    SWITCH,
    -- only buffers of the plugin, which have a 'buftype': Neovim compares them with no file
    "keys/help.lua",
    "chat/windows/frame.lua",
    "kernel/answer.lua",
    "chat/windows/pin.lua",
    "chat/windows/splits.lua",
    "forms/editing.lua",
    "permission/reader.lua",
    "permission/window.lua",
  },
  nvim_buf_delete = {
    SWITCH,
    "buffers/gone.lua", -- an unloaded buffer, which no window shows
  },
}

---@type table<string, string> Ex commands, and the file that may run them
local COMMANDS = { checktime = FILE_CHECK, checkt = FILE_CHECK }
for name in
  ([[
    argument b ball bd bdelete bfirst blast bmodified bn bnext bp bprevious buffer bunload bw bwipeout cc cfirst clast
    cnext cprevious lfirst ll lnext lprevious next previous rewind sb sball sbnext sbprevious sbuffer
    tag tjump tselect wnext
  ]]):gmatch("%a+")
do
  COMMANDS[name] = SWITCH
end

local MODIFIERS = {}
for name in
  ([[
    silent noautocmd keepalt keepjumps keepmarks lockmarks tab botright topleft vertical aboveleft belowright execute
  ]]):gmatch("%a+")
do
  MODIFIERS[name] = true
end

---@param text string
---@return string[] names of the commands in a line
local function commands_in(text)
  local out = {}
  for _, part in ipairs(vim.split(text, "|", { plain = true })) do
    part = vim.trim(part:gsub("%%[sd]", ""))
    local name, rest = part:match("^[%d,.%%$]*(%a+)!?(.*)$")
    while name and MODIFIERS[name] do
      name, rest = vim.trim(rest):match("^(%a+)!?(.*)$")
    end
    out[#out + 1] = name == "call" and rest:match("(nvim_[%w_]+)") or name
  end
  return out
end

---@param node TSNode
---@param file check.File
---@return boolean the string is a command, or part of one
local function is_run(node, file)
  local parent = node:parent()
  while parent do
    if parent:type() == "function_call" then
      local called = nodes.text(parent:field("name")[1], file)
      if not called:find(":format$") then
        return called:find("^vim%.cmd") ~= nil
          or called:find("nvim_command$") ~= nil
          or called:find("nvim_exec2$") ~= nil
          or called == "pcall" and nodes.text(parent, file):find("^pcall%(vim%.cmd") ~= nil
      end
    end
    parent = parent:parent()
  end
  return false
end

---@param node TSNode
---@param file check.File
---@return string[] functions and commands
local function named(node, file)
  local text = nodes.text(node, file)
  if node:type() == "dot_index_expression" then
    text = text:gsub("%s", "")
    return { text:match("^vim%.cmd%.(%a+)$") or text:match("%.(nvim_[%w_]+)$") }
  elseif node:type() == "string" and is_run(node, file) then
    return commands_in((text:gsub("^[\"'%[]+", ""):gsub("[\"'%]]+$", "")))
  end
  return {}
end

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems, own = {}, file.name:gsub("^lua/acp_nvim/", "")
  nodes.walk(file.tree, function(node)
    for _, name in ipairs(named(node, file)) do
      local only = FUNCTIONS[name] or COMMANDS[name] and { COMMANDS[name] }
      if only and not vim.list_contains(only, own) then
        problems[#problems + 1] = { line = nodes.line(node), text = ("`%s`: %s"):format(name, WHY:format(only[1])) }
      end
    end
  end)
  return problems
end
