-- Run by every Neovim of the tests before its plugins: puts the plugin on the path and records what it says.
local file = assert(io.open(vim.g.acp_test_file))
local given = vim.json.decode(file:read("*a"), { luanil = { object = true, array = true } })
file:close()

-- Half of what a Neovim of the tests does would be to compile Lua. This is what most plugin managers do, too.
vim.loader.path = given.compiled
vim.loader.enable()

-- The first Python file that Neovim opens has it look for Python modules for a second, which no test is about.
vim.g.loaded_python3_provider = 0

if vim.env.ACP_NVIM_LIKE == "0.13" then
  dofile(given.root .. "/tests/support/like_013.lua")
elseif vim.env.ACP_NVIM_LIKE == "ui2" then
  vim.api.nvim_create_autocmd("UIEnter", {
    callback = function()
      pcall(function()
        require("vim._core.ui2").enable({})
      end)
    end,
  })
end
if given.plugin then
  vim.o.runtimepath = vim.fn.escape(given.root, ",\\") .. "," .. vim.o.runtimepath
  package.preload["acp_nvim.limits"] = function()
    local limits = dofile(given.root .. "/lua/acp_nvim/limits.lua")
    limits.answer_pause_ms = 0 -- tests press keys at once; those about the pause set it
    return limits
  end
end
if given.contract then
  _G.acp_contract = dofile(given.root .. "/tests/support/contract.lua")
  _G.acp_contract.watch(given.contract.shapes, given.contract.problems, given.root)
end
if given.config then
  vim.g.acp_nvim = given.config
end

_G.acp_test = { events = {}, messages = {} }

vim.api.nvim_create_autocmd("User", {
  pattern = "Acp*",
  callback = function(ev)
    table.insert(_G.acp_test.events, { name = ev.match, data = ev.data == nil and vim.empty_dict() or ev.data })
  end,
})

-- its chunk is named as one of Neovim's own, since it is no plugin that shows messages
vim.notify = assert(load(
  [[local notify = ...
return function(text, level, opts)
  table.insert(_G.acp_test.messages, { text = text, level = level or vim.log.levels.INFO })
  return notify(text, level, opts)
end]],
  "@vim/_test.lua"
))(vim.notify)
