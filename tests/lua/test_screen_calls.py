"""What a person sees of a tool call with several files and a terminal, and of two plans, on screens of any width."""

from __future__ import annotations

import pytest

from tests.lua.test_content import diff, terminal
from tests.lua.test_plans import plan
from tests.lua.test_screen import apply, opened

CALL = {
    "id": "t1",
    "title": "Rename the greeting everywhere",
    "kind": "edit",
    "status": "paused",
    "locations": [{"path": "/p/src/greeting.py", "line": 3}],
    "content": [
        diff("/p/src/greeting.py", "def hello():\n    pass\n", "def greet():\n    pass\n", line=41),
        diff("/p/src/greeting.py", "hello()\n", "greet()\n", line=80),
        diff("/p/src/old_name.py", operation="move", old_path="/p/src/hello.py"),
        diff("/p/logo.png", operation="delete", note="binary"),
        terminal(command="make test PYTEST_ARGS=tests", output="12 passed\n1 failed", exit_code=1),
    ],
}
EVENTS = [
    plan(1, 1, ("Rename", "completed", "high"), ("Test", "in_progress", "medium"), title="rename"),
    plan(1, 2, title="release", text="Tell the users\n1. write it down"),
    plan(1, 3, ("Ask", "_dreamt", "_whenever"), title="dream"),
    {"type": "tool_call", "session": 1, "block": 4, "call": CALL},
]
SEEN = [
    "Plan rename (1/2)",
    "✓ Rename",
    "▸ Test",
    "Plan release",
    "1. write it down",
    "Plan dream (0/1)",
    "○ Ask [_dreamt]",
    "‖ ± Rename the greeting",
    "@@ -41,2 +41,2 @@",
    "-def hello():",
    "+def greet():",
    "@@ -80 +80 @@",
    "moved /p/src/hello.py -> ",
    "deleted /p/logo.png  binary",
    "$ make test PYTEST_ARGS=tests",
    "12 passed",
    "exit 1",
]


def unfold(editor):
    """Opens what is folded in the chat: the plans that are pinned below it."""
    editor.lua(
        "local win = vim.fn.bufwinid(...) vim.api.nvim_win_call(win, function() vim.cmd('normal! zR') end)",
        editor.lua("return require('acp_nvim.host.sessions').get(1).bufnr"),
    )


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_it_can_be_read(screen, columns):
    editor = opened(screen, columns, 50)
    apply(editor, *EVENTS)
    editor.wait_for("exit 1")
    unfold(editor)
    places = [editor.wait_for(words) for words in SEEN]
    assert [row for row, _ in places] == sorted({row for row, _ in places}), "one below the other"
    assert editor.api("get_mode")["blocking"] is False


def test_colours_tell_what_came_and_went_and_what_failed(screen):
    editor = opened(screen, 120, 50)
    apply(editor, *EVENTS)
    editor.wait_for("exit 1")
    unfold(editor)
    words = ["+def greet():", "-def hello():", "exit 1", "12 passed", "✓ Rename"]

    def as_it_should_be():
        came, went, failed, plain, done = (editor.cell(*editor.wait_for(one)).fg for one in words)
        return len({came, went, plain, done}) == 4 and failed not in (plain, done)

    editor.wait_until(as_it_should_be, what="the colours")  # the screen is drawn in several steps
