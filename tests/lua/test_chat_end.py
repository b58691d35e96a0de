"""A chat at its end stays there, and its end fills the window, whatever the options and folds are."""

from __future__ import annotations

import pytest

from tests.lua.conftest import RECORD
from tests.lua.test_chat import append
from tests.lua.test_moved_chat import STATE
from tests.lua.test_permissions import OPTIONS, asked
from tests.lua.test_pinned_plan import plan
from tests.lua.test_screen import opened
from tests.lua.test_screen_asking import SEEN, chat_rows

OPTIONS_SET = [
    "set splitkeep=screen",
    "set splitkeep=topline",
    "set scrolloff=10",
    "set scrolloff=999",
    "set laststatus=0",
    "set laststatus=3",
    "set cmdheight=0",
    "let g:any = 1",
]


def begin(screen, *commands, focus="chat"):
    """A chat of 60 lines on a small screen."""
    editor = opened(screen, 80, 24)
    for command in commands:
        editor.command(command)
    editor.apply({"type": "turn_start", "session": 1}, append(1, 1, "words\n" * 60 + "end 1"))
    editor.command("stopinsert")
    if focus == "chat":
        editor.command("wincmd k")
    editor.wait_for("end 1")
    return editor


def is_at_end(editor, text):
    """The chat's cursor is in its last line, which can be seen."""
    editor.wait_for(text)
    editor.wait_until(lambda: editor.lua(STATE, 1)[:2] == [True, True], what=lambda: "\n".join(chat_rows(editor)))


@pytest.mark.parametrize("focus", ["chat", "prompt"])
@pytest.mark.parametrize("command", OPTIONS_SET)
def test_it_follows_when_its_windows_get_other_sizes(screen, command, focus):
    editor = begin(screen, command, focus=focus)
    editor.apply(plan(1, 2, "ccip"))
    editor.wait_for("▸ step 3")
    is_at_end(editor, "Plan (2/4)")
    editor.apply(append(1, 3, "more\nend 2"))
    is_at_end(editor, "end 2")
    editor.apply(asked(1, 4, options=OPTIONS))
    is_at_end(editor, "✗ r Reject")
    editor.command("resize -3")
    is_at_end(editor, "✗ r Reject")
    editor.apply(append(1, 5, "more\nend 3"))
    is_at_end(editor, "end 3")
    editor.command("tabnew")
    editor.apply(append(1, 6, "more\nend 4"))
    editor.command("set lines=20 | tabclose")
    is_at_end(editor, "end 4")


@pytest.mark.parametrize("command", OPTIONS_SET)
def test_who_has_gone_up_is_left_there(screen, command):
    editor = begin(screen, command)
    editor.type("15k")
    editor.wait_until(lambda: editor.lua("return vim.fn.line('.')") == 47)
    editor.apply(plan(1, 2, "ccip"))
    editor.wait_for("▸ step 3")
    editor.apply(asked(1, 4, options=OPTIONS), append(1, 5, "end 3"))
    editor.lua("vim.wait(1)")
    assert not editor.find("end 3")
    assert editor.lua("return vim.fn.line('.')") <= 47


def test_a_long_line_moves_nothing_out_of_sight_without_wrap(screen):
    editor = begin(screen)
    editor.command("setlocal nowrap")
    editor.apply(append(1, 2, "a long line " * 20))
    editor.wait_for("a long line a long")
    assert editor.lua("return vim.fn.winsaveview().leftcol") == 0
    editor.apply(append(1, 2, "\nshort"))
    is_at_end(editor, "short")
    editor.apply(asked(1, 4, title="a long title " * 4, options=OPTIONS))
    is_at_end(editor, "✓ a Allow")
    assert editor.lua("return vim.fn.winsaveview().leftcol") == 0


@pytest.mark.parametrize("resized", ["resize -2", "set lines=20", "vertical resize -5"])
def test_closed_folds_at_the_end_fill_the_window(screen, resized):
    editor = begin(screen)
    for block in range(2, 5):
        editor.apply(append(1, block, "\n".join(f"thought {block}" for _ in range(700)), "thought"))
    editor.wait_until(
        lambda: editor.lua("return vim.fn.foldclosed('$')") > 0, what=lambda: "\n".join(chat_rows(editor))
    )
    editor.command(resized)
    editor.lua("require('acp_nvim.transcript.following').show_end(vim.fn.win_getid())")
    editor.wait_until(
        lambda: editor.find("end 1") and editor.lua(STATE, 1)[:2] == [True, True], what=editor.screen_text
    )


@pytest.mark.parametrize("command", OPTIONS_SET)
def test_a_float_follows_and_shows_the_request(screen, command):
    editor = screen(columns=80, rows=24)
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    editor.lua("require('acp_nvim').setup({ ui = { position = 'float' } })")
    editor.command(command)
    editor.command("AcpChat")
    editor.apply({"type": "turn_start", "session": 1}, append(1, 1, "words\n" * 60 + "end 1"))
    is_at_end(editor, "end 1")
    editor.apply(plan(1, 2, "ccip"))
    is_at_end(editor, "Plan (2/4)")
    editor.apply(asked(1, 4, options=OPTIONS))
    is_at_end(editor, "✗ r Reject")
    editor.command("set lines=20")
    is_at_end(editor, "✗ r Reject")
    editor.wait_until(lambda: editor.lua(SEEN), what="all of it to be seen")
