"""What a person sees of the line above the chat, of plans, and of a chat that floats, on screens of any width."""

from __future__ import annotations

import re

import pytest

from tests.lua.conftest import RECORD
from tests.lua.test_pinned_plan import plan
from tests.lua.test_screen import append, apply
from tests.lua.test_winbar import FULL, status

SETUP = 'require("acp_nvim").setup({ ui = ... })'


@pytest.fixture
def opened(screen):
    """A chat on a screen of so many columns, with a moment that does not pass."""

    def opened(columns=100, rows=30, **ui):
        editor = screen(columns=columns, rows=rows)
        editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
        editor.lua("os.time = function() return 1000 end")
        editor.lua(SETUP, {"spinner": False, **ui})
        editor.command("AcpChat")
        return editor

    return opened


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (60, "│ ◐ claude Run `make test… · 1m15s · 1/3"),
        (100, "│ ◐ claude Run `make test… · 1m15s · 1/3"),
        (200, "│ ◐ claude Run `make test… · 1m15s · 1/3 · +2 · ±3 · Accept edits · sonnet · 23%"),
    ],
)
def test_the_line_above_the_chat(opened, columns, words):
    editor = opened(columns)
    apply(editor, plan(1, 1, "cip"), {"type": "status", "session": 1, "status": FULL})
    editor.wait_for("1m15s")
    assert editor.rows()[0].endswith(words)


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_plans_above_the_prompt(opened, columns):
    editor = opened(columns)
    apply(editor, status(1), append("What was said.", 1), plan(1, 2, "ccccippp"))
    last, column = editor.wait_for("… 3 above")
    row = last - 4
    rows = [text[column:].strip() for text in editor.rows()]
    assert rows[row - 1 : row + 5] == ["✓ step 4", "▸ step 5", "○ step 6", "○ step 7", "○ step 8", "… 3 above"]
    assert rows[row + 6].startswith("Prompt")
    assert editor.cell(row, column).fg != editor.cell(row + 1, column).fg
    assert editor.cell(row - 1, column).fg != editor.cell(row + 1, column).fg
    prompt = editor.find("Ask demo")
    assert prompt is not None
    assert editor.cursor() == prompt
    apply(editor, {"type": "turn_end", "session": 1, "stop_reason": "end_turn"})
    editor.wait_until(lambda: not editor.find("… 3 above"), what="the plan to go")
    assert editor.cursor() == editor.find("Ask demo")


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_a_chat_that_floats(opened, columns):
    editor = opened(columns, position="float")
    apply(editor, status(1), append("What was said.", 1), plan(1, 2, "ci"))

    def above_the_prompt():
        row, column = editor.find("Prompt") or (1, 0)
        return editor.rows()[row - 1][column:].startswith("▸ step 2")

    editor.wait_until(above_the_prompt, what="the plan above the prompt")
    rows = editor.rows()
    top, left = editor.find("╭ demo ─")
    right = rows[top].index("╮")
    bottom = next(row for row, text in enumerate(rows) if "╰" in text)
    assert right - left - 1 == columns * 8 // 10
    inside = [text[left + 1 : right].strip() for text in rows[top + 1 : bottom]]
    assert all(text[left] == text[right] == "│" for text in rows[top + 1 : bottom])
    assert inside[0].startswith("◐ demo working · plan 1/2")
    at = inside.index("Prompt · <CR> sends")
    assert inside[at - 2 : at] == ["✓ step 1", "▸ step 2"]
    assert inside[at + 1].startswith("Ask demo")
    assert "What was said." in inside
    editor.resize(columns - 10, 20)
    width = (columns - 10) * 8 // 10
    editor.wait_until(lambda: any("╭ demo " + "─" * (width - 6) + "╮" in row for row in editor.rows()), what="its size")
    editor.type("\x1b")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "n", what="Normal mode")
    editor.type(":q\r")
    editor.wait_until(lambda: not editor.find("╭"), what="the float to go")


def test_it_moves_on_the_screen_and_nothing_else_does(opened):
    editor = opened(spinner=True)
    apply(editor, status(1), append("What was said.", 1))
    seen = set()

    def frames():
        found = re.search(r"(\S) demo working", editor.screen_text())
        seen.add(found[1] if found else "")
        return len(seen & set("◐◓◑◒")) == 4

    editor.wait_until(frames, what="all frames")
    editor.type(":echo 'half")
    editor.wait_for(":echo 'half")
    assert editor.cursor() == (29, 11)


def test_who_looks_elsewhere_has_not_seen_it(opened):
    editor = opened()
    apply(editor, status(1))
    unread = 'return require("acp_nvim").status().unread'
    editor.type("\x1b[O")
    editor.wait_until(lambda: not editor.lua('return require("acp_nvim.chat.unread").has_focus()'), what="FocusLost")
    apply(editor, append("What was said.", 1), {"type": "turn_end", "session": 1, "stop_reason": "end_turn"})
    assert editor.lua(unread) == 1
    editor.wait_for("acp_nvim: demo is done (:AcpChat)")
    editor.type("\x1b[I")
    editor.wait_until(lambda: editor.lua(unread) == 0, what="FocusGained")
    assert not editor.find("Press ENTER")


@pytest.mark.parametrize("bell", [True, False])
def test_the_bell_rings_in_a_terminal(opened, bell):
    editor = opened()
    editor.lua('require("acp_nvim").setup({ notify = { bell = ... } })', bell)
    editor.command("tabnew")
    rung = editor.terminal.look_for(b"\x07")
    apply(editor, status(1), {"type": "turn_end", "session": 1, "stop_reason": "end_turn"})
    editor.wait_for("acp_nvim: demo is done")
    editor.type(":echo 'all' 'of it'\r")
    editor.wait_for("all of it")
    assert (rung.at is not None) == bell
