-- Compiles all Lua of Neovim and of the plugin into the directory `arg[1]`, before many Neovims would do so at once:
-- one could read what another has half written. `nvim -l compile_lua.lua DIRECTORY ROOT`
local directory, root = arg[1], arg[2]
vim.loader.path = directory
vim.loader.enable()
for _, top in ipairs({ vim.env.VIMRUNTIME, root .. "/lua", root .. "/plugin", root .. "/ftplugin" }) do
  for file, kind in vim.fs.dir(top, { depth = 10 }) do
    if kind == "file" and file:find("%.lua$") then
      loadfile(vim.fs.joinpath(top, file))
    end
  end
end
