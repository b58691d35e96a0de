-- The options in force: the schema's defaults, under vim.g.acp_nvim, under what setup() was given.
local check = require("acp_nvim.config.check")
local message = require("acp_nvim.message")
local schema = require("acp_nvim.config.schema")

local M = {}

---@type acp.Config?
local merged
---@type table
local from_setup = {}
---@type table<string, true> problems that were said already
local said = {}

---@return table
local function defaults()
  local out = {}
  for _, option in ipairs(schema) do
    local at = out
    local group, leaf = option.name:match("^(%w+)%.(.+)$")
    if group then
      out[group] = out[group] or {}
      at = out[group]
    end
    at[leaf or option.name] = vim.deepcopy(option.default)
  end
  return out
end

---@param user any
---@param from string
---@return table
local function good_part(user, from)
  local good, problems = check.checked(user, from)
  local new = vim.tbl_filter(function(problem)
    return not said[problem]
  end, problems)
  for _, problem in ipairs(new) do
    said[problem] = true
  end
  if #new > 0 then
    message.warn(("%s, ignored: %s"):format(from, table.concat(new, "; ")))
  end
  return good
end

---@param under table
---@param over table
---@return table
local function merge(under, over)
  local out = vim.tbl_extend("force", {}, under)
  for name, value in pairs(over) do
    local both = type(value) == "table" and type(out[name]) == "table"
    -- an empty table is no list here: it says nothing, and must not replace what is under it
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
    local global = good_part(vim.g.acp_nvim or {}, "vim.g.acp_nvim")
    local given = good_part(from_setup, "setup()")
    merged = merge(merge(defaults(), global), given)
  end
  return merged
end

---The keys of one action, as a list.
---@param action string
---@return string[]
function M.keys(action)
  local keys = M.get().keymaps[action]
  if not keys then
    return {}
  end
  return type(keys) == "table" and keys or { keys }
end

return M
