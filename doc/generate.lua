-- Writes the generated parts of doc/acp_nvim.txt, the options from their schema and the agents from their catalogue; with
-- --check it only compares.
--   nvim --clean --headless -l doc/generate.lua [--check]
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))
local root = vim.fs.dirname(here)
local FILE = here .. "/acp_nvim.txt"
local WIDTH = 78
local TYPES = { key = "key, list of keys, or false", strings = "list of strings" }

package.path = ("%s/lua/?.lua;%s/lua/?/init.lua;%s"):format(root, root, package.path)
local schema = require("acp_nvim.config.schema")
local catalogue = require("acp_nvim.config.catalogue")

---@param text string
---@param indent integer
---@param head? string what the first line begins with, in place of blanks
---@return string[] lines of at most WIDTH columns, unless a word is longer
local function wrapped(text, indent, head)
  local margin = (" "):rep(indent)
  local lines, line = {}, head or margin
  local is_empty = true
  for word in text:gmatch("%S+") do
    if not is_empty and vim.fn.strdisplaywidth(line .. " " .. word) > WIDTH then
      table.insert(lines, line)
      line, is_empty = margin, true
    end
    line, is_empty = line .. (is_empty and "" or " ") .. word, false
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
  local kind = kinds(option)
  local default = ("default: %s)"):format(option.default == nil and "none" or vim.inspect(option.default))
  local head = option.name .. "  ("
  local lines = { (" "):rep(WIDTH - #tag) .. tag }
  if vim.fn.strdisplaywidth(head .. kind .. ", " .. default) <= WIDTH then
    table.insert(lines, head .. kind .. ", " .. default)
  else
    vim.list_extend(lines, wrapped(kind .. ",", #head, head))
    vim.list_extend(lines, wrapped(default, #head))
  end
  return vim.list_extend(lines, wrapped(option.doc, 4))
end

---@return string[]
local function options()
  local lines = {}
  for _, option in ipairs(schema) do
    vim.list_extend(lines, section(option))
    table.insert(lines, "")
  end
  return lines
end

---@param name string
---@param agent acp.BuiltinAgent
---@return string[]
local function described(name, agent)
  local commands = vim.tbl_map(function(command)
    return "`" .. table.concat(command, " ") .. "`"
  end, agent.commands)
  local known_as = ("%s: %s"):format(agent.title, table.concat(commands, ", or "))
  local lines = wrapped(known_as, 12, ("%-12s"):format(name))
  table.insert(lines, (" "):rep(12) .. agent.url)
  vim.list_extend(lines, wrapped(("To install: `%s`"):format(agent.install), 12))
  vim.list_extend(lines, wrapped("To sign in: " .. agent.sign_in, 12))
  for variable, words in vim.spairs(agent.env_needed or {}) do
    vim.list_extend(lines, wrapped(("$%s: %s"):format(variable, words), 12))
  end
  return lines
end

---@return string[]
local function agents()
  local lines = {}
  for name, agent in vim.spairs(catalogue) do
    vim.list_extend(lines, described(name, agent))
    table.insert(lines, "")
  end
  return lines
end

---@param words string
local function fail(words)
  io.stderr:write(("doc/acp_nvim.txt %s: see doc/generate.lua\n"):format(words))
  os.exit(1)
end

---Puts a list in place of what is between two lines of the help: the one that introduces it, with the empty line below it,
---and the one that begins what follows.
---@param lines string[]
---@param intro string the whole line
---@param following string a part of the line
---@param list string[]
---@return string[]
local function with(lines, intro, following, list)
  local first = vim.fn.index(lines, intro) + 1
  if first == 0 or vim.list_contains(vim.list_slice(lines, first + 1), intro) then
    fail(("has %s line %q"):format(first == 0 and "no" or "more than one", intro))
  elseif lines[first + 1] ~= "" then
    fail(("has no empty line below %q"):format(intro))
  end
  local result = vim.list_extend(vim.list_slice(lines, 1, first + 1), list)
  for number = first + 2, #lines do
    if lines[number]:find(following, 1, true) then
      return vim.list_extend(result, lines, number)
    end
  end
  fail(("has no %s after %q"):format(following, intro))
  return lines
end

local file = assert(io.open(FILE))
local old = file:read("*a")
file:close()
local lines = vim.split(old, "\n")
lines = with(lines, "Built-in agents:", "*acp_nvim-mcp*", agents())
lines = with(lines, "Each option, with its values and its default:", ("="):rep(WIDTH), options())
local new = table.concat(lines, "\n")

if new == old then
  return
elseif vim.list_contains(arg, "--check") then
  io.stderr:write("doc/acp_nvim.txt and what it is made from differ: run `make doc`\n")
  os.exit(1)
end
file = assert(io.open(FILE, "w"))
file:write(new)
file:close()
