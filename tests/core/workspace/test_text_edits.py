"""Edits of language servers, compared with the obvious way to carry them out; in each unit of characters."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract.editor import LspEdit
from acp_nvim.workspace import text_edits
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.text_edits import BOM, applied

UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The codec of each encoding, and the bytes of one unit."""

LINES = st.lists(st.text("aé€😀\t", max_size=6), min_size=1, max_size=6)
EOLS = st.sampled_from(["\n", "\r\n", "\r"])
ENCODINGS = st.sampled_from(sorted(UNITS))
NEW = st.text("xé😀\n", max_size=4)


def width(text: str, encoding: str) -> int:
    """The units that a text has."""
    codec, size = UNITS[encoding]
    return len(text.encode(codec)) // size


def places(lines: list[str], eol: str, encoding: str) -> list[tuple[int, int, int]]:
    """All positions between two characters: the index in the text, the line, and the units before it in the line."""
    found, begin = [], 0
    for number, line in enumerate(lines):
        found += [(begin + at, number, width(line[:at], encoding)) for at in range(len(line) + 1)]
        begin += len(line) + len(eol)
    return found


class Edited:
    """A text, edits of it in any order, and the result that they should have."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.lines, self.eol, self.encoding = draw(LINES), draw(EOLS), draw(ENCODINGS)
        self.text = self.eol.join(self.lines)
        known = places(self.lines, self.eol, self.encoding)
        cuts = sorted(draw(st.sets(st.sampled_from(known), max_size=8)))
        pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
        news = draw(st.lists(NEW, min_size=len(pairs), max_size=len(pairs)))
        self.edits = [LspEdit(*begin[1:], *end[1:], new) for (begin, end), new in zip(pairs, news, strict=True)]
        self.after = self.text
        for (begin, end), new in reversed(list(zip(pairs, news, strict=True))):
            has_ends = self.eol in self.text
            placed = new.replace("\n", self.eol) if has_ends else new
            self.after = self.after[: begin[0]] + placed + self.after[end[0] :]
        self.edits = draw(st.permutations(self.edits))


@st.composite
def edited(draw: st.DrawFn) -> Edited:
    return Edited(draw)


@given(edited())
def test_the_result_is_that_of_the_obvious_way(one: Edited) -> None:
    assert applied(one.text, one.edits, one.encoding) == one.after


@given(edited())
def test_a_byte_order_mark_counts_for_nothing_and_stays(one: Edited) -> None:
    assert applied(BOM + one.text, one.edits, one.encoding) == BOM + one.after


@given(edited())
def test_ranges_may_be_the_wrong_way_round(one: Edited) -> None:
    turned = [LspEdit(e.end_line, e.end_character, e.line, e.character, e.text) for e in one.edits]
    assert applied(one.text, turned, one.encoding) == one.after


@given(LINES, EOLS, ENCODINGS, st.integers(0, 8), st.integers(0, 40))
def test_a_position_beyond_a_line_or_inside_of_a_character_is_moved_to_its_end(
    lines: list[str], eol: str, encoding: str, line: int, character: int
) -> None:
    text = eol.join(lines)
    if eol not in text:
        eol = "\n"
    if line >= len(lines):
        at = len(text)
    else:
        enough = (at for at in range(len(lines[line])) if width(lines[line][:at], encoding) >= character)
        at = len(eol.join([*lines[:line], ""])) + next(enough, len(lines[line]))
    assert applied(text, [LspEdit(line, character, line, character, "|")], encoding) == f"{text[:at]}|{text[at:]}"


@given(edited(), st.booleans())
def test_without_an_end_the_edits_are_those_of_the_text_before_it(one: Edited, is_ended: bool) -> None:
    if one.eol not in one.text or one.text.endswith(one.eol):
        return
    found = applied(one.text + one.eol, one.edits, one.encoding, is_unended=True)
    assert found == (one.after if one.after.endswith(one.eol) else one.after + one.eol)


@given(LINES, ENCODINGS, st.data())
def test_edits_that_overlap_are_refused(lines: list[str], encoding: str, data: st.DataObject) -> None:
    known = places(lines, "\n", encoding)
    if len(known) < 4:
        return
    a, b, c, d = sorted(data.draw(st.sets(st.sampled_from(known), min_size=4, max_size=4)))
    pair = [LspEdit(*a[1:], *c[1:], "x"), LspEdit(*b[1:], *d[1:], "y")]
    for edits in (pair, pair[::-1], [pair[0], pair[0]], [LspEdit(*a[1:], *d[1:], ""), LspEdit(*b[1:], *b[1:], "z")]):
        with pytest.raises(FileRefusedError, match="overlap"):
            applied("\n".join(lines), edits, encoding)


@given(st.lists(NEW, max_size=5), ENCODINGS)
def test_insertions_at_one_place_keep_their_order(news: list[str], encoding: str) -> None:
    edits = [LspEdit(0, 1, 0, 1, new) for new in news]
    assert applied("ab", edits, encoding) == f"a{''.join(news)}b"
    assert applied("ab", [*edits, LspEdit(0, 1, 0, 2, "c")], encoding) == f"a{''.join(news)}c"


def test_a_carriage_return_in_a_text_with_several_ends_is_a_part_of_its_line() -> None:
    assert applied("a\r\nb\n", [LspEdit(0, 1, 1, 0, "\r\n")], "utf-16") == "a\nb\n"
    assert applied("a\rb\n", [LspEdit(0, 2, 0, 3, "c")], "utf-16") == "a\rc\n"


@given(one=edited())
def test_a_line_of_several_blocks_is_edited_in_the_same_way(one: Edited) -> None:
    with patch.object(text_edits, "BLOCK", 2):
        assert applied(one.text, one.edits, one.encoding) == one.after


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_characters_of_a_long_line_are_counted_once(encoding: str) -> None:
    count, own = 0, text_edits.units_of

    def counted(character: str, units: str) -> int:
        nonlocal count
        count += 1
        return own(character, units)

    size = width("é", encoding)
    edits = [LspEdit(0, at * size, 0, (at + 1) * size, "x") for at in range(0, 20_000, 20)]
    with patch.object(text_edits, "BLOCK", 64), patch.object(text_edits, "units_of", counted):
        after = applied("é" * 20_000, edits, encoding)
    assert after == ("x" + 19 * "é") * 1000
    assert count <= 20_000 + 2 * 1000 * 64
