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
        editor.lua("local kind, text = ... require('acp_nvim.message')[kind](text)", kind, text)


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
