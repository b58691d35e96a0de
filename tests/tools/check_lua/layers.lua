-- The layers of lua/acp_nvim, from the bottom: a module requires only its own layer and those before it.

---Folders and modules at the top; `acp_nvim` is the API.
local LAYERS = {
  { "names", "limits", "lazy" },
  { "render" }, -- lines, cells and characters
  { "kernel" }, -- messages, questions, log, files of the state directory
  { "progress", "config" },
  { "host" }, -- the process, what is sent to it, the sessions
  { "buffers", "transcript" },
  { "windows" },
  { "keys", "problems" },
  { "mentions", "chat" },
  { "prompt", "review" },
  { "follow", "permission", "options", "login", "forms", "terminals" },
  { "actions" }, -- the keys of the chat
  { "sessions", "mcp" },
  { "events", "commands" },
  { "statusline", "early" },
  { "prewarm" },
  { "acp_nvim" },
  { "tutor", "types", "health" },
}

local height = {} ---@type table<string, integer>
for number, names in ipairs(LAYERS) do
  for _, name in ipairs(names) do
    height[name] = number
  end
end

---@param module string
---@return string
local function layer(module)
  return module:match("^acp_nvim%.([^.]+)") or module
end

---@param graph table<string, string[]> of modules
---@param files table<string, check.File> by module
---@return string[]
return function(graph, files)
  local problems = {}
  for module, others in vim.spairs(graph) do
    local own = layer(module)
    if not height[own] then
      problems[#problems + 1] = ("%s:1: %s is in no layer"):format(files[module].name, own)
    end
    for _, other in ipairs(others) do
      local its = layer(other)
      if its ~= own and (height[its] or 0) >= (height[own] or math.huge) then
        problems[#problems + 1] = ("%s:1: requires %s, and %s is no layer below %s"):format(
          files[module].name,
          other,
          its,
          own
        )
      end
    end
  end
  return problems
end
