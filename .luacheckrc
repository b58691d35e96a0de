-- For luacheck (Debian: lua-check), which `make check` runs where it is installed.
std = "luajit"
cache = ".cache/luacheck"
max_line_length = false -- stylua's business; strings may be longer
ignore = { "311", "4.1" } -- `local a, b = f(), nil`; names such as `message`, of a module and of what is said
globals = { "vim" }
exclude_files = { ".venv", ".cache", "build" }
