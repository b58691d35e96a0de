"""Messages in the windows that Neovim 0.12 can have for them, and below it where Neovim has none."""

from __future__ import annotations

import pytest

ENABLE = """
local is_there, ui2 = pcall(require, "vim._core.ui2")
if is_there then
  ui2.enable({ msg = { targets = ... } })
end
return is_there
"""


def say(editor, kind, *texts):
    for text in texts:
        editor.lua("local kind, text = ... require('acp_nvim.kernel.message')[kind](text)", kind, text)


@pytest.mark.parametrize("target", ["cmd", "msg"])
def test_a_message_is_there_in_full_and_once_and_takes_no_key(screen, target):
    editor = screen(rows=14)
    editor.lua(ENABLE, target)
    say(editor, "warn", "first\nsecond\nthird")
    editor.wait_for("third")
    assert editor.screen_text().count("first") == 1
    assert "… :messages" not in editor.screen_text()
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert editor.printed() == "acp_nvim: first\nsecond\nthird"
    editor.type("ityped\x1b")
    editor.wait_until(lambda: editor.buffer_text() == "typed", what="the typed text")


def test_when_these_windows_are_closed_a_message_is_in_a_float_again(screen):
    editor = screen(rows=14)
    editor.lua(ENABLE + "and ui2.enable({ enable = false })", "cmd")
    say(editor, "warn", "first\nsecond\nthird")
    editor.wait_for("─ acp_nvim ─")
    editor.wait_for("third")
    assert editor.api("get_mode")["blocking"] is False


@pytest.mark.parametrize("target", ["cmd", "msg"])
def test_progress_is_one_line_that_is_replaced(screen, target):
    editor = screen(rows=14)
    editor.lua(ENABLE, target)
    say(editor, "progress", "collecting 1/3", "collecting 2/3", "collecting 3/3")
    editor.wait_for("collecting 3/3")
    assert editor.screen_text().count("collecting") == 1
    assert editor.printed() == ""


MESSAGE_WINDOW = """
local config = { relative = "editor", row = 0, col = 0, width = 9, height = 1, focusable = false, noautocmd = true }
vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, config)
"""
LEFT = """
local left = {}
for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
  left[#left + 1] = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    if vim.api.nvim_win_get_config(win).relative == "" then
      table.insert(left[#left], vim.bo[vim.api.nvim_win_get_buf(win)].filetype)
    end
  end
end
return left
"""


@pytest.mark.parametrize("position", ["tab", "right"])
@pytest.mark.parametrize("first", ["", "only", "wincmd k | only"])
@pytest.mark.parametrize("then", ["AcpToggle", "quit", "wincmd k | quit"])
def test_windows_close_as_if_those_for_messages_were_not_there(editor, position, first, then):
    editor.lua("require('acp_nvim').setup({ ui = { position = ... } })", position)
    left = []
    for code in ("", MESSAGE_WINDOW):
        editor.command("tabnew | silent! tabonly!")
        editor.command("tabnew | AcpChat!")
        editor.command(f"silent! {first}")
        editor.lua(code)
        editor.keys("")  # run what is scheduled
        editor.command(f"silent! {then}")
        editor.keys("")
        left.append(editor.lua(LEFT))
    assert left[0] == left[1]
