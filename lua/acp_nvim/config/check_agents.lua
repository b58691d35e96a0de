-- Checks the agents in a user's table: returns the valid fields of each, and adds the problems.
local checks = require("acp_nvim.config.checks")
local hint = require("acp_nvim.kernel.hint")
local names = require("acp_nvim.names")

---Checks of the fields: a kind for `checks.kind`, or a function that returns the problem.
---@type table<string, string|fun(value: any): string?>
local FIELDS = {
  prefix = "strings",
  mcp_servers = "table",
  terminal = "boolean",
  quirks = "strings",
  state = "strings",
  title = "string",
  url = "string",
  install = "string",
  sign_in = "string",
  address = "string",
  token_env = "string",
}

function FIELDS.command(value)
  if not checks.is_strings(value) or #value == 0 then
    return 'must be a list of strings, like { "program", "argument" }'
  end
end

function FIELDS.env(value)
  local is_env = type(value) == "table"
    and vim.iter(value):all(function(name, text)
      return type(name) == "string" and (type(text) == "string" or type(text) == "number")
    end)
  return not is_env and "must be a table of names and strings" or nil
end

function FIELDS.mcp(value)
  if type(value) ~= "table" or type(value.enabled) ~= "boolean" or vim.tbl_count(value) ~= 1 then
    return "must be { enabled = true } or { enabled = false }"
  end
end

function FIELDS.idle_seconds(value)
  if type(value) ~= "number" or value <= 0 then
    return "must be a number above 0"
  end
end

function FIELDS.system_prompt(value)
  local prompt = type(value) == "string" and { text = value } or value
  local example = 'must be a text, or { text = "...", mode = "append" or "override" }'
  if type(prompt) ~= "table" or type(prompt.text) ~= "string" or vim.trim(prompt.text) == "" then
    return example
  end
  local is_known = prompt.mode == nil or prompt.mode == "append" or prompt.mode == "override"
  return (not is_known or vim.tbl_count(prompt) > (prompt.mode and 2 or 1)) and example or nil
end

function FIELDS.projects(value)
  local example = 'must be a map like { ["~/src/project"] = { system_prompt = "...", mcp_servers = {} } }'
  for path, project in pairs(type(value) == "table" and value or { false }) do
    local is_path = type(path) == "string" and vim.startswith(names.configured(path), "/")
    if not is_path or type(project) ~= "table" then
      return example
    end
    for name, setting in pairs(project) do
      local problem = example ---@type string|false|nil
      if name == "system_prompt" then
        problem = FIELDS.system_prompt(setting)
      elseif name == "mcp_servers" then
        problem = checks.kind(setting, "table")
      end
      if problem then
        return ("%s: %s"):format(path, problem)
      end
    end
  end
end

function FIELDS.tls(value)
  if type(value) ~= "boolean" and type(value) ~= "string" then
    return "must be true, or the path of a file with certificates"
  end
end

function FIELDS.paths(value)
  local is_paths = type(value) == "table"
    and vim.islist(value)
    and vim.iter(value):all(function(pair)
      local good = type(pair) == "table" and vim.tbl_count(pair) == 2
      good = good and type(pair.here) == "string" and vim.startswith(names.configured(pair.here), "/")
      return good and type(pair.there) == "string" and vim.startswith(pair.there, "/")
    end)
  local example = 'must be a list of { here = "/directory/on/this/machine", there = "/the/same/for/the/agent" }'
  return not is_paths and example or nil
end

function FIELDS.defaults(value)
  local problem = checks.kind(value, "table")
  for name, one in pairs(problem and {} or value) do
    if name == "options" then
      local is_map = type(one) == "table"
        and vim.iter(one):all(function(id, set)
          return type(id) == "string" and (type(set) == "string" or type(set) == "boolean")
        end)
      problem = not is_map and "options must be a map from an option to a string or a boolean" or nil
    elseif name ~= "mode" and name ~= "model" then
      problem = ("there is no %q in it (known: mode, model, options)"):format(tostring(name))
    elseif type(one) ~= "string" then
      problem = ("%s must be a string, not a %s"):format(name, type(one))
    end
    if problem then
      break
    end
  end
  return problem
