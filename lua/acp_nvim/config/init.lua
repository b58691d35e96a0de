-- Merges the options: setup() overrides vim.g.acp_nvim, which overrides the defaults of the schema. Invalid options are
-- reported and ignored.
local checks = require("acp_nvim.config.checks")
local hint = require("acp_nvim.kernel.hint")
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.kernel.message")
local schema = require("acp_nvim.config.schema")

local M = {}

---@type acp.Config?
local merged
---@type table
local from_setup = {}
---@type table<string, true> problems that were reported
local reported = {}
---@type table<string, string[]> what is ignored, by where it is set
local problems_in = {}

---@type table<string, acp.Option.Schema>
local by_name = {}
---@type table<string, string[]> children of each table, "" for the top
local children = { [""] = {} }
for _, option in ipairs(schema) do
  by_name[option.name] = option
  local group, leaf = option.name:match("^([%w_]+)%.(.+)$")
  if group and not children[group] then
    children[group] = {}
    table.insert(children[""], group)
  end
  table.insert(children[group or ""], leaf or option.name)
end

---@return table
local function defaults()
  local out = {}
  for _, option in ipairs(schema) do
    local group, leaf = option.name:match("^([%w_]+)%.(.+)$")
    local at = out
    if group then
      out[group] = out[group] or {}
      at = out[group]
    end
    local default = option.default
    at[leaf or option.name] = type(default) == "table" and vim.deepcopy(default) or default
  end
  return out
end

---@return string to continue "no such option"
local function nearest(name, path)
  for _, option in ipairs(schema) do
    if option.name:match("[^.]+$") == name then -- in another table
      return ("; did you mean %q?"):format(option.name)
    end
  end
  return hint(name, children[path])
end

---Checks a user's table against the schema.
---@param user any
---@param from string names the table in problems
---@return table good valid options
---@return string[] problems
function M.checked(user, from)
  local problems = {}
  local function walk(path, values)
    local good = {}
    for name, value in checks.sorted(values) do
      local full = path == "" and tostring(name) or (path .. "." .. tostring(name))
      local option, problem = by_name[full], nil
      if option and option.check then
        good[name] = option.check(value, problems)
      elseif option then
        problem = option.values and checks.one_of(value, option.values)
          or option.type and checks.kind(value, option.type)
        if not problem then
          good[name] = value
        end
      elseif path == "" and children[full] then
        problem = checks.kind(value, "table")
        good[name] = not problem and walk(full, value) or nil
      else
        problem = "no such option" .. nearest(name, path)
      end
      problems[#problems + 1] = problem and ("%s: %s"):format(full, problem)
    end
    return good
  end
  local problem = checks.kind(user, "table")
  if problem then
    return {}, { ("%s: %s"):format(from, problem) }
  end
  return walk("", user), problems
end

---Shows a warning, not while a command line is being typed, which would hide it.
---@param words string
local function warn(words)
  if vim.api.nvim_get_mode().mode ~= "c" then
    return message.warn(words)
  end
  vim.api.nvim_create_autocmd("CmdlineLeave", {
    once = true,
    callback = function()
      message.warn(words)
    end,
  })
end

---Checks a user's table, and reports new problems.
---@return table good valid options
local function valid_part(user, from)
  local good, problems = M.checked(user, from)
  problems_in[from] = problems
  local new = {}
  for _, problem in ipairs(problems) do
    new[#new + 1] = not reported[problem] and problem or nil
    reported[problem] = true
  end
  if #new > 0 then
    warn(("%s, ignored: %s"):format(from, table.concat(new, "; ")))
  end
  return good
end

---@param under table
---@param over table
local function merge(under, over)
  local out = vim.tbl_extend("force", {}, under)
  for name, value in pairs(over) do
    local both = type(value) == "table" and type(out[name]) == "table"
    -- an empty table counts as a map, which replaces nothing
    if both and #value == 0 and #out[name] == 0 then
      out[name] = merge(out[name], value)
    else
      out[name] = value
    end
  end
  return out
end

---@type fun()[]
local listeners = {}

---@param opts? table
function M.setup(opts)
  from_setup = opts == nil and {} or opts
  merged = nil
  M.get()
  for _, listener in ipairs(listeners) do
    listener()
  end
end

---@param listener fun() called when the options have changed
function M.on_change(listener)
  listeners[#listeners + 1] = listener
end

---@return acp.Config
function M.get()
  if not merged then
    local global = valid_part(vim.g.acp_nvim or {}, "vim.g.acp_nvim")
    local given = valid_part(from_setup, "setup()")
    merged = merge(merge(defaults(), global), given)
  end
  return merged
end

---@return acp.host.Config the options without functions, which cannot be sent
function M.to_send()
  local options = vim.tbl_extend("force", {}, M.get())
  options.root = nil
  return options
end

---@return table<string, string[]> what is ignored, by where it is set: "vim.g.acp_nvim" or "setup()"
function M.problems()
  M.get()
  return problems_in
end

---@return string[] keys that are mapped to it
function M.keys(action)
  local keys = M.get().keymaps[action]
  if not keys then
    return {}
  end
  return type(keys) == "table" and keys or { keys }
end

return M
