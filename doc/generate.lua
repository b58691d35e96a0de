-- Writes the option section of doc/acp_nvim.txt from the schema of the configuration; with --check it only compares.
--   nvim --clean --headless -l doc/generate.lua [--check]
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(here)
local FILE = here .. "/acp_nvim.txt"
local BEGIN, END =
  "(From here on generated: change config/schema.lua, then type `make doc`.)", "(The end of what is generated.)"
local WIDTH = 78

package.path = ("%s/lua/?.lua;%s/lua/?/init.lua;%s"):format(root, root, package.path)
local schema = require("acp_nvim.config.schema")

---@param text string
---@return string[] lines of at most WIDTH columns, indented
local function wrapped(text)
  local lines, line = {}, "   "
  for word in text:gmatch("%S+") do
    if #line + 1 + #word > WIDTH then
      table.insert(lines, line)
      line = "   "
    end
    line = line .. " " .. word
  end
  table.insert(lines, line)
  return lines
end

---@param option acp.Option.Schema
---@return string
local function kinds(option)
  if option.values then
    return table.concat(vim.tbl_map(vim.inspect, option.values), " | ")
  elseif option.types[1] == "key" then
    return "key, list of keys, or false"
  elseif option.types[1] == "agents" then
    return "table"
  elseif option.types[1] == "icons" then
    return "table"
  elseif option.types[1] == "rules" then
    return "list of rules"
  elseif option.types[1] == "strings" then
    return "list of strings"
  end
  return table.concat(option.types, " | ")
end

---@param option acp.Option.Schema
---@return string[]
local function section(option)
  local tag = ("*acp_nvim-option-%s*"):format(option.name)
  local default = option.default == nil and "none" or vim.inspect(option.default)
  local lines = {
    (" "):rep(WIDTH - #tag) .. tag,
    ("%s  (%s, default: %s)"):format(option.name, kinds(option), default),
  }
  return vim.list_extend(lines, wrapped(option.doc))
end

---@return string
local function generated()
  local lines = { BEGIN }
  for _, option in ipairs(schema) do
    table.insert(lines, "")
    vim.list_extend(lines, section(option))
  end
  vim.list_extend(lines, { "", END })
  return table.concat(lines, "\n")
end

local file = assert(io.open(FILE))
local old = file:read("*a")
file:close()
local first, last = assert(old:find(BEGIN, 1, true), "no begin marker"), select(2, old:find(END, 1, true))
local new = old:sub(1, first - 1) .. generated() .. old:sub(assert(last, "no end marker") + 1)

if new == old then
  return
elseif vim.list_contains(arg, "--check") then
  io.stderr:write("doc/acp_nvim.txt and the options differ: run `make doc`\n")
  os.exit(1)
end
file = assert(io.open(FILE, "w"))
file:write(new)
file:close()
