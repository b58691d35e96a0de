-- Locals and local functions that nothing uses; a name that starts with _ is meant to be unused.
local nodes = require("nodes")

---@param file check.File
---@return table<string, TSNode[]> uses and declarations of variables
local function identifiers(file)
  local found = {}
  nodes.walk(file.tree, function(node)
    if node:type() == "identifier" and not nodes.is_field(node) then
      local name = nodes.text(node, file)
      found[name] = found[name] or {}
      table.insert(found[name], node)
    end
  end)
  return found
end

---@param node TSNode
---@return TSNode[] names that a statement declares
local function declared(node)
  if node:type() == "function_declaration" and node:child(0):type() == "local" then
    return node:field("name")
  elseif node:type() ~= "variable_declaration" then
    return {}
  end
  local names = {}
  for child in node:iter_children() do
    local list = child:type() == "assignment_statement" and child:child(0) or child
    if list:type() == "variable_list" then
      vim.list_extend(names, list:field("name"))
    end
  end
  return names
end

---@param name TSNode
---@param statement TSNode that declares it
---@param others TSNode[]
---@return boolean
local function is_used(name, statement, others)
  local scope = assert(statement:parent())
  local own = statement:type() == "function_declaration" and statement or name
  for _, other in ipairs(others) do
    local row, column = other:start()
    local within = vim.treesitter.is_in_node_range(scope, row, column)
    if within and not vim.treesitter.is_in_node_range(own, row, column) then
      local first, at = name:start()
      if row > first or (row == first and column > at) then
        return true
      end
    end
  end
  return false
end

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems = {}
  local all = identifiers(file)
  nodes.walk(file.tree, function(node)
    for _, name in ipairs(declared(node)) do
      local text = nodes.text(name, file)
      if not vim.startswith(text, "_") and not is_used(name, node, all[text]) then
        problems[#problems + 1] = { line = nodes.line(name), text = ("the local `%s` is not used"):format(text) }
      end
    end
  end)
  return problems
end
