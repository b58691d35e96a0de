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

return M
