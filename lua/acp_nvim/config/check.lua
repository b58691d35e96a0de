-- Checks a user's table against the schema; gives back what is right of it, and words for what is not.
local check_agents = require("acp_nvim.config.check_agents")
local check_icons = require("acp_nvim.config.check_icons")
local check_rules = require("acp_nvim.config.check_rules")
local limits = require("acp_nvim.limits")
local hint = require("acp_nvim.config.hint")
local schema = require("acp_nvim.config.schema")

local M = {}

---Like vim.spairs, for keys of any type.
---@param values table
---@return fun(): any, any
local function sorted(values)
  local keys = vim.tbl_keys(values)
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  local at = 0
  return function()
    at = at + 1
    return keys[at], values[keys[at]]
  end
end

---@param value any
---@return boolean
local function is_strings(value)
  if type(value) ~= "table" or not vim.islist(value) or #value == 0 then
    return false
  end
  return vim.iter(value):all(function(item)
    return type(item) == "string"
  end)
end

---@param value any
---@return boolean
local function is_keys(value)
  local keys = type(value) == "string" and { value } or value
  return is_strings(keys)
    and vim.iter(keys):all(function(key)
      return key ~= "" and #vim.keycode(key) <= limits.key_bytes
    end)
end

---@param option acp.Option.Schema
---@param value any
---@return string? problem
local function problem_of(option, value)
  if vim.list_contains(option.types, "key") then
    if value ~= false and not is_keys(value) then
      return ("%s: must be a key, a list of keys, or false"):format(option.name)
    end
  elseif option.types[1] == "strings" then
    if not (type(value) == "table" and vim.islist(value)) or (#value > 0 and not is_strings(value)) then
      return ("%s: must be a list of strings"):format(option.name)
    end
  elseif not vim.list_contains(option.types, type(value)) then
    local wanted = table.concat(option.types, " or ")
    return ("%s: must be a %s, not a %s"):format(option.name, wanted, type(value))
  elseif option.values and not vim.list_contains(option.values, value) then
    local near = type(value) == "string" and hint(value, vim.tbl_map(tostring, option.values)) or ""
    local values = table.concat(vim.tbl_map(vim.inspect, option.values), ", ")
    return ("%s: must be one of %s%s"):format(option.name, values, near)
  end
end

---@return table<string, acp.Option.Schema> by_name
---@return table<string, string[]> children of each table, "" for the top
local function tree()
  local by_name, children = {}, { [""] = {} }
  for _, option in ipairs(schema) do
    by_name[option.name] = option
    local group, leaf = option.name:match("^(%w+)%.(.+)$")
    if group and not children[group] then
      children[group] = {}
      table.insert(children[""], group)
    end
    table.insert(children[group or ""], leaf or option.name)
  end
  return by_name, children
end

---@param user any
---@param from string where the table comes from, for the words
---@return table good
---@return string[] problems
function M.checked(user, from)
  local by_name, children = tree()
  local problems = {}
  ---@param path string
  ---@param values table
  local function walk(path, values)
    local good = {}
    for name, value in sorted(values) do
      local full = path == "" and tostring(name) or (path .. "." .. tostring(name))
      local option = by_name[full]
      if full == "agents" then
        good.agents = check_agents(value, problems)
      elseif full == "permissions.rules" then
        good.rules = check_rules(value, problems)
      elseif full == "ui.icons" then
        good.icons = check_icons(value, problems)
      elseif option then
        local problem = problem_of(option, value)
        problems[#problems + 1] = problem
        good[name] = not problem and value or nil
        if value == false and not problem then
          good[name] = false
        end
      elseif path == "" and children[full] then
        if type(value) == "table" then
          good[name] = walk(full, value)
        else
          problems[#problems + 1] = ("%s: must be a table, not a %s"):format(full, type(value))
        end
      else
        problems[#problems + 1] = ("%s: no such option%s"):format(full, hint(name, children[path]))
      end
    end
    return good
  end
  if type(user) ~= "table" then
    return {}, { ("%s: must be a table, not a %s"):format(from, type(user)) }
  end
  return walk("", user), problems
end

return M
