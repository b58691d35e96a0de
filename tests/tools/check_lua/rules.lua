-- What only one file may do, or none: speak to the user, wait, start programs synchronously.
local nodes = require("nodes")

---@class check.Rule
---@field only? string the file that may
---@field why string

---@type table<string, check.Rule> by the text of an expression
local RULES = {
  ["vim.notify"] = { only = "message.lua", why = "only message.lua speaks to the user" },
  ["vim.notify_once"] = { only = "message.lua", why = "only message.lua speaks to the user" },
  ["vim.wait"] = { why = "the editor never waits" },
  ["vim.fn.wait"] = { why = "the editor never waits" },
  ["vim.fn.system"] = { only = "health.lua", why = "the editor never waits" },
  ["vim.fn.systemlist"] = { only = "health.lua", why = "the editor never waits" },
  ["vim.rpcrequest"] = { why = "the editor never waits for the host" },
  ["vim.fn.rpcrequest"] = { why = "the editor never waits for the host" },
  ["io.popen"] = { why = "the editor never waits" },
  ["os.execute"] = { why = "the editor never waits" },
  [":wait"] = { only = "health.lua", why = "the editor never waits" },
}

---@param node TSNode
---@param file check.File
---@return string? what it says, as the rules spell it
local function expression(node, file)
  if node:type() == "dot_index_expression" then
    return (nodes.text(node, file):gsub("%s", ""))
  elseif node:type() == "method_index_expression" then
    return ":" .. nodes.text(node:field("method")[1], file)
  end
end

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems = {}
  nodes.walk(file.tree, function(node)
    local text = expression(node, file)
    local rule = text and RULES[text]
    if rule and vim.fs.basename(file.name) ~= rule.only then
      problems[#problems + 1] = { line = nodes.line(node), text = ("`%s`: %s"):format(text, rule.why) }
    end
  end)
  return problems
end
