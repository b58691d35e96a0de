-- Builds the Python environment of the host, for plugin managers: lazy.nvim runs this file by itself, others can run
-- `nvim -l build.lua`. In Neovim `:AcpBuild` does the same. `make setup` also installs the tools of development.
local root = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
local environment = dofile(vim.fs.joinpath(root, "lua/acp_nvim/host/environment.lua"))

local steps, has_ended, problem = {}, false, nil
environment.build(false, function(words)
  table.insert(steps, words)
end, function(words)
  has_ended, problem = true, words
  table.insert(steps, not words and "ready; see :checkhealth acp_nvim" or nil)
end)

-- lazy.nvim runs this in a coroutine of its own, shows what is yielded, and continues it
local thread, is_main = coroutine.running()
if thread and not is_main and package.loaded["lazy.async"] then
  while not has_ended or #steps > 0 do
    coroutine.yield(table.remove(steps, 1))
  end
  if problem then
    error("acp_nvim: " .. problem, 0)
  end
  return
end

repeat
  vim.wait(1000, function()
    return has_ended or #steps > 0
  end, 20)
  for _, words in ipairs(steps) do
    io.stdout:write("acp_nvim: ", words, "\n")
  end
  steps = {}
until has_ended
if problem then
  io.stderr:write("acp_nvim: ", problem, "\n")
  os.exit(1)
end
