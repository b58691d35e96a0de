"""The tail of stderr: clean words, bounded in every direction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.process.child import STDERR_LINE_CHARS, STDERR_LINES, STDERR_READ_LINES, StderrTail


def tail_of(*pieces: bytes) -> tuple[str, ...]:
    tail = StderrTail()
    for piece in pieces:
        tail.feed(piece)
    return tail.lines()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b[38;5;208morange\x1b[m", "orange"),
        (b"\x1b[2K\x1b[1Gprogress\r", "progress"),
        (b"\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        (b"\x1b]0;title\x07words", "words"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"a\x00b\x07c\x08d\x7fe", "abcde"),
        (b"tab\tstays  ", "tab\tstays"),
        (b"windows\r", "windows"),
        ("Grüße ☃".encode(), "Grüße ☃"),
        (b"broken \xff\xfe", "broken \ufffd\ufffd"),
    ],
)
def test_colours_and_control_characters_are_removed(written: bytes, kept: str) -> None:
    assert tail_of(written + b"\n") == (kept,)


def test_the_last_lines_are_kept_oldest_first() -> None:
    lines = [f"line {number}" for number in range(STDERR_LINES + 5)]
    assert tail_of("\n".join([*lines, ""]).encode()) == tuple(lines[5:])


def test_the_first_lines_are_kept_too() -> None:
    tail = StderrTail()
    for number in range(STDERR_LINES + 5):
        tail.feed(f"\nline {number}\n".encode())
    assert tail.first == [f"line {number}" for number in range(STDERR_LINES)]


def test_empty_lines_push_nothing_out() -> None:
    assert tail_of(b"Traceback:\n" + b"\n" * 100 + b"  reason\n") == ("Traceback:", "  reason")


def test_an_unfinished_last_line_counts() -> None:
    assert tail_of(b"first\nsegmentation fa", b"ult") == ("first", "segmentation fault")


def test_feed_returns_the_lines_that_are_complete_now() -> None:
    tail = StderrTail()
    assert tail.feed(b"on") == []
    assert tail.feed(b"e\ntwo\nthr") == ["one", "two"]


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_a_line_is_cut_at_the_limit(newline: bytes) -> None:
    assert tail_of(b"x" * 100_000 + newline) == ("x" * STDERR_LINE_CHARS,)


def test_a_line_that_never_ends_takes_bounded_memory() -> None:
    tail = StderrTail()
    for _ in range(1000):
        tail.feed(b"x" * 1000)
    assert len(tail._open) <= STDERR_LINE_CHARS * 4


@given(st.text(alphabet="aé☃\n\t ", max_size=200), st.integers(1, 7))
def test_any_cuts_give_the_same_lines(text: str, piece: int) -> None:
    data = text.encode()
    pieces = [data[start : start + piece] for start in range(0, len(data), piece)]
    assert tail_of(*pieces) == tail_of(data)


@given(st.lists(st.binary(max_size=300), max_size=30))
def test_whatever_comes_the_tail_is_bounded_and_without_escapes(pieces: list[bytes]) -> None:
    lines = tail_of(*pieces)
    assert len(lines) <= STDERR_LINES + 1
    assert all(len(line) <= STDERR_LINE_CHARS for line in lines)
    assert not {"\x1b", "\n", "\r", "\0"} & set("".join(lines))


def test_of_a_flood_of_lines_the_last_are_looked_at() -> None:
    tail = StderrTail()
    tail.feed(b"begun")
    done = tail.feed(b"\n" * 100_000 + b"last\nopen")
    assert len(done) == STDERR_READ_LINES
    assert done[-1] == "last"
    assert tail.lines() == ("last", "open")
