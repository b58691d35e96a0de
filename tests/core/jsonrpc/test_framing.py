"""A stream of bytes becomes lines, wherever it is cut and whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.jsonrpc.framing import LineFramer
from acp_nvim.limits import READ_BYTES

LIMIT = 8

streams = st.lists(st.sampled_from([b"a", b"{}", b"\n", b"\r", b"\r\n", b" ", "é".encode(), b"12345678", b"\x00"])).map(
    b"".join
)


def cut(stream: bytes, places: list[int]) -> Iterator[bytes]:
    """The stream in pieces, cut at those places."""
    edges = [0, *sorted({place % (len(stream) + 1) for place in places}), len(stream)]
    return (stream[start:end] for start, end in pairwise(edges))


def plainly(stream: bytes) -> tuple[list[bytes], int]:
    """The lines of a stream and how many were too long, the obvious way."""
    finished = stream.split(b"\n")[:-1]
    lines = [line.rstrip(b"\r") for line in finished if len(line) <= LIMIT]
    return [line for line in lines if line.strip()], sum(len(line) > LIMIT for line in finished)


@given(streams, st.lists(st.integers(0, 1000)))
@example(b"12345678\n", [8])
@example(b"123456789\n1\n", [4, 9, 10])
def test_any_cuts_give_the_lines_of_the_whole_stream(stream: bytes, places: list[int]) -> None:
    framer = LineFramer(limit=LIMIT)
    lines = [line for piece in cut(stream, places) for line in framer.feed(piece)]
    assert (lines, framer.skipped) == plainly(stream)


def test_a_line_is_given_only_when_its_newline_has_come() -> None:
    framer = LineFramer()
    assert framer.feed(b'{"a"') == []
    assert framer.feed(b":1}") == []
    assert framer.feed(b"\n") == [b'{"a":1}']


def test_a_multibyte_character_may_be_cut() -> None:
    framer = LineFramer()
    first, second = "ä\n".encode()[:1], "ä\n".encode()[1:]
    assert framer.feed(first) + framer.feed(second) == ["ä".encode()]


def test_carriage_returns_before_the_newline_are_dropped_others_kept() -> None:
    assert LineFramer().feed(b"a\rb\r\n") == [b"a\rb"]


def test_empty_and_blank_lines_are_left_out() -> None:
    assert LineFramer().feed(b"\n\r\n  \n\t\r\nx\n\n") == [b"x"]


def test_a_line_over_the_limit_is_skipped_and_counted_and_the_next_is_whole() -> None:
    framer = LineFramer(limit=LIMIT)
    assert framer.feed(b"x" * 20) == []
    assert framer.feed(b"x" * 20 + b"\nnext\n") == [b"next"]
    assert framer.skipped == 1


def test_two_lines_over_the_limit_in_one_piece_are_both_counted() -> None:
    framer = LineFramer(limit=LIMIT)
    assert framer.feed(b"x" * 20 + b"\n" + b"y" * 20 + b"\nok\n") == [b"ok"]
    assert framer.skipped == 2


def test_nothing_is_kept_of_a_line_over_the_limit() -> None:
    framer = LineFramer(limit=LIMIT)
    for _ in range(100):
        framer.feed(b"x" * LIMIT)
    assert framer._pieces == []


def test_a_huge_line_costs_linear_work() -> None:
    """Pieces are kept as they come and joined once, at the end: none is copied again when the next one comes."""
    framer = LineFramer()
    pieces = [bytes([65 + number % 26]) * READ_BYTES for number in range(50)]
    for piece in pieces:
        framer.feed(piece)
    assert len(framer._pieces) == len(pieces)
    assert sum(map(len, framer._pieces)) == sum(map(len, pieces))
    assert framer.feed(b"\n") == [b"".join(pieces)]
    assert sum(map(len, framer._pieces)) == 0


def test_repr_says_what_is_pending_and_skipped() -> None:
    framer = LineFramer(limit=2)
    framer.feed(b"xyz\na")
    assert repr(framer) == "<LineFramer pending=1 skipped=1>"
