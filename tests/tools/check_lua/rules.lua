-- What only some files may do, or none: speak to the user, ask, wait, start programs, open files that somebody else may have made.
local nodes = require("nodes")

---@class check.Rule
---@field only? string|string[] the file that may, or the files
---@field why string

local OPENED = "files are opened by buffers/file_buffer.lua, which refuses what could not be read at once"
local ASKS = "only kernel/dialog.lua asks the user: never within a batch of events, nor while Neovim exits"

---@type table<string, check.Rule> by the text of an expression
local RULES = {
  ["vim.notify"] = { only = "kernel/message.lua", why = "only kernel/message.lua speaks to the user" },
  ["vim.notify_once"] = { only = "kernel/message.lua", why = "only kernel/message.lua speaks to the user" },
  ["vim.ui.select"] = { only = "kernel/dialog.lua", why = ASKS },
  ["vim.ui.input"] = { only = "kernel/dialog.lua", why = ASKS },
  ["vim.fn.input"] = { only = "kernel/dialog.lua", why = ASKS },
  ["vim.fn.inputsecret"] = { only = "kernel/dialog.lua", why = ASKS },
  ["vim.fn.inputlist"] = { why = ASKS },
  ["vim.fn.inputdialog"] = { why = ASKS },
  ["vim.fn.confirm"] = { only = "kernel/dialog.lua", why = ASKS },
  ["vim.fn.getchar"] = { why = ASKS },
  ["vim.fn.getcharstr"] = { why = ASKS },
  ["vim.wait"] = { why = "the editor never waits" },
  ["vim.fn.wait"] = { why = "the editor never waits" },
  ["vim.fn.system"] = { only = "health/init.lua", why = "the editor never waits" },
  ["vim.fn.systemlist"] = { only = "health/init.lua", why = "the editor never waits" },
  ["vim.rpcrequest"] = { why = "the editor never waits for the host" },
  ["vim.fn.rpcrequest"] = { why = "the editor never waits for the host" },
  ["io.popen"] = { why = "the editor never waits" },
  ["os.execute"] = { why = "the editor never waits" },
  [":wait"] = { only = { "health/init.lua", "health/agents.lua" }, why = "the editor never waits" },
  ["vim.cmd.edit"] = { why = OPENED },
  ["vim.cmd.split"] = { why = OPENED },
  ["vim.cmd.vsplit"] = { why = OPENED },
  ["vim.cmd.badd"] = { why = OPENED },
  ["vim.cmd.view"] = { why = OPENED },

  ["vim.ui.open"] = {
    only = "kernel/external.lua",
    why = "only kernel/external.lua starts the system's program: it asks first",
  },
}

-- Ex commands that read the file they are given, at the beginning of a string or after what modifies them
local READS = vim.regex(
  [[\v\C^(%(silent!?|keepalt|keepjumps|noautocmd|botright|topleft|tab|belowright|aboveleft)\s+)*]]
    .. [[%(e%[dit]|sp%[lit]|vs%[plit]|tabe%[dit]|tabnew|new|vne%[w]|vie%[w]|sv%[iew]|bad%[d]|dr%[op]|fin%[d]|r%[ead]|ped%[it]|so%[urce])]]
    .. [[!?\s]]
)

---@param node TSNode
---@param file check.File
---@return string? what it names, as the rules spell it
local function expression(node, file)
  if node:type() == "method_index_expression" then
    return ":" .. nodes.text(node:field("method")[1], file)
  end
  return node:type():find("_index_expression$") and nodes.path(node, file) or nil
end

---@param only? string|string[]
---@param name string
---@return boolean
local function may(only, name)
  return only == name or type(only) == "table" and vim.list_contains(only, name)
end

---@param node TSNode
---@param file check.File
---@return string? a command that reads a file
local function reading(node, file)
  if node:type() ~= "string" then
    return nil
  end
  local parent = node:parent()
  while parent and parent:type() ~= "function_call" do
    parent = parent:parent()
  end
  local called = parent and nodes.text(parent:field("name")[1], file) or ""
  local text = nodes.text(node, file):gsub("^[\"']", ""):gsub("[\"']$", "")
  local is_command = called:find("^vim%.cmd") or called:find("^pcall$") or called:find(":format$")
  return is_command and (READS:match_str(text) or text:find("bufload(", 1, true)) and text or nil
end

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems = {}
  nodes.walk(file.tree, function(node)
    local text = expression(node, file)
    local rule = text and RULES[text]
    local name = file.name:gsub("^lua/acp_nvim/", "")
    if rule and not may(rule.only, name) then
      local spelled = text:sub(1, 1) == ":" and text or nodes.text(node, file)
      problems[#problems + 1] = { line = nodes.line(node), text = ("`%s`: %s"):format(spelled, rule.why) }
    end
    local command = name ~= "buffers/file_buffer.lua" and reading(node, file)
    if command then
      problems[#problems + 1] = { line = nodes.line(node), text = ("`%s`: %s"):format(command, OPENED) }
    end
  end)
  return problems
end
