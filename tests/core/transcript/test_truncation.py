"""What is told of long texts and large changes: the beginning, the hunks, and how much more there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.diff import Piece
from acp_nvim.transcript.truncation import (
    DIFF_CHARS,
    DIFF_LINES,
    DIFF_SEARCH_CHARS,
    CutHunk,
    TextLimits,
    beginning,
    cut,
    hunks,
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ("", 0, 0)),
        ("a\nb", ("a\nb", 0, 0)),
        ("a\nb\n", ("a\nb\n", 0, 0)),
        ("a\nb\nc", ("a\nb\n", 1, 1)),
        ("a\nb\nc\n\nd\n", ("a\nb\n", 3, 5)),
        ("123456789\n", ("12345678", 1, 2)),
        ("1\n3456789\n\n", ("1\n345678", 2, 3)),
    ],
)
def test_the_beginning_of_a_text(text: str, told: tuple[str, int, int]) -> None:
    assert beginning(text, TextLimits(2, 8)) == told


@given(st.text("ab\n", max_size=200), st.integers(1, 9), st.integers(1, 50))
def test_nothing_is_lost_of_the_count(text: str, lines: int, chars: int) -> None:
    told, rest_lines, rest_chars = beginning(text, TextLimits(lines, chars))
    assert text.startswith(told)
    assert len(told) + rest_chars == len(text)
    assert len(told.splitlines()) <= lines
    assert len(told) <= chars
    assert rest_lines == len(text[len(told) :].removesuffix("\n").split("\n")) * bool(rest_chars)


LIMITS = TextLimits(21, 400, first=8, last=12)


def numbered(start: int, end: int) -> str:
    """Return lines with these numbers."""
    return "\n".join(map(str, range(start, end)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (numbered(0, 21), (numbered(0, 21), 0, 0, "")),
        (numbered(0, 22), (numbered(0, 8) + "\n", 2, 4, numbered(10, 22))),
        (numbered(0, 100) + "\n\n\n", (numbered(0, 8) + "\n", 80, 238, numbered(88, 100))),
        ("a" * 1000, ("a" * 400, 1, 600, "")),
        ("a\nb" + "\n" * 30, ("a\nb", 0, 0, "")),
        ("a\n" + "b" * 1000, ("a\n" + "b" * 398, 1, 602, "")),
        ("a" * 1000 + "\nb\nc", ("a" * 200, 1, 801, "b\nc")),
    ],
)
def test_of_a_long_text_both_ends_are_told(text: str, told: tuple[str, int, int, str]) -> None:
    head, rest, chars, tail = cut(text, LIMITS)
    assert (head.rstrip("\n"), rest, chars, tail) == (told[0].rstrip("\n"), *told[1:])


@given(st.lists(st.text("ab", max_size=15), max_size=60))
def test_both_ends_and_the_lines_between_are_all(rows: list[str]) -> None:
    text = "\n".join(rows)
    head, rest, chars, tail = cut(text, LIMITS)
    rows = text.rstrip("\n").split("\n")
    if len(rows) <= 21:
        assert (head.rstrip("\n"), rest, chars, tail) == (text.rstrip("\n"), 0, 0, "")
    else:
        assert (head.split("\n")[:-1], rest, tail.split("\n")) == (rows[:8], len(rows) - 20, rows[-12:])


@given(st.lists(st.text("ab\n", max_size=300), max_size=40))
def test_both_ends_are_short_however_long_the_lines_are(rows: list[str]) -> None:
    text = "\n".join(rows)
    head, rest, _, tail = cut(text, LIMITS)
    assert len(head) + len(tail) <= LIMITS.chars + LIMITS.last * len(" … 300 more characters")
    assert len(f"{head}{tail}".rstrip("\n").split("\n")) <= LIMITS.lines
    assert text.startswith(head) or rest == 0


def lines(count: int) -> list[str]:
    return [f"line {n} of the text, with words in it\n" for n in range(count)]


def changed(count: int, *places: int) -> tuple[str, str]:
    """A text, and the same with other lines at these places."""
    return "".join(lines(count)), "".join(f"!{one}" if n in places else one for n, one in enumerate(lines(count)))


def test_a_small_change_is_told_as_it_came() -> None:
    piece = Piece("a\nb\n", "a\nc\n", 7)
    assert hunks(piece) == [CutHunk(piece)]


def test_of_a_large_text_with_a_small_change_the_place_is_told() -> None:
    old, new = changed(20_000, 10_000)
    [hunk] = hunks(Piece(old, new, 1))
    assert hunk.piece.line == 9998
    assert hunk.piece.old_text is not None
    assert "line 10000 " in hunk.piece.old_text
    assert hunk.piece.old_text.replace("line 10000", "!line 10000") == hunk.piece.new_text
    assert hunk.lines == 0


def test_changes_far_from_each_other_are_told_one_by_one() -> None:
    old, new = changed(2000, 3, 1500, 1510)
    told = hunks(Piece(old, new, 101))
    assert [(one.piece.line, one.lines) for one in told] == [(101, 0), (1598, 0), (1608, 0)]


def test_of_many_changes_the_first_are_told_and_the_lines_of_the_others_counted() -> None:
    old, new = changed(2000, *range(0, 2000, 20))
    told = hunks(Piece(old, new))
    shown = sum(4 + one.piece.new_text.count("\n") - 3 for one in told)
    assert shown <= DIFF_LINES + 8
    assert [one.lines for one in told[:-1]] == [0] * (len(told) - 1)
    assert told[-1].lines == (100 - len(told)) * 8


@pytest.mark.parametrize("old", [None, "", "".join(lines(20_000)).replace("line", "other")])
def test_of_a_change_that_is_everywhere_the_beginning_is_told(old: str | None) -> None:
    new = "".join(lines(20_000))
    assert len(new) > DIFF_SEARCH_CHARS
    [hunk] = hunks(Piece(old, new))
    assert hunk.piece.new_text == "".join(lines(DIFF_LINES))
    assert hunk.lines == 20_000 - DIFF_LINES
    assert (hunk.piece.old_text is None) == (old is None)


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "long " * 900 + "\n", "x" * 3000]), max_size=40),
    st.lists(st.sampled_from(["a\n", "c\n", "long " * 900 + "\n", "x" * 3000]), max_size=40),
)
def test_hunks_are_parts_of_both_texts(before: list[str], after: list[str]) -> None:
    old, new = "".join(before), "".join(after)
    for hunk in hunks(Piece(old, new)):
        assert hunk.piece.old_text is not None
        assert hunk.piece.old_text in old
        assert hunk.piece.new_text in new
        assert len(hunk.piece.old_text) + len(hunk.piece.new_text) <= DIFF_CHARS
