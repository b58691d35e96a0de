-- Checks what the Neovim of a test and the host tell each other against the shapes of the contract. What is wrong goes
-- into a file: the test that started this Neovim fails by it, however Neovim ends.
local M = {}

local shapes, file

---@param words string
local function report(words)
  local out = assert(io.open(file, "a"))
  out:write(words, "\n")
  out:close()
end

local check_fields

local is = {
  any = function()
    return true
  end,
  ["nil"] = function(value)
    return value == nil or value == vim.NIL
  end,
  string = function(value)
    return type(value) == "string" or type(value) == "userdata" and value ~= vim.NIL -- a blob with NULs
  end,
  number = function(value)
    return type(value) == "number"
  end,
  integer = function(value)
    return type(value) == "number" and value % 1 == 0
  end,
  boolean = function(value)
    return type(value) == "boolean"
  end,
  words = function(value, kind)
    return vim.list_contains(kind.words, value)
  end,
}

---@param value any
---@param kind table
---@param structs table<string, table>
---@param where string
---@return string? problem
local function check(value, kind, structs, where)
  if is[kind.is] then
    local ok = is[kind.is](value, kind)
    return not ok
        and ("%s is %s, not %s"):format(where, vim.inspect(value), kind.words and vim.inspect(kind.words) or kind.is)
      or nil
  elseif kind.is == "any of" then
    local problem
    for _, one in ipairs(kind.types) do
      local found = check(value, one, structs, where)
      if not found then
        return nil
      end
      -- the problem of the shape that was meant says more than that of another
      if not problem or one.is == "struct" and (not one.tag or type(value) == "table" and value.type == one.tag) then
        problem = found
      end
    end
    return problem
  elseif type(value) ~= "table" then
    return ("%s is %s, not a table"):format(where, vim.inspect(value))
  elseif kind.is == "struct" then
    if kind.tag and value.type ~= kind.tag then
      return ("%s has the type %s, not %s"):format(where, vim.inspect(value.type), kind.tag)
    end
    local struct = structs[kind.name]
    return check_fields(value, struct.fields, structs, where, kind.tag, struct.open)
  end
  for key, item in pairs(value) do
    if kind.is == "list" and type(key) ~= "number" then
      return ("%s has the key %s, and is a list"):format(where, vim.inspect(key))
    end
    local problem = check(item, kind.of, structs, ("%s[%s]"):format(where, key))
    if problem then
      return problem
    end
  end
end

---@param value table
---@param fields table<string, table>
---@param structs table<string, table>
---@param where string
---@param tag? string
---@param open? boolean there may be more fields
---@return string? problem
function check_fields(value, fields, structs, where, tag, open)
  for name in pairs(value) do
    if not open and not fields[name] and not (tag and name == "type") then
      return ("%s has an unknown field %q"):format(where, tostring(name))
    end
  end
  for name, field in pairs(fields) do
    local given = value[name]
    if given == nil or given == vim.NIL then
      if not field.optional then
        return ("%s has no %q"):format(where, name)
      end
    else
      local problem = check(given, field.type, structs, where .. "." .. name)
      if problem then
        return problem
      end
    end
  end
end

---@param batch table[]
local function check_batch(batch)
  for _, event in ipairs(batch) do
    local fields = shapes.events[event.type]
    local problem = not fields and ("no event has the type %s"):format(vim.inspect(event.type))
      or fields and check_fields(event, fields, shapes.from_host, "event " .. event.type, event.type)
    if problem then
      report(problem)
    end
  end
end

---@param method string
---@param params table
function M.message(method, params)
  local fields = shapes.messages[method]
  local problem = not fields and ("there is no message %q"):format(method)
    or check_fields(params, fields, shapes.from_lua, "message " .. method)
  if problem then
    report(problem)
  end
end

---@param path string of the shapes
---@param problems string path of the file for what is wrong
---@param root string of the plugin
function M.watch(path, problems, root)
  local input = assert(io.open(path))
  shapes, file = vim.json.decode(input:read("*a"), { luanil = { object = true, array = true } }), problems
  input:close()
  package.preload["acp_nvim.events"] = function()
    local events = dofile(root .. "/lua/acp_nvim/events/init.lua")
    local apply = events.apply
    M.apply_unchecked = apply -- what only a newer host would send
    events.apply = function(batch)
      check_batch(batch)
      return apply(batch)
    end
    return events
  end
  local rpcnotify = vim.rpcnotify
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.rpcnotify = function(channel, name, ...)
    if name == "acp_nvim" then
      M.message(...)
    end
    return rpcnotify(channel, name, ...)
  end
end

return M
