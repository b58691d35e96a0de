-- Walks syntax trees.
local M = {}

---@param node TSNode
---@param visit fun(node: TSNode)
function M.walk(node, visit)
  visit(node)
  for child in node:iter_children() do
    if child:named() then
      M.walk(child, visit)
    end
  end
end

---@param node TSNode
---@param file check.File
---@return string
function M.text(node, file)
  return vim.treesitter.get_node_text(node, file.text)
end

---@param node TSNode a string
---@param file check.File
---@return string what is between the quotes
function M.content(node, file)
  local content = node:field("content")[1]
  return content and M.text(content, file) or ""
end

---@param node TSNode
---@return integer line from 1
function M.line(node)
  return (node:start()) + 1
end

---@param node TSNode
---@return integer
function M.lines(node)
  local first, _, last = node:range()
  return last - first + 1
end

---@param node TSNode an identifier
---@return boolean it is the name of a field, not a variable
function M.is_field(node)
  local parent = assert(node:parent())
  local kind = parent:type()
  if kind == "dot_index_expression" then
    return parent:field("field")[1]:equal(node)
  elseif kind == "method_index_expression" then
    return parent:field("method")[1]:equal(node)
  end
  return kind == "field" and #parent:field("name") > 0 and parent:field("name")[1]:equal(node)
end

---@param node TSNode
---@param file check.File
---@return string? what an expression names, with the values of `file.aliases`: "vim.fn.glob", "vim.fn[]" when computed
function M.path(node, file)
  local kind = node:type()
  if kind == "identifier" then
    local name = M.text(node, file)
    return file.aliases and file.aliases[name] or name
  elseif kind == "parenthesized_expression" and node:named_child(0) then
    return M.path(node:named_child(0), file)
  elseif kind ~= "dot_index_expression" and kind ~= "bracket_index_expression" then
    return nil
  end
  local base, field = M.path(node:field("table")[1], file), node:field("field")[1]
  if not base then
    return nil
  elseif kind == "dot_index_expression" then
    return base .. "." .. M.text(field, file)
  end
  return field:type() == "string" and base .. "." .. M.content(field, file) or base .. "[]"
end

---@param file check.File
---@return table<string, string> path by the name of a local variable: `local fn, api = vim.fn, vim.api`
function M.aliases(file)
  local found = {}
  M.walk(file.tree, function(node)
    if node:type() == "assignment_statement" then
      local names, values = node:named_child(0), node:named_child(1)
      for index = 0, math.min(names:named_child_count(), values:named_child_count()) - 1 do
        local name, path = names:named_child(index), M.path(values:named_child(index), file)
        if name:type() == "identifier" and path and (path == "vim" or vim.startswith(path, "vim.")) then
          found[M.text(name, file)] = path
        end
      end
    end
  end)
  return found
end

return M
