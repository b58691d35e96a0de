-- Checks all Lua of the repository: nvim --clean --headless -l tests/tools/check_lua.lua [root]
local here = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))
package.path = here .. "/check_lua/?.lua;" .. package.path
local root = vim.fs.normalize(_G.arg[1] or vim.fs.joinpath(here, "../.."))

local EVERYWHERE = { "globals", "unused" }
local SHIPPED = { "shape", "rules", "readers", "switches", "names" }
-- folders with Lua, and whether it is shipped
local FOLDERS = { lua = true, plugin = true, tests = false, doc = false }

---@class check.File
---@field name string from the root of the repository
---@field text string
---@field tree? TSNode root of its syntax tree
---@field aliases? table<string, string> see `nodes.aliases`

---@class check.Problem
---@field line integer
---@field text string

---@param path string
---@return check.File
local function open(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return { name = path:sub(#root + 2), text = text }
end

---@return check.File[] files, table<string, true> shipped
local function files()
  local out, shipped = { vim.uv.fs_stat(root .. "/build.lua") and open(root .. "/build.lua") }, {}
  for folder, is_shipped in vim.spairs(FOLDERS) do
    for path in vim.fs.dir(vim.fs.joinpath(root, folder), { depth = 20 }) do
      if path:match("%.lua$") then
        local file = open(vim.fs.joinpath(root, folder, path))
        out[#out + 1] = file
        shipped[file.name] = is_shipped or nil
      end
    end
  end
  return out, shipped
end

local failed = false

-- not print: Neovim's own cuts and joins lines when there is no screen
---@param words string
local function say(words)
  io.stdout:write(words, "\n")
end

---@param name string
---@param problems check.Problem[]
local function report(name, problems)
  for _, problem in ipairs(problems) do
    failed = true
    say(("%s:%d: %s"):format(name, problem.line, problem.text))
  end
end

---@param file check.File
---@param is_shipped boolean?
---@return boolean parsed
local function check(file, is_shipped)
  local chunk, problem = loadstring(file.text, "@" .. file.name)
  if not chunk then
    local line, words = problem:match(":(%d+): (.*)")
    report(file.name, { { line = tonumber(line) or 1, text = words or problem } })
    return false
  end
  file.tree = vim.treesitter.get_string_parser(file.text, "lua"):parse()[1]:root()
  file.aliases = require("nodes").aliases(file)
  local problems, lines = {}, {}
  for _, name in ipairs(is_shipped and vim.list_extend(vim.list_slice(EVERYWHERE), SHIPPED) or EVERYWHERE) do
    for _, one in ipairs(require(name)(file, chunk)) do
      if not lines[one.line] or vim.list_contains(EVERYWHERE, name) then
        problems[#problems + 1] = one
      end
    end
    for _, one in ipairs(problems) do
      lines[one.line] = true -- what one check has found there, another one may find, too
    end
  end
  report(file.name, problems)
  return true
end

local all, shipped = files()
local parsed = vim.tbl_filter(function(file)
  return check(file, shipped[file.name])
end, all)
local graph, modules = require("requires")(parsed)
for _, name in ipairs({ "cycles", "layers" }) do
  for _, words in ipairs(require(name)(graph, modules)) do
    failed = true
    say(words)
  end
end
if #all == 0 then
  failed = true
  say("no Lua found in " .. root)
end
say(("%d Lua files checked"):format(#all))
os.exit(failed and 1 or 0)
