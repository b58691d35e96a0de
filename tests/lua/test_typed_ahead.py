"""What is typed ahead of a change of the focus is dropped, and nothing else is."""

from __future__ import annotations

AHEAD = """
vim.api.nvim_buf_set_lines(0, 0, -1, true, { "text" })
local text = vim.api.nvim_get_current_win()
vim.cmd("new | setlocal buftype=nofile")
require("acp_nvim.keys.typed_ahead").run("<CR>", function() vim.api.nvim_set_current_win(text) end)
vim.cmd("normal! zz") -- as an event does that folds or scrolls
"""


def test_what_an_event_does_by_normal_is_not_taken_for_keys_typed_ahead(editor):
    editor.lua('require("acp_nvim.limits").seen_ms = 3600000')
    editor.lua(AHEAD)
    editor.lua("")  # what comes before this is answered may be typed ahead of the screen, and is dropped for an hour
    editor.keys("x")
    editor.wait_until(lambda: editor.api("get_current_line") == "ext", what="the key that was typed after it")


def test_what_an_event_does_by_normal_at_once_is_done(editor):
    """Many have `normal! zv` or `normal! zz` for an event that comes when the cursor or the window has changed."""
    editor.lua('vim.api.nvim_create_autocmd("User", { command = "normal! 2l" })')
    editor.lua(AHEAD.replace('vim.cmd("normal! zz")', 'vim.api.nvim_exec_autocmds("User", { pattern = "Changed" })'))
    assert editor.api("win_get_cursor", 0) == [1, 2]
