-- Globals that a chunk reads or sets, from its bytecode; only Neovim's and Lua's own may be read, none set.
local util = require("jit.util")

local ALLOWED = {}
for name in
  vim.gsplit(
    "vim jit bit _G arg assert collectgarbage coroutine debug dofile error getmetatable io ipairs load loadfile"
      .. " loadstring math next os package pairs pcall print rawequal rawget rawset require select setmetatable"
      .. " string table tonumber tostring type unpack xpcall",
    " "
  )
do
  ALLOWED[name] = true
end

---@param code string
---@param at integer
---@return integer opcode of one instruction of that code
local function opcode(code, at)
  return bit.band(util.funcbc(assert(loadstring(code)), at), 0xff)
end

local GET = opcode("return x", 1)
local SET = opcode("x = 1", 2)

---@param proto any function or prototype
---@param visit fun(name: string, line: integer, is_set: boolean)
local function walk(proto, visit)
  local pc = 1
  local instruction = util.funcbc(proto, pc)
  while instruction do
    local code = bit.band(instruction, 0xff)
    if code == GET or code == SET then
      local name = util.funck(proto, -bit.rshift(instruction, 16) - 1)
      visit(name, util.funcinfo(proto, pc).currentline, code == SET)
    end
    pc = pc + 1
    instruction = util.funcbc(proto, pc)
  end
  local index = -1
  local constant = util.funck(proto, index)
  while constant ~= nil do
    if type(constant) == "proto" then
      walk(constant, visit)
    end
    index = index - 1
    constant = util.funck(proto, index)
  end
end

---@param _file check.File
---@param chunk function
---@return check.Problem[]
return function(_file, chunk)
  local problems = {}
  walk(chunk, function(name, line, is_set)
    if is_set then
      problems[#problems + 1] = { line = line, text = ("sets the global `%s`"):format(name) }
    elseif not ALLOWED[name] then
      problems[#problems + 1] = { line = line, text = ("reads the unknown global `%s`"):format(name) }
    end
  end)
  return problems
end
