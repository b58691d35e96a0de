"""What a command has printed looks as on a terminal: the same as a simple model shows, bounded, in linear time."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.terminals.row import COLUMNS
from acp_nvim.terminals.screen import BEGUN_CHARS, PRINTED_CHARS, ROWS, Screen, is_plain
from tests.core.terminals.model_terminal import Model

FIRST, LAST = 8, 12

PIECES = st.sampled_from(
    [
        *"\n\r\t\b", "\r\n", "a", "bc", "def ghi", "語", "é", "e\u0301", "x\u202ey", "🙂", "\x07", "\x00", "\x1b[0m",
        "\x1b[1;38;5;9m", "\x1b[?25l", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b]8;;\x1b\\", "\x1b(B",
        "\x1b=",
        "\x1b[A", "\x1b[3A", "\x1b[B", "\x1b[2B", "\x1b[C", "\x1b[5C", "\x1b[2D", "\x1b[E", "\x1b[2F", "\x1b[3G",
        "\x1b[H", "\x1b[2;4H", "\x1b[3d", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[3J",
        "\x1b[2X", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bM", "\x1bD", "\x1bE", "\x1b[999999999999D",
    ]
)  # fmt: skip
PRINTED = st.lists(PIECES, max_size=80)


def rows_of(screen: Screen, last: int = LAST) -> tuple[list[str], int, list[str]]:
    """Its ends, without blanks at the ends of rows."""
    first, between, end = screen.ends(last)
    return [row.rstrip(" ") for row in first], between, [row.rstrip(" ") for row in end]


def height(screen: Screen) -> int:
    """The number of its rows, without those that have left it."""
    [rows] = re.findall(r"\+ (\d+) rows", repr(screen))
    return int(rows)


def printed(text: str, first: int | None = FIRST) -> Screen:
    """A screen on which that was printed, at once."""
    screen = Screen(first)
    screen.feed(text)
    screen.finish()
    return screen


def ends_of(rows: list[str]) -> tuple[list[str], int, list[str]]:
    """What is kept of so many rows."""
    if len(rows) <= FIRST + LAST + 1:
        return rows, 0, []
    return rows[:FIRST], len(rows) - FIRST - LAST, rows[-LAST:]


@given(PRINTED, st.integers(1, 12))
@example(["a", "\x1b[3A", "b"], 1)
@example([*"\n" * 60, "\x1b7", *"\n" * 9, "\x1b8", "x"], 1)
def test_it_shows_what_a_simple_terminal_shows(pieces: list[str], times: int) -> None:
    text, model = "".join(pieces) * times, Model()
    model.feed(text)
    assert rows_of(printed(text, None), 0)[0] == model.rows()
    assert rows_of(printed(text)) == ends_of(model.rows())


@given(PRINTED, st.lists(st.integers(0, 999), max_size=12))
def test_pieces_make_no_difference(pieces: list[str], places: list[int]) -> None:
    text, screen = "".join(pieces), Screen(FIRST)
    cuts = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    for start, end in pairwise(cuts):
        screen.feed(text[start:end])
        screen.ends(LAST)
    screen.finish()
    assert rows_of(screen) == rows_of(printed(text))


ODD = st.text(st.sampled_from("\x1b[]P0;?m\x07\\aAKJHX \n\r\t語\u0301\x9b"), max_size=80)


@given(st.lists(st.one_of(ODD, st.text(max_size=20)), max_size=10))
@example(["\x1b]0;never ends\nmore"])
@example(["\x1b[" + "9" * 5000 + "A"])
def test_no_text_makes_it_fail_and_lines_stay_lines(pieces: list[str]) -> None:
    screen = Screen(FIRST)
    for piece in pieces:
        screen.feed(piece)
        screen.ends(LAST)
    screen.compact(LAST + 1)
    screen.finish()
    first, between, last = screen.ends(LAST)
    assert between >= 0
    assert not any({*row} & {*"\n\r\x1b\b"} for row in [*first, *last])


@given(PRINTED)
def test_a_compact_screen_shows_the_same(pieces: list[str]) -> None:
    screen = printed("".join(pieces))
    before = rows_of(screen)
    screen.compact(LAST + 1)
    first, between, last = rows_of(screen)
    assert ([*first, *last], between) == ([*before[0], *before[2]], before[1])
    assert height(screen) <= max(LAST + 1, ROWS)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("\x1b[32mPASS\x1b[0m a \x1b[1;31mFAIL\x1b[m", ["PASS a FAIL"]),
        ("10 %\r 50 %\r100 %\r\ndone\r\n", ["100 %", "done"]),
        ("see \x1b]8;;https://x.y\x07the page\x1b]8;;\x07!", ["see the page!"]),
        ("a 0%\nb 0%\n\x1b[2Aa 50%\x1b[K\nb 70%\n\x1b[2A\x1b[2Ka ok\n\x1b[2Kb ok\nend", ["a ok", "b ok", "end"]),
        ("spinner |\b/\b-\bdone", ["spinner done"]),
        ("12345\r\x1b[Kok", ["ok"]),
        ("old\nstuff\n\x1b[H\x1b[2Jnew", ["new"]),
        ("\tmade\r\nb\tc", ["\tmade", "b\tc"]),
        ("語語\rab", ["ab語"]),
        ("語語\rx", ["x 語"]),
        ("\x1b[?1049h\x1b=\x1b(Btop\x1b[>4;1m", ["top"]),
        ("x\u202ey", ["x\u202ey"]),
        ("a\x1bP1$r0m\x1b\\b\x1b_G\x1b\\c", ["abc"]),
        ("\x1b]0;never ends", ["0;never ends"]),
        ("\x9b31m", ["\x9b31m"]),
    ],
)
def test_what_commands_print(text: str, rows: list[str]) -> None:
    assert printed(text).ends(LAST) == (rows, 0, [])


def test_what_is_plain_is_shown_as_it_is() -> None:
    assert is_plain("a\tb\nü\u202e\x9b ")
    assert not any(map(is_plain, ["\r", "\x1b", "\b", "\x00", "\x7f", "a\x0c"]))


def test_of_many_rows_both_ends_are_kept() -> None:
    screen = Screen(FIRST)
    for number in range(10_000):
        screen.feed(f"\x1b[1m{number}\x1b[0m\n")
    assert screen.ends(LAST) == ([*map(str, range(8))], 9980, [*map(str, range(9988, 10_000))])
    assert height(screen) <= ROWS
    screen.compact(LAST + 1)
    assert height(screen) == LAST + 1


def test_of_a_long_row_the_rest_is_counted_however_it_comes() -> None:
    for count in (1, 6, 3000):
        screen = Screen(FIRST)
        for _ in range(3000 // count):
            screen.feed("x" * count)
        assert screen.ends(LAST)[0] == ["x" * COLUMNS + " … 2,000 more characters"]
        screen.feed("\r\x1b[Kshort")
        assert screen.ends(LAST)[0] == ["short"]


def test_of_a_flood_the_beginning_and_the_end_are_printed_and_the_lines_between_counted() -> None:
    lines = [f"\x1b[3{number % 8}m{number}\x1b[0m" for number in range(50_000)]
    assert printed("\n".join(lines)).ends(LAST) == (
        [*map(str, range(8))],
        49_980,
        [*map(str, range(49_988, 50_000))],
    )
    one = "".join(f"\r{number} of 50000" for number in range(50_000))
    assert len(one) > PRINTED_CHARS
    assert printed(one).ends(LAST) == (["49999 of 50000"], 0, [])


@pytest.mark.parametrize(
    "piece",
    ["\x1b[999Gx\x1b[1K", "\x1b", "\x1b]0;", "\x1b]" + "a" * 5000, "\t\r", "\n\x1b[A", "\x1b[50;999Hx\x1b[2J", "語\r",
     "\u0301", "\x1b[" + ";" * 50, "\x1b[999G\x1b[999X", "\x1bM\n"],
)  # fmt: skip
def test_time_is_linear(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        start = time.process_time()
        printed(text)
        return time.process_time() - start

    small = min(seconds(BEGUN_CHARS) for _ in range(3))
    assert min(seconds(8 * BEGUN_CHARS) for _ in range(2)) < 40 * small + 0.02