end

---@param prompt? string|{ text: string, mode?: string }
---@return { text: string, mode?: string }?
local function system_prompt(prompt)
  return type(prompt) == "string" and { text = prompt } or prompt --[[@as table?]]
end

---@return any value as the host expects it; nil for an empty map, which msgpack would make a list
local function normalized(field, value)
  if field == "env" then
    return next(value) and vim.tbl_map(tostring, value) or nil
  elseif field == "tls" and type(value) == "string" then
    return names.configured(value) -- its `~`
  elseif field == "paths" then
    return vim.tbl_map(function(pair)
      return { here = names.configured(pair.here), there = pair.there }
    end, value)
  elseif field == "system_prompt" then
    return system_prompt(value)
  elseif field == "projects" then
    local projects = {}
    for path, project in pairs(value) do
      local settings = { system_prompt = system_prompt(project.system_prompt), mcp_servers = project.mcp_servers }
      projects[names.configured(path)] = next(settings) and settings or nil
    end
    return next(projects) and projects or nil
  elseif field == "defaults" then
    local options = value.options and next(value.options) and value.options or nil
    local said = { mode = value.mode, model = value.model, options = options }
    return next(said) and said or nil
  end
  return value
end

---@return string? problem
local function shape_problem(name, agent)
  if type(name) ~= "string" then
    return "agents: must be a map from a name to an agent, not a list"
  elseif type(agent) == "string" or (checks.is_strings(agent) and #agent > 0) then
    local command = type(agent) == "string" and vim.split(agent, "%s+", { trimempty = true }) or agent
    local written = vim.inspect(command, { newline = "", indent = "" })
    return ("agents.%s: must be a table: write { command = %s }"):format(name, written)
  elseif type(agent) ~= "table" then
    return ("agents.%s: must be a table with a command, not a %s"):format(name, type(agent))
  end
end

---@param agent table
---@param problems string[] more are added
---@return table? agent
local function agent_checked(name, agent, problems)
  local good = {}
  for field, value in checks.sorted(agent) do
    local kind = FIELDS[field]
    local problem
    if not kind then
      local fields = vim.tbl_keys(FIELDS)
      table.sort(fields)
      problem = "no such field" .. hint(field, fields)
    else
      problem = type(kind) == "string" and checks.kind(value, kind) or type(kind) == "function" and kind(value) or nil
    end
    if problem then
      problems[#problems + 1] = ("agents.%s.%s: %s"):format(name, tostring(field), problem)
    else
      good[field] = normalized(field, value)
    end
  end
  local is_bundled = name == "demo" or require("acp_nvim.config.catalogue")[name] ~= nil
  if agent.command ~= nil and agent.address ~= nil then
    problems[#problems + 1] = ("agents.%s: has a command and an address, and needs one of them"):format(name)
  elseif good.command or good.address or (agent.command == nil and agent.address == nil and is_bundled) then
    return good
  elseif agent.command == nil and agent.address == nil then
    local example = 'agents.%s: has no command, like { command = { "program" } }, and no address'
    problems[#problems + 1] = example:format(name)
  end
end

---@param agents any
---@param problems string[] more are added
---@return table? agents
return function(agents, problems)
  if type(agents) ~= "table" then
    problems[#problems + 1] = ("agents: must be a map from a name to an agent, not a %s"):format(type(agents))
    return nil
  end
  local good = {}
  for name, agent in checks.sorted(agents) do
    local problem = shape_problem(name, agent)
    if problem then
      problems[#problems + 1] = problem
    else
      good[name] = agent_checked(name, agent, problems)
    end
  end
  return good
end
