-- For LuaRocks and rocks.nvim; `make release` makes the one of a release from it. It has no `build.modules`, no other
-- build type and no dependencies, because lazy.nvim would then build the plugin with LuaRocks instead of build.lua.
rockspec_format = "3.0"
package = "acp_nvim"
version = "scm-1"
source = {
  url = "git+https://example.org/acp_nvim.git",
}
description = {
  summary = "Work with any coding agent inside Neovim, over the Agent Client Protocol",
  detailed = "The environment of its Python host is made by `:AcpBuild`; it needs Python 3.11 or newer.",
  license = "Apache-2.0",
  labels = { "neovim" },
}
dependencies = { "lua == 5.1" }
build = {
  type = "builtin", -- installs lua/
  copy_directories = { "acp_nvim", "doc", "plugin", "requirements", "rplugin" },
}
