-- Checks the agents in a user's table; gives back what is right of each, and words for what is not.
local hint = require("acp_nvim.config.hint")

---@type table<string, string> what a field must be
local FIELDS = {
  command = "command",
  prefix = "strings",
  env = "env",
  mcp_servers = "table",
  paths = "paths",
  terminal = "boolean",
  defaults = "defaults",
  idle_seconds = "number",
  quirks = "strings",
  state = "strings",
  title = "string",
  url = "string",
  install = "string",
  sign_in = "string",
}

---@param values table with keys of any type
---@return any[]
local function sorted_keys(values)
  local keys = vim.tbl_keys(values)
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return keys
end

---@param value any
---@return boolean
local function is_strings(value)
  return type(value) == "table"
    and vim.islist(value)
    and vim.iter(value):all(function(item)
      return type(item) == "string"
    end)
end

---@param value any
---@return boolean
local function is_env(value)
  return type(value) == "table"
    and vim.iter(value):all(function(name, text)
      return type(name) == "string" and (type(text) == "string" or type(text) == "number")
    end)
end

---@param path any
---@return boolean
local function is_absolute(path)
  return type(path) == "string" and vim.startswith(vim.fs.normalize(path), "/")
end

---@type table<string, fun(value: any): string?> by kind of field: why it is wrong
local PROBLEMS = {}

function PROBLEMS.command(value)
  if not is_strings(value) or #value == 0 then
    return 'must be a list of strings, like { "program", "argument" }'
  end
end

function PROBLEMS.strings(value)
  return not is_strings(value) and "must be a list of strings" or nil
end

function PROBLEMS.env(value)
  return not is_env(value) and "must be a table of names and strings" or nil
end

function PROBLEMS.number(value)
  if type(value) ~= "number" or value <= 0 then
    return "must be a number above 0"
  end
end

function PROBLEMS.paths(value)
  local example = 'must be a list of { here = "/directory/on/this/machine", there = "/the/same/for/the/agent" }'
  if type(value) ~= "table" or not vim.islist(value) then
    return example
  end
  for _, pair in ipairs(value) do
    local good = type(pair) == "table" and vim.tbl_count(pair) == 2 and is_absolute(pair.here)
    if not good or type(pair.there) ~= "string" or not vim.startswith(pair.there, "/") then
      return example
    end
  end
end

function PROBLEMS.defaults(value)
  if type(value) ~= "table" then
    return ("must be a table, not a %s"):format(type(value))
  end
  for name, one in pairs(value) do
    if name == "options" then
      local good = type(one) == "table"
        and vim.iter(one):all(function(id, set)
          return type(id) == "string" and (type(set) == "string" or type(set) == "boolean")
        end)
      if not good then
        return "options must be a map from an option to a string or a boolean"
      end
    elseif name ~= "mode" and name ~= "model" then
      return ("there is no %q in it (known: mode, model, options)"):format(tostring(name))
    elseif type(one) ~= "string" then
      return ("%s must be a string, not a %s"):format(name, type(one))
    end
  end
end

---@param kind string
---@param value any
---@return string? problem
local function problem_of(kind, value)
  if PROBLEMS[kind] then
    return PROBLEMS[kind](value)
  elseif type(value) ~= kind then
    return ("must be a %s, not a %s"):format(kind, type(value))
  end
end

---As the host takes it; a table that says nothing is left out: there it would be a list.
---@param field string
---@param value any
---@return any
local function taken(field, value)
  if field == "env" then
    return next(value) and vim.tbl_map(tostring, value) or nil
  elseif field == "paths" then
    return vim.tbl_map(function(pair)
      return { here = vim.fs.normalize(pair.here), there = pair.there }
    end, value)
  elseif field == "defaults" then
    local options = value.options and next(value.options) and value.options or nil
    local said = { mode = value.mode, model = value.model, options = options }
    return next(said) and said or nil
  end
  return value
end

---@param name any
---@param agent any
---@return string? problem with the whole of it
local function shape_problem(name, agent)
  if type(name) ~= "string" then
    return "agents: must be a map from a name to an agent, not a list"
  elseif type(agent) == "string" or (is_strings(agent) and #agent > 0) then
    local command = type(agent) == "string" and vim.split(agent, "%s+", { trimempty = true }) or agent
    local written = vim.inspect(command, { newline = "", indent = "" })
    return ("agents.%s: must be a table: write { command = %s }"):format(name, written)
  elseif type(agent) ~= "table" then
    return ("agents.%s: must be a table with a command, not a %s"):format(name, type(agent))
  end
end

---@param name string
---@return boolean comes with the plugin
local function is_bundled(name)
  return name == "demo" or require("acp_nvim.agents.catalogue")[name] ~= nil
end

---@param name string
---@param agent table
---@param problems string[]
---@return table? agent
local function agent_checked(name, agent, problems)
  local good = {}
  for _, field in ipairs(sorted_keys(agent)) do
    local kind, value = FIELDS[field], agent[field]
    local problem = kind and problem_of(kind, value)
    if not kind then
      local words = ("agents.%s.%s: no such field%s"):format(name, tostring(field), hint(field, sorted_keys(FIELDS)))
      problems[#problems + 1] = words
    elseif problem then
      problems[#problems + 1] = ("agents.%s.%s: %s"):format(name, field, problem)
    else
      good[field] = taken(field, value)
    end
  end
  if good.command or (agent.command == nil and is_bundled(name)) then
    return good
  elseif agent.command == nil then
    problems[#problems + 1] = ('agents.%s: has no command, like { command = { "program" } }'):format(name)
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
  for _, name in ipairs(sorted_keys(agents)) do
    local problem = shape_problem(name, agents[name])
    if problem then
      problems[#problems + 1] = problem
    else
      good[name] = agent_checked(name, agents[name], problems)
    end
  end
  return good
end
