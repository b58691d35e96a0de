"""A stream of bytes becomes lines, wherever it is cut and whatever it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.jsonrpc import framing
from acp_nvim.jsonrpc.framing import LineFramer, SkippedLine
from acp_nvim.limits import READ_BYTES

LIMIT, HEAD, TAIL = 8, 6, 3

streams = st.lists(st.sampled_from([b"a", b"{}", b"\n", b"\r", b"\r\n", b" ", "é".encode(), b"12345678", b"\x00"])).map(
    b"".join
)


@pytest.fixture(autouse=True, scope="module")
def small_glimpses() -> Iterator[None]:
    """Ends of skipped lines that fit to the small limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(framing, "ENVELOPE_HEAD_BYTES", HEAD)
        patch.setattr(framing, "ENVELOPE_TAIL_BYTES", TAIL)
        yield


def cut(stream: bytes, places: list[int]) -> Iterator[bytes]:
    """The stream in pieces, cut at those places."""
    edges = [0, *sorted({place % (len(stream) + 1) for place in places}), len(stream)]
    return (stream[start:end] for start, end in pairwise(edges))


def plainly(stream: bytes) -> list[bytes | SkippedLine]:
    """The lines of a stream, the obvious way."""
    ended = stream.split(b"\n")[:-1]
    return [line if len(line) <= LIMIT else SkippedLine(line[:HEAD], line[-TAIL:], len(line)) for line in ended]


def framed(framer: LineFramer, pieces: Iterable[bytes]) -> list[bytes | SkippedLine]:
    """Return all lines that the framer makes of the pieces."""
    found: list[bytes | SkippedLine] = []
    for piece in pieces:
        for lines in framer.feed(piece):
            found += [lines] if isinstance(lines, SkippedLine) else lines
    return found


@given(streams, st.lists(st.integers(0, 1000)))
@example(b"12345678\n", [8])
@example(b"123456789\n1\n", [4, 9, 10])
@example(b"1\n123456789\n1\n", [])
def test_any_cuts_give_the_lines_of_the_whole_stream(stream: bytes, places: list[int]) -> None:
    framer = LineFramer(limit=LIMIT)
    assert framed(framer, cut(stream, places)) == plainly(stream)
    rest = stream.rpartition(b"\n")[2]
    assert framer.rest() == (rest if len(rest) <= LIMIT else rest[:HEAD])


def test_a_line_is_given_only_when_its_newline_has_come() -> None:
    framer = LineFramer()
    assert framer.feed(b'{"a"') == []
    assert framer.feed(b":1}") == []
    assert framer.feed(b"\n") == [[b'{"a":1}']]


def test_all_lines_of_a_read_come_at_once() -> None:
    framer = LineFramer()
    framer.feed(b"be")
    assert framer.feed(b"gun\n\nsecond\r\nthi") == [[b"begun", b"", b"second\r"]]
    assert framer.feed(b"rd\n") == [[b"third"]]


def test_a_multibyte_character_may_be_cut() -> None:
    framer = LineFramer()
    first, second = "ä\n".encode()[:1], "ä\n".encode()[1:]
    assert framer.feed(first) + framer.feed(second) == [["ä".encode()]]


def test_lines_over_the_limit_are_skipped_and_those_around_them_are_whole() -> None:
    framer = LineFramer(limit=LIMIT)
    assert framer.feed(b"first\n" + b"x" * 20) == [[b"first"]]
    skipped = SkippedLine(b"xxxxxx", b"xxx", 40)
    assert framer.feed(b"x" * 20 + b"\n" + b"y" * 20 + b"z\nok\n") == [
        skipped,
        SkippedLine(b"yyyyyy", b"yyz", 21),
        [b"ok"],
    ]


def test_no_more_than_its_ends_is_kept_of_a_line_over_the_limit() -> None:
    framer = LineFramer(limit=LIMIT)
    for _ in range(100):
        framer.feed(b"x" * LIMIT)
    assert framer._begun == b""
    assert framer._skipping == SkippedLine(b"xxxxxx", b"xxx", 100 * LIMIT)


def test_a_huge_line_is_handed_over_without_another_copy() -> None:
    framer = LineFramer()
    pieces = [bytes([65 + number % 26]) * READ_BYTES for number in range(50)]
    for piece in pieces:
        framer.feed(piece)
    assert framer._long is not None
    kept = framer._long.kept
    [[line]] = framer.feed(b"\n")
    assert line is kept
    assert line == b"".join(pieces)
    assert framer.rest() == b""


def test_a_line_that_was_handed_over_does_not_change_any_more() -> None:
    framer = LineFramer()
    framer.feed(b"begun")
    [[line]] = framer.feed(b"\nnext")
    framer.feed(b" and more")
    assert line == b"begun"


def test_repr_says_what_is_pending() -> None:
    framer = LineFramer(limit=2)
    framer.feed(b"xyz\na")
    assert repr(framer) == "<LineFramer pending=1>"
    framer.feed(b"bcd")
    assert repr(framer) == "<LineFramer pending=4>"
