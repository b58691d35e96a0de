"""A line that is too long for a buffer is cut, with words that count the rest; the next one is whole again."""

from __future__ import annotations

import re

from tests.lua.test_chat import append

MOST, WIDE = 128 * 1024, 32 * 1024
WORDS = re.compile(r"^(x*) … and ([\d,]+) more bytes on this line \(:AcpExport writes all of it\)$")


def counted(line):
    """How much of it there is, and how much it says that there is not."""
    shown, more = WORDS.match(line).groups()
    return len(shown), int(more.replace(",", ""))


def test_a_line_of_a_piece_is_cut(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "before\n" + "x" * 1_000_000 + "\nafter\n" + "x" * MOST + "\n"))
    lines = editor.lines(key)[1:]
    assert counted(lines[1]) == (MOST, 1_000_000 - MOST)
    assert [lines[0], lines[2], lines[3], lines[4]] == ["before", "after", "x" * MOST, ""]


def test_a_line_that_grows_is_cut_and_counted_on(editor):
    key = editor.chat()
    for _ in range(10):
        editor.apply(append(key, 1, "x" * 20_000))
    editor.wait_until(lambda: counted(editor.lines(key)[1]) == (MOST, 200_000 - MOST), what="the number")
    editor.apply(append(key, 1, "xx\nnext"), append(key, 1, " line"))
    assert counted(editor.lines(key)[1]) == (MOST, 200_002 - MOST)
    assert editor.lines(key)[2:] == ["next line"]


def test_a_line_of_wide_characters_is_cut_between_them(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "世" * 100_000))
    line = editor.lines(key)[1]
    shown = line.partition(" … and ")[0]
    assert shown == "世" * (WIDE // 3)
    assert f"and {300_000 - WIDE // 3 * 3:,} more bytes" in line


def test_a_text_that_is_replaced_is_cut_anew(editor):
    key = editor.chat()
    editor.apply(append(key, 1, "x" * 200_000))
    editor.apply({"type": "replace", "session": key, "block": 1, "kind": "agent", "text": "x" * 300_000})
    assert counted(editor.lines(key)[1]) == (MOST, 300_000 - MOST)
    editor.apply(
        {"type": "replace", "session": key, "block": 1, "kind": "agent", "text": "short"}, append(key, 1, "er")
    )
    assert editor.lines(key)[1:] == ["shorter"]
