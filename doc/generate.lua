-- Writes the generated parts of doc/acp_nvim.txt, the options from their schema and the agents from their catalogue; with
-- --check it only compares.
--   nvim --clean --headless -l doc/generate.lua [--check]
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(here)
local FILE = here .. "/acp_nvim.txt"
local BEGIN, END =
  "(From here on generated: change config/schema.lua, then type `make doc`.)", "(The end of what is generated.)"
local AGENTS_BEGIN, AGENTS_END =
  "(From here on generated: change agents/builtin/*.toml, then type `make doc`.)", "(The end of the list of agents.)"
local WIDTH = 78
local TYPES = { key = "key, list of keys, or false", strings = "list of strings" }

package.path = ("%s/lua/?.lua;%s/lua/?/init.lua;%s"):format(root, root, package.path)
local schema = require("acp_nvim.config.schema")
local catalogue = require("acp_nvim.agents.catalogue")

---@param text string
---@param indent? integer
---@return string[] lines of at most WIDTH columns, indented
local function wrapped(text, indent)
  local margin = (" "):rep((indent or 4) - 1)
  local lines, line = {}, margin
  for word in text:gmatch("%S+") do
    if #line + 1 + #word > WIDTH then
      table.insert(lines, line)
      line = margin
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
  end
  return TYPES[option.type] or option.type
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

---@param name string
---@param agent acp.BuiltinAgent
---@return string[]
local function described(name, agent)
  local commands = vim.tbl_map(function(command)
    return "`" .. table.concat(command, " ") .. "`"
  end, agent.commands)
  local lines =
    { ("%-12s%s: %s"):format(name, agent.title, table.concat(commands, ", or ")), (" "):rep(12) .. agent.url }
  vim.list_extend(lines, wrapped(("To install: `%s`"):format(agent.install), 12))
  vim.list_extend(lines, wrapped("To sign in: " .. agent.sign_in, 12))
  for variable, words in vim.spairs(agent.env_needed or {}) do
    vim.list_extend(lines, wrapped(("$%s: %s"):format(variable, words), 12))
  end
  return lines
end

---@return string
local function agents()
  local lines = { AGENTS_BEGIN }
  for name, agent in vim.spairs(catalogue) do
    table.insert(lines, "")
    vim.list_extend(lines, described(name, agent))
  end
  vim.list_extend(lines, { "", AGENTS_END })
  return table.concat(lines, "\n")
end

---@param text string
---@param from string
---@param to string
---@param inner string
---@return string text with `inner` in place of what is from the one to the other
local function with(text, from, to, inner)
  local first, last = assert(text:find(from, 1, true), "no " .. from), select(2, text:find(to, 1, true))
  return text:sub(1, first - 1) .. inner .. text:sub(assert(last, "no " .. to) + 1)
end

local file = assert(io.open(FILE))
local old = file:read("*a")
file:close()
local new = with(with(old, BEGIN, END, generated()), AGENTS_BEGIN, AGENTS_END, agents())

if new == old then
  return
elseif vim.list_contains(arg, "--check") then
  io.stderr:write("doc/acp_nvim.txt and what it is made from differ: run `make doc`\n")
  os.exit(1)
end
file = assert(io.open(FILE, "w"))
file:write(new)
file:close()
