-- Files (but for generated ones) and functions that have grown too long.
local nodes = require("nodes")

local FILE_LINES = 400
local FUNCTION_LINES = 60

---@param file check.File
---@return check.Problem[]
return function(file)
  local problems = {}
  local _, count = file.text:gsub("\n", "")
  if count > FILE_LINES and not file.text:find("^%-%-%-@meta\n%-%- [^\n]*Generated:") then
    problems[1] = { line = 1, text = ("the file has %d lines, more than %d"):format(count, FILE_LINES) }
  end
  nodes.walk(file.tree, function(node)
    local is_function = node:type() == "function_declaration" or node:type() == "function_definition"
    if is_function and nodes.lines(node) > FUNCTION_LINES then
      local words = ("the function has %d lines, more than %d"):format(nodes.lines(node), FUNCTION_LINES)
      problems[#problems + 1] = { line = nodes.line(node), text = words }
    end
  end)
  return problems
end
