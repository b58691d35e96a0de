-- Checks the rules for permissions in a user's table; says which member of which rule is wrong.
local hint = require("acp_nvim.config.hint")

local ACTIONS = { "allow", "reject", "ask" }
local KINDS = { "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other" }
local MEMBERS = { "agent", "kind", "path", "command", "action" }

---@param value any
---@return string? problem
local function kind_problem(value)
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
local function action_problem(value)
  if not vim.list_contains(ACTIONS, value) then
    return ('must be "allow", "reject" or "ask", not %s%s'):format(vim.inspect(value), hint(value, ACTIONS))
  end
end

---@param name any
---@param value any
---@return string? problem
local function member_problem(name, value)
  if name == "kind" then
    return kind_problem(value)
  elseif name == "action" then
    return action_problem(value)
  elseif not vim.list_contains(MEMBERS, name) then
    return "no such member" .. hint(name, MEMBERS)
  elseif type(value) ~= "string" or value == "" then
    return ("must be a string, not %s"):format(value == "" and "an empty one" or "a " .. type(value))
  end
end

---@param rule any
---@param name string
---@param problems string[]
local function check_rule(rule, name, problems)
  if type(rule) ~= "table" then
    problems[#problems + 1] = ("%s: must be a table, not a %s"):format(name, type(rule))
    return
  end
  local members = vim.tbl_keys(rule)
  table.sort(members, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, member in ipairs(members) do
    local problem = member_problem(member, rule[member])
    problems[#problems + 1] = problem and ("%s.%s: %s"):format(name, tostring(member), problem) or nil
  end
  if rule.action == nil then
    problems[#problems + 1] = ('%s: has no action: write action = "allow", "reject" or "ask"'):format(name)
  end
end

---One wrong rule is reason not to use any: a later one would say something else without it. Everything is asked then.
---@param rules any
---@param problems string[] more are added
---@return table[]
return function(rules, problems)
  local before = #problems
  if type(rules) ~= "table" or not vim.islist(rules) then
    problems[#problems + 1] = "permissions.rules: must be a list of rules"
    return {}
  end
  for index, rule in ipairs(rules) do
    check_rule(rule, ("permissions.rules[%d]"):format(index), problems)
  end
  if #problems > before then
    problems[#problems + 1] = "permissions.rules: no rule counts until this is put right, everything is asked"
    return {}
  end
  return rules
end
