"""What a person sees while a permission waits, on small and large screens: what to judge, and the keys, in one look."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import call
from tests.lua.test_permissions import asked, done
from tests.lua.test_pinned_plan import plan
from tests.lua.test_screen import append, opened

OPTIONS = [
    {"option_id": "a", "name": "Allow", "kind": "allow_once"},
    {"option_id": "A", "name": "Allow for this session", "kind": "allow_always"},
    {"option_id": "r", "name": "Reject", "kind": "reject_once"},
    {
        "option_id": "acp_nvim:reject_always", "name": "Always reject edit of greeting.py in this project",
        "kind": "reject_always", "ours": True,
    },
]  # fmt: skip
TITLE = "Greet the first person too in greeting.py"
SIZES = [(80, 24), (120, 40), (200, 50)]
SEEN = "return require('acp_nvim.permission.visibility').is_whole(7)"


def diff(lines=2):
    old = "".join(f"old {number}\n" for number in range(lines))
    return [{"type": "diff", "path": "/p/greeting.py", "old_text": f"a\n{old}", "new_text": "a\nnew\n", "line": 1}]


DIFF = ["  /p/greeting.py", "  @@ -1,3 +1,2 @@", "   a", "  -old 0", "  -old 1", "  +new"]
"""The rows that show the diff."""


def begin(screen, columns, rows):
    """A chat whose turn has a plan, and has said something."""
    editor = opened(screen, columns, rows)
    editor.apply({"type": "turn_start", "session": 1}, append("words\n" * 60, 1), plan(1, 2, "ccip"))
    editor.wait_for("▸ step 3")
    return editor


def chat_rows(editor):
    """The rows of the chat's text, without blank ends."""
    top, left, height, width = editor.lua("""
      local win = vim.fn.win_findbuf(require("acp_nvim.host.sessions").get(1).bufnr)[1]
      local info = vim.fn.getwininfo(win)[1]
      return { info.winrow + info.winbar - 1, info.wincol - 1, info.height, info.width }""")
    return [row[left : left + width].rstrip() for row in editor.rows()[top : top + height]]


def looks(editor, *rows):
    """Waits until the chat ends with these rows."""
    wanted = list(rows)
    editor.wait_until(lambda: chat_rows(editor)[-len(wanted) :] == wanted, what=lambda: "\n".join(chat_rows(editor)))


def test_a_small_screen_shows_the_change_and_all_options(screen):
    editor = begin(screen, 80, 24)
    editor.apply(call(1, 3, title=TITLE, content=diff()), asked(1, 4, title=TITLE, content=diff(), options=OPTIONS))
    looks(
        editor,
        "Plan (2/4)  5 lines",
        "",
        "○ ± Greet the first person too in",
        "greeting.py  pending",
        *DIFF,
        "",
        "Permission needed  edit",
        "✓ a Allow · ✓ A Allow for this session",
        "✗ r Reject",
        "✗ R Always reject edit of greeting.py",
        "in this project (kept by acp_nvim)",
    )
    assert not editor.find("▸ step 3")
    editor.wait_until(lambda: editor.lua(SEEN), what="all of it to be seen")
    editor.apply(done(1, 4, option_id="a", name="Allow"))
    editor.wait_for("▸ step 3")
    looks(editor, "", "Permission  edit  Greet the first", "person too in greeting.py", "  ✓ Allow")


