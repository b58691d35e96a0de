-- Runs the Lua snippets of documents, and prints what is wrong with them: a syntax error, an option that would be ignored,
-- a <Plug> mapping that does not exist. Prints the number of snippets at the end.
--   nvim --clean --headless -l tests/tools/check_snippets.lua README.md doc/acp_nvim.txt
local root = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))))
vim.opt.runtimepath:prepend(root)
vim.cmd.runtime("plugin/acp_nvim.lua")
local config = require("acp_nvim.config")
local create_autocmd = vim.api.nvim_create_autocmd

---@param lines string[]
---@return { line: integer, text: string }[] snippets of a markdown or help file, with the number of their first line
local function snippets(lines)
  local found, block = {}, nil
  for number, line in ipairs(lines) do
    if block and (line:match("^<") or line:match("^```")) then
      table.insert(found, { line = block.line, text = table.concat(block, "\n") })
      block = nil
    elseif block then
      table.insert(block, line)
    elseif line:match(">lua$") or line:match("^```lua$") then
      block = { line = number + 1 }
    end
  end
  return found
end

---@param text string
---@return (fun(): any)? chunk a snippet may be a program, or a part of a table
---@return string? problem
local function compiled(text)
  local part = load("return {" .. text .. "\n}")
  if part then
    return part
  end
  return load(text)
end

---What a snippet may use that is not there: other plugins, a package manager, functions that need a host.
---@param report fun(problem: string)
local function prepare(report)
  local function check_options(options)
    for _, problem in ipairs(select(2, config.checked(options, "options"))) do
      report(problem)
    end
  end
  local real = require("acp_nvim")
  package.loaded["acp_nvim"] = setmetatable({ setup = check_options }, {
    __index = function(_, name)
      if real[name] == nil then
        report(("require('acp_nvim').%s does not exist"):format(name))
      end
      return function() end
    end,
  })
  for _, plugin in ipairs({ "blink.cmp", "lualine" }) do
    package.loaded[plugin] = { setup = function() end }
  end
  vim.pack = { add = function() end }
  vim.api.nvim_create_autocmd = function(event, options)
    if event ~= "PackChanged" or vim.fn.exists("##PackChanged") == 1 then -- Neovim 0.12 has it
      return create_autocmd(event, options)
    end
  end
  vim.keymap.set = function(modes, _, right)
    local plug = type(right) == "string" and right:match("^<Plug>%b()$")
    for _, mode in ipairs(plug and (type(modes) == "table" and modes or { modes }) or {}) do
      if vim.fn.maparg(plug, mode) == "" then
        report(("%s does not exist in mode %s"):format(plug, mode))
      end
    end
  end
  return check_options
end

local count, failed = 0, false
for _, file in ipairs(arg) do
  for _, snippet in ipairs(snippets(vim.fn.readfile(file))) do
    count = count + 1
    local function report(problem)
      failed = true
      io.stdout:write(("%s:%d: %s\n"):format(file, snippet.line, problem))
    end
    local check_options = prepare(report)
    vim.g.acp_nvim = nil
    local chunk, problem = compiled(snippet.text)
    local ok, result = pcall(chunk or error, problem)
    if not ok then
      report(tostring(result))
    elseif type(result) == "table" and not vim.islist(result) then
      check_options(result)
    end
    check_options(vim.g.acp_nvim or {})
    package.loaded["acp_nvim"] = nil
  end
end
io.stdout:write(("%d snippets\n"):format(count))
os.exit(failed and 1 or 0)
