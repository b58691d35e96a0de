"""Byte order marks, kinds of line ends and the end of the last line are merged; no line conflicts because of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.workspace.merge import CONFLICT, Merge, merge
from acp_nvim.workspace.text_shape import BOM

pytestmark = pytest.mark.anyio

KINDS = ["\n", "\r\n", "\r"]
WORDS = ["one", "two", "three", "four", "five"]
OURS = ["user", "two", "three", "four", "five"]
THEIRS = ["one", "two", "three", "four", "agent"]
BOTH = ["user", "two", "three", "four", "agent"]

forms = st.tuples(st.booleans(), st.sampled_from(KINDS), st.booleans())
"""Whether there is a byte order mark, how lines end, and whether the last does."""


def written(lines: list[str], form: tuple[bool, str, bool]) -> str:
    """A text of these lines in that form."""
    bom, end, ended = form
    return BOM * bom + end.join(lines) + end * ended


def three_way(base, ours, theirs):
    """What one changed; what the user has when both did."""
    if ours != base:
        return ours
    return theirs


@pytest.mark.parametrize("lines", [(WORDS, WORDS, WORDS, WORDS), (WORDS, OURS, THEIRS, BOTH)], ids=["same", "changed"])
@given(forms, forms, forms)
async def test_each_is_merged_by_itself(lines, base, ours, theirs) -> None:
    texts = map(written, lines, (base, ours, theirs))
    expected = written(lines[3], tuple(map(three_way, base, ours, theirs)))
    assert await merge(*texts) == Merge(expected)


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(KINDS, 2)))
async def test_lines_added_to_a_text_whose_line_ends_change_get_the_new_ones(old: str, new: str) -> None:
    base, ours = written(WORDS, (False, old, True)), written(WORDS, (False, new, True))
    theirs = written([*WORDS[:2], "agent", *WORDS[2:]], (False, old, True))
    expected = written([*WORDS[:2], "agent", *WORDS[2:]], (False, new, True))
    assert await merge(base, ours, theirs) == Merge(expected)
    assert await merge(base, theirs, ours) == Merge(expected)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        # an end of the last line, and the line before or after it
        ("a\nb\nc", "a\nb\nc\n", "a\nB\nc", "a\nB\nc\n"),
        ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc", "a\nB\nc"),
        ("a\nb", "a\nb\n", "a\nb\nc", "a\nb\nc\n"),
        ("a\nb", "a\nb\nc", "a\nb\n", "a\nb\nc\n"),
        ("a\nb\nc\n", "x\na\nb\nc\n", "a\nb", "x\na\nb"),
        # an empty last line is one by its end
        ("a\nb\nc\n", "a\nb\n\n", "a\nb\nc", "a\nb\n\n"),
        ("a\n", "\n", "a", "\n"),
        # a text too short to have an attribute has not changed it
        ("a\r\nb\r\n", "b", "a\r\nb\r\nc\r\n", "b\r\nc"),
        ("a\r\nb", "b", "a\r\nb\r\nc", "b\r\nc"),
        ("a", "a", "b\r\na\r\n", "b\r\na\r\n"),
        ("a", "a\r\n", "b\na\n", "b\r\na\r\n"),
        ("a\n", "", "a", ""),
        ("", BOM, "a\r\n", BOM + "a\r\n"),
        ("", BOM, "a\nb\r\n", BOM + "a\nb\r\n"),
        (BOM + "a\n", "a\n", BOM + "a\nb\nc\n", "a\nb\nc\n"),
        (BOM, "", BOM + "a", "a"),
        # the BOM and the line beside it
        ("a\nb\n", BOM + "a\nb\n", "A\nb\n", BOM + "A\nb\n"),
    ],
)
async def test_ends_and_marks_at_the_edges(base: str, ours: str, theirs: str, expected: str) -> None:
    assert await merge(base, ours, theirs) == Merge(expected)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        # one puts lines of another kind among the others: they stay as they are
        ("1\r\n2\r\n3\r\n4\r\n", "user\r\n2\r\n3\r\n4\r\n", "1\r\n2\r\n3\r\nx\n4\r\n", "user\r\n2\r\n3\r\nx\n4\r\n"),
        ("1\r\n2\r\n3\r\n4\r\n", "1\r\n2\r\n3\r\nx\n4\r\n", "agent\r\n2\r\n3\r\n4\r\n", "agent\r\n2\r\n3\r\nx\n4\r\n"),
        ("1\n2\n3\n4\n", "user\n2\n3\n4\n", "1\n2\n3\nx\r\n4\n", "user\n2\n3\nx\r\n4\n"),
        ("1\r2\r3\r4\r", "user\r2\r3\r4\r", "1\r2\r3\rx\n4\r", "user\r2\r3\rx\n4\r"),
        ("1\r2\r3\r4\r", "user\r2\r3\r4\r", "1\r2\r3\rx\r\n4\r", "user\r2\r3\rx\r\n4\r"),
        # all are mixed
        ("1\r\n2\n3\r\n4\n", "user\r\n2\n3\r\n4\n", "1\r\n2\n3\r\nagent\n", "user\r\n2\n3\r\nagent\n"),
        ("1\r\n2\n3\r\n4", "user\r\n2\n3\r\n4", "1\r\n2\n3\r\n4\r\n5", "user\r\n2\n3\r\n4\r\n5"),
        ("1\r\n2\n3\n", "1\r\n2\n3\nuser\n", "3", "3\nuser"),
        # one side makes them all the same
        ("1\r\n2\n3\r\n4\n", "1\n2\n3\n4\n", "1\r\n2\n3\r\nagent\n", "1\n2\n3\nagent\n"),
        ("1\r\n2\n3\r\n4\n", "user\r\n2\n3\r\n4\n", "1\r\n2\r\n3\r\n4\r\n", "user\r\n2\r\n3\r\n4\r\n"),
        ("1\r\n2\n3\r\n4\n", "1\n2\n3\n4\n", "1\r\n2\r\n3\r\n4\r\n5\r\n", "1\n2\n3\n4\n5\n"),
        # both change them, differently: the user's count
        ("1\r\n2\r\n3\r\n4\r\n", "1\r\n2\r\n3\r\nx\n4\r\n", "agent\n2\n3\n4\n", "agent\r\n2\r\n3\r\nx\n4\r\n"),
        ("1\r\n2\r\n3\r\n4\r\n", "user\n2\n3\n4\n", "1\r\n2\r\n3\r\nx\n4\r\n", "user\n2\n3\nx\n4\n"),
        # the last line has no end, and gets the usual one when lines follow
        ("1\r\n2\r\n3\r\n4", "user\r\n2\n3\r\n4", "1\r\n2\r\n3\r\n4\r\n5", "user\r\n2\n3\r\n4\r\n5"),
        ("1\r\n2\n3\n4", "1\r\n2\n3\n4\n", "1\r\n2\n3\n4\n5", "1\r\n2\n3\n4\n5\n"),
        ("1", "x\ny\r\nz\r\n1", "1\n2", "x\ny\r\nz\r\n1\r\n2"),
    ],
)
async def test_mixed_line_ends(base: str, ours: str, theirs: str, expected: str) -> None:
    assert await merge(base, ours, theirs) == Merge(expected)


async def test_a_line_whose_end_one_changed_and_the_other_the_line_is_a_conflict() -> None:
    assert await merge("1\r\n2\r\n3\r\n", "1\r\nuser\r\n3\r\n", "1\r\n2\n3\r\n") == Merge(None, CONFLICT)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ("1\r\n2\r\n3\r\n", "1\n2\n3\n", "1\r\n2\r\n3\r\nx\r\r\n"),
        ("1\r\n2\r\n3\r\n", "1\r\n2\r\n3\r\nx\r\r\n", "1\n2\n3\n"),
        (BOM + "1\n2\n3\n", "1\n2\n3\n", BOM + BOM + "1\n2\n3\n"),
    ],
)
async def test_what_cannot_be_told_apart_afterwards_is_no_merge(base: str, ours: str, theirs: str) -> None:
    merged = await merge(base, ours, theirs)
    assert merged.text is None, merged


texts = st.lists(st.sampled_from(["a", "b", "c", "", "\r"]), max_size=5).flatmap(
    lambda lines: st.lists(st.sampled_from(["\n", "\r\n", "\r", ""]), min_size=len(lines), max_size=len(lines)).map(
        lambda ends: "".join(line + end for line, end in zip(lines, ends, strict=True))
    )
)


@given(texts, texts, texts)
async def test_whatever_the_texts_no_new_character_of_one_side_is_lost(base: str, ours: str, theirs: str) -> None:
    ours = ours + "u" if ours.endswith(("\n", "\r")) else "u\n" + ours
    merged = await merge(base, ours, theirs.replace("c", "t"))
    assert merged.text is not None or merged.why
    assert merged.text is None or (merged.text.count("u"), merged.text.count("t")) == (1, theirs.count("c"))
