-- Checks values of a user's table. A check returns the problem, or, for a list or a map, its valid part.
local hint = require("acp_nvim.kernel.hint")
local icon_names = require("acp_nvim.render.icons")
local names = require("acp_nvim.names")

local M = {}

local KEY_BYTES = 50 -- of a mapped key at most
local ACTIONS = { "allow", "reject", "ask" }
local KINDS = { "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other" }
local MEMBERS = { "agent", "kind", "path", "command", "action" }

---Like vim.spairs, for keys of any type.
---@param values table
---@return fun(): any, any
function M.sorted(values)
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
---@param fits fun(item: any): boolean
---@return boolean a list, which may be empty, and all items fit
local function is_list_of(value, fits)
  if type(value) ~= "table" or not vim.islist(value) then
    return false
  end
  for _, item in ipairs(value) do
    if not fits(item) then
      return false
    end
  end
  return true
end

---@param value any
---@return boolean a list of strings, which may be empty
function M.is_strings(value)
  return is_list_of(value, function(item)
    return type(item) == "string"
  end)
end

local function is_key(key)
  return type(key) == "string" and key ~= "" and #vim.keycode(key) <= KEY_BYTES
end

---@param value any
---@param kind string a Lua type; "strings" = list of strings; "key" = key, list of keys, or false
---@return string? problem
function M.kind(value, kind)
  if kind == "strings" then
    return not M.is_strings(value) and "must be a list of strings" or nil
  elseif kind == "key" then
    local is_list = is_list_of(value, is_key) and #value > 0
    return not (value == false or is_key(value) or is_list) and "must be a key, a list of keys, or false" or nil
  elseif not vim.list_contains(vim.split(kind, "|"), type(value)) then
    return ("must be a %s, not a %s"):format(kind:gsub("|", " or "), type(value))
  elseif type(value) == "number" and not (value >= 0 and value < math.huge) then -- nor "not a number"
    return "must be a number, 0 or more"
  end
end

---@param value any
---@param allowed any[]
---@return string? problem
function M.one_of(value, allowed)
  local types = {}
  for _, one in ipairs(allowed) do
    types[#types + 1] = not vim.list_contains(types, type(one)) and type(one) or nil
  end
  if not vim.list_contains(types, type(value)) then
    return M.kind(value, table.concat(types, "|"))
  elseif not vim.list_contains(allowed, value) then
    local near = type(value) == "string" and hint(value, vim.tbl_map(tostring, allowed)) or ""
    return ("must be one of %s%s"):format(table.concat(vim.tbl_map(vim.inspect, allowed), ", "), near)
  end
end

---@param value any
---@param problems string[] more are added
---@return (string|fun(bufnr: integer): string)?
function M.root(value, problems)
  local problem = type(value) ~= "function" and M.one_of(value, { "cwd", "git" })
  problems[#problems + 1] = problem and ("root: %s, or a function"):format(problem) or nil
  return not problem and value or nil
end

---@param value any
---@param problems string[] more are added
---@return string? path absolute, of a program
function M.shell(value, problems)
  local problem = M.kind(value, "string")
  local path = not problem and names.program(value) or nil
  if not problem and not path then
    problem = ("there is no program %q"):format(value)
  end
  problems[#problems + 1] = problem and "shell: " .. problem
  return path
end

---Checks the names and the widths of icons.
---@param value any
---@param problems string[] more are added
---@return table<string, string> good
function M.icons(value, problems)
  local problem = M.kind(value, "table")
  if problem then
    problems[#problems + 1] = "ui.icons: " .. problem
    return {}
  end
  local good = {}
  for name, icon in pairs(value) do
    local is_icon = type(icon) == "string" and icon ~= "" and not icon:find("%c")
    if not icon_names[name] then
      local near = hint(name, vim.tbl_keys(icon_names))
      problems[#problems + 1] = ("ui.icons.%s: no such icon%s"):format(tostring(name), near)
    elseif not is_icon or vim.fn.strdisplaywidth(icon) > 2 then
      problems[#problems + 1] = ("ui.icons.%s: must be a character or two"):format(name)
    else
      good[name] = icon
    end
  end
  return good
end

---@param value any
---@return string? problem
local function rule_kind(value)
  local kinds = type(value) == "table" and value or { value }
  if not vim.islist(kinds) or #kinds == 0 then
    return "must be a kind of tool call, or a list of them"
  end
  for _, kind in ipairs(kinds) do
    -- kinds of the agents' own begin with an underscore
    if type(kind) ~= "string" or not (vim.list_contains(KINDS, kind) or vim.startswith(kind, "_")) then
      local known = table.concat(KINDS, ", ")
      return ("there is no kind %s%s (known: %s)"):format(vim.inspect(kind), hint(kind, KINDS), known)
    end
  end
end

---@param value any
---@return string? problem
local function rule_member(name, value)
  if name == "kind" then
    return rule_kind(value)
  elseif name == "action" then
    local wrong = not vim.list_contains(ACTIONS, value)
    local words = 'must be "allow", "reject" or "ask", not %s%s'
    return wrong and words:format(vim.inspect(value), hint(value, ACTIONS)) or nil
  elseif not vim.list_contains(MEMBERS, name) then
    return "no such member" .. hint(name, MEMBERS)
  elseif type(value) ~= "string" or value == "" then
    return ("must be a string, not %s"):format(value == "" and "an empty one" or "a " .. type(value))
  end
end

---Checks permission rules. One invalid rule disables all: without it a later rule would match instead.
---@param rules any
---@param problems string[] more are added
---@return table[] good
function M.rules(rules, problems)
  local before = #problems
  if type(rules) ~= "table" or not vim.islist(rules) then
    problems[#problems + 1] = "permissions.rules: must be a list of rules"
    return {}
  end
  for index, rule in ipairs(rules) do
    local name = ("permissions.rules[%d]"):format(index)
    local shape = M.kind(rule, "table")
    problems[#problems + 1] = shape and ("%s: %s"):format(name, shape)
    for member, value in M.sorted(shape and {} or rule) do
      local problem = rule_member(member, value)
      problems[#problems + 1] = problem and ("%s.%s: %s"):format(name, tostring(member), problem)
    end
    if not shape and rule.action == nil then
      problems[#problems + 1] = ('%s: has no action: write action = "allow", "reject" or "ask"'):format(name)
    end
  end
  if #problems > before then
    problems[#problems + 1] = "permissions.rules: no rule counts until this is put right, everything is asked"
    return {}
  end
  return rules
end

return M
