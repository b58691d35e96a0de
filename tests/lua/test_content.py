"""What tool calls show: changes of files, terminals, words that nobody here knows."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import call


def shown(editor, *content, **more):
    """The lines of a tool call below its first."""
    key = editor.chat()
    editor.apply(call(key, 1, content=content, **more))
    return editor.lines(key)[2:]


def diff(path="/p/a.py", old_text=None, new_text="", **more):
    item = {"type": "diff", "path": path, "new_text": new_text, **more}
    return item if old_text is None else {**item, "old_text": old_text}


def terminal(**more):
    return {"type": "terminal", "terminal_id": "t-1", **more}


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("pending", "○ ± Edit main.py  pending"),
        ("paused", "‖ ± Edit main.py  paused"),
        ("cancelled", "– ± Edit main.py  cancelled"),
        ("rejected", "– ± Edit main.py  rejected"),
        ("unfinished", "– ± Edit main.py  unfinished"),
        ("_half done\nor so", "◐ ± Edit main.py  _half done"),
        ("", "◐ ± Edit main.py"),
    ],
)
def test_any_status(editor, status, line):
    key = editor.chat()
    editor.apply(call(key, 1, status))
    assert editor.seen(key)[1:] == [line]
    assert editor.lines(key)[1:] == ["Edit main.py"], "what is copied"


@pytest.mark.parametrize(
    ("kind", "words"),
    [("_dance\nparty", "• _dance "), ("", "•"), ("other", "•"), ("switch_mode", "↔"), ("execute", "$")],
)
def test_any_kind(editor, kind, words):
    key = editor.chat()
    editor.apply(call(key, 1, kind=kind))
    assert editor.seen(key)[1] == f"○ {words} Edit main.py  pending"


@pytest.mark.parametrize(
    ("item", "lines"),
    [
        (diff(operation="delete"), ["  deleted /p/a.py"]),
        (diff(operation="move", old_path="/p/b.py"), ["  moved /p/b.py -> /p/a.py"]),
        (diff(operation="copy", old_path="/p/b.py"), ["  copied /p/b.py -> /p/a.py"]),
        (diff(operation="add"), ["  /p/a.py (new file)"]),
        (diff(operation="modify", note="binary file"), ["  changed /p/a.py  binary file"]),
        (diff(), ["  changed /p/a.py"]),
        (diff(operation="_bless\nit"), ["  /p/a.py (_bless)"]),
        (diff(path="/p/a\nb", operation="delete", note="two\nlines"), ["  deleted /p/a^Jb  two"]),
        (diff(operation="delete", old_text="a\n"), ["  deleted /p/a.py", "  @@ -1 +0,0 @@", "  -a"]),
        (
            diff(operation="move", old_path="/p/b.py", old_text="a\n", new_text="b\n"),
            ["  moved /p/b.py -> /p/a.py", "  -a", "  +b"],
        ),
        (
            diff(operation="overwrite", old_text="a\n", new_text="b\n", line=1, note="+1 −1"),
            ["  overwrites /p/a.py  +1 −1", "  @@ -1 +1 @@", "  -a", "  +b"],
        ),
        (
            diff(old_text="a\n" + "x\n" * 9 + "b\n", new_text="A\n" + "x\n" * 9 + "B\n"),
            ["  /p/a.py", "  -a", "  +A", *["   x"] * 3, "  @@", *["   x"] * 3, "  -b", "  +B"],
        ),
        (diff(operation="add", new_text="a\n"), ["  /p/a.py (new file)", "  @@ -0,0 +1 @@", "  +a"]),
        (diff(old_text="a", new_text="a"), ["  /p/a.py", "  (no change)"]),
        (
            diff(path="patch", operation="patch", new_text="@@ odd\n+x\n", note="shown as it came: why"),
            ["  patch (patch)  shown as it came: why", "  @@ odd", "  +x"],
        ),
    ],
)
def test_what_happens_to_a_file(editor, item, lines):
    assert shown(editor, item) == lines


def test_paths_are_from_the_directory_of_the_session(editor):
    cwd = editor.lua("return vim.fn.getcwd()")
    item = diff(f"{cwd}/new/b.py", operation="move", old_path=f"{cwd}/a.py")
    assert shown(editor, item, diff(f"{cwd}x/c.py")) == ["  moved a.py -> new/b.py", f"  changed {cwd}x/c.py"]


def test_a_place_that_a_diff_names_is_not_named_twice(editor):
    places = [{"path": "/p/a.py", "line": 3}, {"path": "/p/b.py", "line": 4}]
    lines = shown(editor, diff(operation="delete"), locations=places)
    assert lines == ["  /p/b.py:4", "  deleted /p/a.py"]


def test_hunks_of_one_file_stand_below_one_name_and_count_its_lines(editor):
    hunks = [
        diff(old_text="a\nb\nc\n", new_text="a\nB1\nB2\nc\n", line=10),
        diff(old_text="x\nx\n", new_text="", line=30),
        diff(old_text="y\n", new_text="Y\n", line=50),
        diff(old_text="s\n", new_text="S\n"),
        diff("/p/b.py", old_text="1\n", new_text="2\n", line=7),
    ]
    assert shown(editor, *hunks) == [
        "  /p/a.py",
        "  @@ -10,3 +10,4 @@", "   a", "  -b", "  +B1", "  +B2", "   c",
        "  @@ -30,2 +30,0 @@", "  -x", "  -x",
        "  @@ -50 +49 @@", "  -y", "  +Y",
        "  @@", "  -s", "  +S",
        "  /p/b.py",
        "  @@ -7 +7 @@", "  -1", "  +2",
    ]  # fmt: skip


def test_many_changes_are_cut_but_every_file_is_named(editor):
    text = "".join(f"line {n}\n" for n in range(100))
    lines = shown(editor, *[diff(f"/p/{n // 2}.py", old_text="", new_text=text) for n in range(400)])
    assert [line for line in lines if line.startswith("  /p/")] == [f"  /p/{n}.py" for n in range(200)]
    rest = [n for n, line in enumerate(lines) if "is not shown" in line]
    assert len(rest) > 150
    assert all(lines[n - 1].startswith("  /p/") for n in rest[1:]), "once for each file"
    assert len(lines) < 1000


def test_a_terminal_shows_its_command_what_it_printed_and_how_it_ended(editor):
    output = "ok 1\r\nnot ok 2\n\n"
    assert shown(editor, terminal(command="make test", output=output, exit_code=2)) == [
        "  $ make test", "  ok 1", "  not ok 2", "  exit 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({}, ["  terminal"]),
        ({"output": "words"}, ["  terminal", "  words"]),
        ({"command": "ls", "exit_code": 0}, ["  $ ls"]),
        ({"command": "ls\n  -l\0", "output": "\n"}, ["  $ ls", "    -l^@"]),
        ({"command": "ls", "signal": "SIGTERM"}, ["  $ ls", "  killed by SIGTERM"]),
        ({"command": "ls", "exit_code": 137, "signal": "SIGKILL"}, ["  $ ls", "  killed by SIGKILL"]),
        ({"command": "ls", "cwd": "/elsewhere\nx"}, ["  $ ls  in /elsewhere^Jx"]),
    ],
)
def test_what_is_known_of_a_terminal(editor, more, lines):
    assert shown(editor, terminal(**more)) == lines


def test_a_terminal_in_the_session_s_directory_does_not_say_where(editor):
    cwd = editor.lua("return vim.fn.getcwd()")
    assert shown(editor, terminal(command="ls", cwd=cwd)) == ["  $ ls"]
    assert shown(editor, terminal(command="ls", cwd=f"{cwd}/sub")) == ["  $ ls  in sub"]


NUMBERS = [str(number) for number in range(1, 501)]
BOTH_ENDS = [f"  {n}" for n in range(1, 9)] + ["… 480 lines … (K: all of it)"] + [f"  {n}" for n in range(489, 501)]


@pytest.mark.parametrize(
    "cut",
    [
        ("\n".join(NUMBERS), 0, ""),
        ("\n".join(NUMBERS[:8]), 480, "\n".join(NUMBERS[-12:])),
        ("\n".join(NUMBERS[:8]) + "\n", 480, "\n".join(NUMBERS[-12:]) + "\n"),
    ],
)
def test_of_a_long_output_both_ends_are_shown(editor, cut):
    output, lines, tail = cut
    one = terminal(command="seq 500", output=output, lines=lines, tail=tail, exit_code=1)
    assert shown(editor, one) == ["  $ seq 500", *BOTH_ENDS, "  exit 1"]
    assert shown(editor, {"type": "text", "text": output, "lines": lines, "tail": tail}) == BOTH_ENDS
    resource = {"type": "resource", "uri": "x:y", "text": output, "lines": lines, "tail": tail}
    assert shown(editor, resource) == ["  x:y", *BOTH_ENDS]


def test_of_an_output_whose_beginning_is_lost_the_end_is_shown(editor):
    one = terminal(command="yes", output="", lines=480, tail="y\ny")
    assert shown(editor, one) == ["  $ yes", "… 480 lines … (K: all of it)", "  y", "  y"]


@pytest.mark.parametrize("count", [20, 21])
def test_a_line_that_takes_the_room_of_its_count_is_shown(editor, count):
    text = "\n".join(NUMBERS[:count])
    assert shown(editor, {"type": "text", "text": text}) == [f"  {n}" for n in NUMBERS[:count]]


def test_a_text_says_how_its_command_has_failed(editor):
    assert shown(editor, {"type": "text", "text": "oh", "exit_code": 2}) == ["  oh", "  exit 2"]
    assert shown(editor, {"type": "text", "text": "", "signal": "SIGKILL"}) == ["  killed by SIGKILL"]


def test_listeners_hear_of_output_and_of_the_end(editor):
    key = editor.chat()
    for more in ({}, {"output": "a"}, {"output": "a"}, {"output": "a", "exit_code": 1}):
        editor.apply(call(key, 1, "in_progress", content=[terminal(command="ls", **more)]))
    assert len(editor.events("AcpToolCall")) == 3
