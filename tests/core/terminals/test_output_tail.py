"""The end of what was printed: whole characters, a limit in bytes, no escape sequences, however it comes in pieces."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.terminals.output_tail import ESCAPE_CHARS, OutputTail, PlainText

TEXTS = st.text(st.sampled_from("a1 \n\r\téß語🙂\x00\x08"), max_size=60)
PRINTED = st.lists(
    st.one_of(
        TEXTS,
        st.sampled_from(
            [
                "\x1b[0m",
                "\x1b[1;31m",
                "\x1b[?25l",
                "\x1b]0;title\x07",
                "\x1b]8;;http://x\x1b\\",
                "\x1b(B",
                "\x1bM",
                "\x1b=",
            ]
        ),
    ),
    max_size=12,
)
ODD = st.text(st.sampled_from("\x1b[]P0m;\x07\\a\n ("), max_size=40)
"""Beginnings of sequences that never end, and ends of none."""


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut the bytes into pieces."""
    ends = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


def tail_of(pieces: list[bytes], limit: int) -> OutputTail:
    """Return the tail after all pieces and the end."""
    tail = OutputTail(limit)
    for piece in pieces:
        tail.feed(piece)
    tail.flush()
    return tail


def last_bytes(text: str, limit: int) -> str:
    """The longest end of `text` that has at most `limit` bytes, found character by character."""
    kept = ""
    for character in reversed(text):
        if len((character + kept).encode()) > limit:
            break
        kept = character + kept
    return kept


def is_text(piece: str) -> bool:
    """Whether it is no escape sequence."""
    return not piece.startswith("\x1b")


@given(PRINTED, st.lists(st.integers(0, 999), max_size=8), st.integers(0, 80))
@example(["é"], [1], 1)
@example(["a", "\x1b[31m", "b"], [3], 2)
@example(["語" * 20], [], 31)
def test_it_is_the_longest_end_within_the_limit(printed: list[str], places: list[int], limit: int) -> None:
    text = "".join(filter(is_text, printed))
    tail = tail_of(cut("".join(printed).encode(), places), limit)
    assert tail.text == last_bytes(text, limit)
    assert tail.truncated == (len(text.encode()) > limit)


@pytest.mark.parametrize("text", ["aé語🙂b", "🙂🙂", "\u0301é\U0010ffff", "a\r\n語"])
def test_it_is_cut_at_a_character_whatever_the_limit_and_wherever_the_bytes_are_split(text: str) -> None:
    data = text.encode()
    for limit in range(len(data) + 2):
        for place in range(len(data) + 1):
            tail = tail_of([data[:place], data[place:]], limit)
            assert tail.text == last_bytes(text, limit)
            assert tail.truncated == (len(data) > limit)


@pytest.mark.parametrize(
    "data", [b"a\xff\xe8\xaa", b"\xc3", b"\xf0\x9f\x99x\x80\x80", b"\xed\xa0\x80", "語".encode()[1:]]
)
def test_what_is_no_text_is_cut_so_too(data: bytes) -> None:
    shown = data.decode("utf-8", "replace")
    for limit in range(len(shown.encode()) + 2):
        for place in range(len(data) + 1):
            assert tail_of([data[:place], data[place:]], limit).text == last_bytes(shown, limit)


@given(st.binary(max_size=60), st.lists(st.integers(0, 999), max_size=8), st.integers(0, 80))
def test_bytes_that_are_no_text_are_shown_as_such(data: bytes, places: list[int], limit: int) -> None:
    tail = tail_of(cut(data, places), limit)
    assert len(tail.text.encode()) <= limit
    assert tail.text == tail_of([data], limit).text
    if b"\x1b" not in data:
        assert tail.text == last_bytes(data.decode("utf-8", "replace"), limit)


@given(ODD, st.lists(st.integers(0, 999), max_size=8))
@example("\x1b]0;never ends\nmore", [])
@example("\x1b[3\n", [2, 3])
def test_what_is_no_sequence_is_not_lost_and_pieces_make_no_difference(text: str, places: list[int]) -> None:
    whole, plain = PlainText(), PlainText()
    at_once = whole.feed(text) + whole.flush()
    pieces = [piece.decode() for piece in cut(text.encode(), places)]
    assert "".join(map(plain.feed, pieces)) + plain.flush() == at_once
    assert "\x1b" not in at_once
    assert at_once.count("\n") == re.sub(r"\x1b[]P][^\x07\x1b]*(\x07|\x1b\\)", "", text).count("\n")


def test_the_beginning_of_a_sequence_is_not_waited_for_for_ever() -> None:
    tail = OutputTail(10_000)
    tail.feed(b"\x1b]0;")
    for _ in range(ESCAPE_CHARS):
        tail.feed(b"xy")
    assert len(tail.text) >= ESCAPE_CHARS
    assert len(tail._plain._held) <= ESCAPE_CHARS


def test_what_looks_unfinished_waits_until_more_comes() -> None:
    tail = OutputTail(100)
    tail.feed(b"a\xc3")
    assert tail.text == "a"
    tail.feed(b"\xa9\x1b[3")
    assert tail.text == "aé"
    tail.feed(b"1mb")
    assert tail.text == "aéb"


def test_much_output_needs_no_more_memory_than_the_limit() -> None:
    tail = OutputTail(1000)
    for number in range(20_000):
        tail.feed(b"%07d\n" % number)
        assert len(tail._kept) <= 2 * tail.limit + 8
    assert tail.text.endswith("0019998\n0019999\n")
    assert len(tail.text) == 1000
    assert tail.truncated


@pytest.mark.parametrize(("printed", "truncated"), [(b"", False), (b"x", True)])
def test_a_limit_of_nothing_keeps_nothing(printed: bytes, truncated: bool) -> None:
    tail = tail_of([printed], 0)
    assert (tail.text, tail.truncated) == ("", truncated)


def test_repr_shows_how_much_there_is() -> None:
    assert repr(tail_of([b"abc"], 2)) == "<OutputTail 2 of 2 bytes truncated=True>"