def test_a_small_screen_shows_the_title_of_a_long_change_beside_the_options(screen):
    editor = begin(screen, 80, 24)
    content = diff(30)
    editor.apply(call(1, 3, title=TITLE, content=content), asked(1, 4, title=TITLE, content=content, options=OPTIONS))
    looks(
        editor,
        "  -old 29",
        "  +new",
        "",
        "Permission needed  edit  Greet the",
        "first person too in greeting.py",
        "✓ a Allow · ✓ A Allow for this session",
        "✗ r Reject",
        "✗ R Always reject edit of greeting.py",
        "in this project (kept by acp_nvim)",
    )


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_command_is_there_with_its_options(screen, columns, rows):
    editor = begin(screen, columns, rows)
    request = asked(1, 4, title="`wc -l greeting.py`", command="wc -l greeting.py", options=OPTIONS[:3])
    request["request"].update(kind="execute", cwd="/p")
    editor.apply(call(1, 3, title="`wc -l greeting.py`", kind="execute"), request)
    options = ["✓ a Allow · ✓ A Allow for this session", "✗ r Reject"]
    looks(
        editor,
        "",
        "Permission needed  execute",
        "┃ $ wc -l greeting.py",
        "┃ in /p",
        *(options if columns < 200 else [" · ".join(options)]),
    )
    assert (editor.find("▸ step 3") is None) == (rows == 24)
    assert editor.screen_text().count("wc -l") == 1


NARROW = (
    ["○ ± Greet the first person too in greeting.py", "pending"],
    [
        "✓ a Allow · ✓ A Allow for this session",
        "✗ r Reject",
        "✗ R Always reject edit of greeting.py in this",
        "project (kept by acp_nvim)",
    ],
)
WIDE = (
    ["○ ± Greet the first person too in greeting.py  pending"],
    [
        "✓ a Allow · ✓ A Allow for this session · ✗ r Reject",
        "✗ R Always reject edit of greeting.py in this project (kept by acp_nvim)",
    ],
)


@pytest.mark.parametrize(("columns", "rows", "parts"), [(120, 40, NARROW), (200, 50, WIDE)])
def test_a_large_screen_keeps_the_plan_and_shows_it_once(screen, columns, rows, parts):
    editor = begin(screen, columns, rows)
    editor.apply(call(1, 3, title=TITLE, content=diff()), asked(1, 4, title=TITLE, content=diff(), options=OPTIONS))
    title, options = parts
    looks(
        editor,
        "Plan (2/4)  5 lines",
        "",
        *title,
        *DIFF,
        "",
        "Permission needed  edit",
        *options,
    )
    assert editor.screen_text().count("step 3") == 1


def test_the_plan_is_whole_in_the_chat_when_the_turn_is_over(screen):
    editor = begin(screen, 80, 24)
    looks(editor, "Plan (2/4)  5 lines")
    editor.apply({"type": "turn_end", "session": 1, "stop_reason": "end_turn"})
    looks(editor, "Plan (2/4) [not finished]", "  ✓ step 1", "  ✓ step 2", "  ○ step 3", "  ○ step 4")


def test_the_prompt_keeps_the_lines_of_its_text(screen):
    editor = begin(screen, 80, 24)
    editor.type("ione\rtwo\rthree")
    editor.wait_for("three")
    editor.apply(asked(1, 3, options=OPTIONS))
    editor.wait_until(lambda: not editor.find("▸ step 3"), what="the plan to be gone")
    for word in ("one", "two", "three", "✗ r Reject"):
        assert editor.find(word), word
    editor.type("!")
    editor.wait_for("three!")


def test_a_request_that_becomes_shorter_leaves_no_empty_lines_below_it(screen):
    """The request has the title of a call that cannot be seen with it, until plan and prompt leave more room."""
    editor = begin(screen, 112, 28)
    content = diff(9)
    tool_call = call(1, 3, title=TITLE, content=content)
    editor.apply(tool_call, asked(1, 4, title=TITLE, content=content, options=OPTIONS))
    editor.wait_until(lambda: not editor.find("▸ step 3"), what="the lines of the plan")
    editor.apply(tool_call)
    looks(
        editor,
        "Permission needed  edit",
        "✓ a Allow · ✓ A Allow for this session",
        "✗ r Reject",
        "✗ R Always reject edit of greeting.py in",
        "this project (kept by acp_nvim)",
    )
    editor.wait_until(lambda: editor.lua(SEEN), what="all of it to be seen")
