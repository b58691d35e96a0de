"""A tool call that says no more than the command of the request right below it is hidden while the request waits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lua.conftest import LuaEditor
from tests.lua.test_chat import append, call
from tests.lua.test_permissions import asked, done
from tests.lua.test_screen import opened
from tests.lua.test_screen_asking import SEEN, chat_rows, looks
from tests.support.examples import examples

COMMAND = "wc -l greeting.py"
TEXT = {"type": "text", "text": "Count the lines"}
DRAWN = """
local key, bufnr = ..., require("acp_nvim.host.sessions").get(...).bufnr
local hidden, drawn = {}, {}
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, -1, 0, -1, { details = true })) do
  for row = mark[2], mark[4].conceal_lines and mark[4].end_row or -1 do hidden[row] = true end
end
for row, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)) do
  if not hidden[row - 1] then table.insert(drawn, line) end
end
return { drawn, vim.tbl_count(hidden) }
"""


def ran(title=f"`{COMMAND}`", **more):
    return call(1, 3, title=title, **{"kind": "execute", **more})


def request(content=(), command=COMMAND):
    event = asked(1, 4, title=f"`{COMMAND}`", command=command, content=content)
    event["request"].update(kind="execute", cwd="/p")
    return event


def waiting(screen, *events):
    editor = opened(screen, 80, 24)
    editor.apply({"type": "turn_start", "session": 1}, append(1, 1, "words\n" * 60 + "end"), *events)
    editor.wait_for("Permission needed")
    return editor


def times(editor, words):
    return "\n".join(chat_rows(editor)).count(words)


ANSWERS = ["✓ a Allow once · ✓ A Allow always", "✗ r Reject once · ✗ R Reject always"]
BELOW = ["┃ $ " + COMMAND, "┃ in /p"]


def test_the_command_is_there_once_and_returns_with_the_answer(screen):
    editor = waiting(screen, ran(), request())
    looks(editor, "end", "", "Permission needed  execute", *BELOW, *ANSWERS, "? 5 Ask^Jmy boss (boss)")
    editor.apply(done(1, 4))
    looks(editor, f"○ $ `{COMMAND}`  pending", "", f"Permission  execute  `{COMMAND}`", "  ✓ Allow once")


def test_a_description_goes_into_the_request(screen):
    editor = waiting(screen, ran(content=[TEXT]), request([TEXT]))
    looks(editor, "", "Permission needed  execute", *BELOW, "  Count the lines", *ANSWERS, "? 5 Ask^Jmy boss (boss)")
    assert times(editor, COMMAND) == 1
    editor.wait_until(lambda: editor.lua(SEEN), what="all of it to be seen")


@pytest.mark.parametrize(
    "more",
    [
        {"title": "Count the lines"},
        {"title": f"{COMMAND} && rm -r build"},
        {"content": [TEXT]},
        {"locations": [{"path": "/p/other.py"}]},
        {"kind": "edit"},
        {"status": "failed"},
        {"status": "_dreamt"},
        {"under": "a helper"},
        {"depth": 1},
    ],
    ids=str,
)
def test_what_says_more_is_shown_also_if_it_says_so_later(screen, more):
    editor = waiting(screen, ran(**more), request())
    head = chat_rows(editor)
    assert any(row.startswith(("○", "✗", "◌", "◐", "●", "↳")) or "○ " in row for row in head), head
    editor.apply(ran())
    editor.apply(ran(**more))
    editor.wait_until(lambda: chat_rows(editor) == head, what=lambda: "\n".join(chat_rows(editor)))
    assert f"┃ $ {COMMAND}" in head, "the host says it in any case"


def test_a_title_that_changes_while_the_request_waits_is_seen(screen):
    editor = waiting(screen, ran(), request())
    assert not editor.find("pending")
    editor.apply(ran(title="harmless"))
    editor.wait_for("harmless  pending")
    assert times(editor, f"┃ $ {COMMAND}") == 1
    editor.apply(ran())
    editor.wait_until(lambda: times(editor, COMMAND) == 1, what=lambda: "\n".join(chat_rows(editor)))


def test_it_can_be_yanked_and_is_shown_below_the_cursor(screen):
    editor = waiting(screen, ran(), request())
    editor.command("stopinsert | wincmd k")
    editor.lua("vim.fn.search([[^`wc]], 'bw')")
    editor.wait_for(f"○ $ `{COMMAND}`  pending")
    editor.type("yy")
    editor.wait_until(lambda: editor.lua("return vim.fn.getreg('0')") == f"`{COMMAND}`\n", what="the title")


def test_a_chat_that_shows_all_marks_shows_the_call(screen):
    editor = opened(screen, 80, 24)
    editor.command("wincmd k | setlocal conceallevel=0 | wincmd j")
    editor.apply(ran(), request())
    editor.wait_until(lambda: times(editor, COMMAND) == 2, what=lambda: "\n".join(chat_rows(editor)))


TITLES = st.sampled_from(["ls", "`ls`", "Run ls", "Run l …", "List", "ls -l", "ls\nls", "`ls\nls`", "", "  $ ls"])
ITEMS = st.lists(st.sampled_from(["one", "two", "$ ls", "three\nfour", "", "one\none"]), max_size=3)
CALLS = st.builds(
    lambda title, items, status, kind: ran(
        title, content=[{"type": "text", "text": one} for one in items], status=status, kind=kind
    ),
    TITLES, ITEMS, st.sampled_from(["pending", "in_progress", "completed", "failed"]),
    st.sampled_from(["execute", "execute", "edit"]),
)  # fmt: skip
REQUESTS = st.builds(
    lambda items, command: request([{"type": "text", "text": one} for one in items], command),
    ITEMS, st.sampled_from(["ls", "ls", "ls\nls", "List", None]),
)  # fmt: skip


def bare(lines):
    """What the lines say, without marks."""
    return {line.strip(" ┃").removeprefix("$ ").removeprefix("Run ").strip("`") for line in lines}


def test_nothing_that_the_agent_says_is_missing(tmp_path) -> None:
    editor = LuaEditor(tmp_path)
    try:
        editor.chat()

        @settings(max_examples=examples(60), deadline=None)
        @given(st.lists(CALLS | REQUESTS, min_size=2, max_size=6))
        def check(events) -> None:
            editor.apply({"type": "reset", "session": 1}, append(1, 1, "words"), ran("List"))
            for event in [*events, done(1, 4)]:
                editor.apply(event)
                editor.lua("vim.wait(0)")  # what is drawn at the end of the batch
                drawn, hidden = editor.lua(DRAWN, 1)
                if hidden:
                    said = bare(drawn) | {one for one in bare(drawn) if one.startswith("l")}
                    for line in bare(editor.lines(1)):
                        assert line in said or line.endswith(" …"), (line, drawn)
            assert hidden == 0

        check()
    finally:
        editor.close()
