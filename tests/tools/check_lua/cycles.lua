-- Cycles of `require` among the modules below lua/, requires inside functions too.
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

---@param graph table<string, string[]>
---@return string[][]
local function cycles(graph)
  local found, state, path = {}, {}, {}
  local function visit(module)
    state[module] = "open"
    path[#path + 1] = module
    for _, other in ipairs(graph[module]) do
      if state[other] == "open" and other ~= module then
        local cycle = vim.list_slice(path, vim.fn.index(path, other) + 1)
        found[#found + 1] = vim.list_extend(cycle, { other })
      elseif not state[other] then
        visit(other)
      end
    end
    path[#path] = nil
    state[module] = "done"
  end
  for module in vim.spairs(graph) do
    if not state[module] then
      visit(module)
    end
  end
  return found
end

---@param files check.File[]
---@return string[]
return function(files)
  local known, graph = {}, {}
  for _, file in ipairs(files) do
    known[module_of(file.name) or ""] = file
  end
  known[""] = nil
  for module, file in pairs(known) do
    graph[module] = required(file, known)
  end
  return vim.tbl_map(function(cycle)
    return "modules require each other: " .. table.concat(cycle, " -> ")
  end, cycles(graph))
end
