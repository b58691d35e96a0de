-- Which modules below lua/ require which others, requires inside functions too.
local nodes = require("nodes")

---@param name string of a file
---@return string? module
local function module_of(name)
  local path = name:match("^lua/(.*)%.lua$")
  return path and (path:gsub("/init$", ""):gsub("/", "."))
end

---@param file check.File
---@param known table<string, check.File>
---@return string[] modules that it names in calls: of `require`, or of something that requires for it
local function required(file, known)
  local found = {}
  nodes.walk(file.tree, function(node)
    if node:type() ~= "function_call" then
      return
    end
    local call = nodes.text(node, file)
    for argument in node:field("arguments")[1]:iter_children() do
      local name = argument:type() == "string" and nodes.text(argument, file):match("^[\"'](.*)[\"']$")
      -- a name without a dot may be any other word; with one it is a module
      if
        name
        and known[name]
        and (name:find(".", 1, true) or call:match("^p?call%(require") or call:match("^require"))
      then
        found[#found + 1] = name
      end
    end
  end)
  return found
end

---@param files check.File[]
---@return table<string, string[]> graph of modules
---@return table<string, check.File> modules
return function(files)
  local known, graph = {}, {}
  for _, file in ipairs(files) do
    known[module_of(file.name) or ""] = file
  end
  known[""] = nil
  for module, file in pairs(known) do
    graph[module] = required(file, known)
  end
  return graph, known
end
