-- Cycles of `require` among modules, and among folders: a module at the top of lua/acp_nvim is a folder of its own.

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

---@param graph table<string, string[]> of modules
---@param files table<string, check.File> by module
---@return table<string, string[]> of folders
local function of_folders(graph, files)
  local function folder(module)
    local name = vim.fs.dirname(files[module].name)
    return name == "lua/acp_nvim" and files[module].name or name
  end
  local out = {}
  for module, others in pairs(graph) do
    local own = out[folder(module)] or {}
    out[folder(module)] = own
    for _, other in ipairs(others) do
      if folder(other) ~= folder(module) then
        own[#own + 1] = folder(other)
      end
    end
  end
  return out
end

---@param graph table<string, string[]> of modules
---@param files table<string, check.File> by module
---@return string[]
return function(graph, files)
  local problems = {}
  for what, one in vim.spairs({ modules = graph, folders = of_folders(graph, files) }) do
    for _, cycle in ipairs(cycles(one)) do
      problems[#problems + 1] = ("%s require each other: %s"):format(what, table.concat(cycle, " -> "))
    end
  end
  return problems
end
