"""Terminals of the agent's: snapshots, pieces, and what is shown of them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.terminal import Exit, Terminal, TerminalPatch
from acp_nvim.limits import TERMINAL_BYTES


def test_omitted_keeps_none_clears_a_value_replaces() -> None:
    terminal = Terminal("t")
    terminal.apply(TerminalPatch(terminal_id="t", command="make", cwd="/p", output=b"one", exit=Exit(1)))
    terminal.apply(TerminalPatch(terminal_id="t"))
    assert (terminal.command, terminal.cwd, terminal.tail(9), terminal.exit) == ("make", "/p", "one", Exit(1))
    terminal.apply(TerminalPatch(terminal_id="t", command=None, cwd=None, output=None, exit=None))
    assert (terminal.command, terminal.cwd, terminal.tail(9), terminal.exit) == (None, None, "", None)


def test_a_snapshot_replaces_what_pieces_gathered_and_pieces_go_on_from_it() -> None:
    terminal = Terminal("t")
    terminal.append(b"a")
    terminal.apply(TerminalPatch(terminal_id="t", output=b"b"))
    terminal.append(b"c")
    assert terminal.tail(9) == "bc"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40), st.lists(st.integers(0, 200), max_size=5))
def test_characters_may_be_split_anywhere(text: str, cuts: list[int]) -> None:
    data, terminal = text.encode(), Terminal("t")
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in pairwise(places):
        terminal.append(data[start:end])
    assert terminal.tail(1) == text


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    terminal = Terminal("t")
    terminal.append(b"a\xff\xfeb")
    assert terminal.tail(1) == "a\ufffd\ufffdb"


def test_escape_codes_and_overwritten_lines_are_left_out() -> None:
    terminal = Terminal("t")
    terminal.append(b"\x1b[1;31mred\x1b[0m\r\n10 %\r50 %\r100 %\r\n\x1b]0;title\x07\x1b[2Kdone\x07\n")
    assert terminal.tail(9) == "red\n100 %\ndone"


def test_only_the_last_lines_are_shown() -> None:
    terminal = Terminal("t")
    terminal.append(b"".join(b"%d\n" % number for number in range(100)))
    assert terminal.tail(3) == "97\n98\n99"


def test_of_much_output_the_end_is_kept() -> None:
    terminal = Terminal("t")
    for _ in range(40):
        terminal.append(b"x" * (TERMINAL_BYTES // 8))
    terminal.append(b"\nend")
    assert terminal.tail(1) == "end"
    assert len(terminal._output) <= 2 * TERMINAL_BYTES
