"""Conflicts are where the other version wants something else; decided, they are none, and no other line has changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.hunks.conflict_blocks import ConflictBlock, conflict_blocks, resolve

KINDS = ("same", "mine", "theirs", "theirs gone", "both", "alike", "mine gone", "inserted")
choices = st.sampled_from(["mine", "theirs", "both"])
texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=8).map("".join)
ends = st.sampled_from([("\n", True), ("\r\n", True), ("\n", False), ("\r\n", False)])


def written(text: str, end: tuple[str, bool]) -> str:
    """The text with these line ends, and with an end of its last line or without one."""
    text = text.replace("\n", end[0])
    return text if end[1] else text.removesuffix(end[0])


@given(st.none() | texts, texts, texts, choices, st.tuples(ends, ends, ends))
def test_what_is_decided_at_once_is_no_conflict_any_more(base, current, theirs, choice, forms) -> None:
    current, theirs = written(current, forms[1]), written(theirs, forms[2])
    base = None if base is None else written(base, forms[0])
    blocks = conflict_blocks(base, current, theirs)
    new_base, new = resolve(base, current, theirs, blocks, choice)
    assert conflict_blocks(new_base, new, theirs) == []
    if choice == "mine":
        assert new == current
    if choice == "theirs" and base is None:
        assert new.replace("\r", "").removesuffix("\n") == theirs.replace("\r", "").removesuffix("\n")


@given(st.none() | texts, texts, texts, st.lists(st.tuples(st.integers(0, 9), choices), max_size=40))
def test_what_is_decided_one_by_one_comes_to_an_end(base, current, theirs, decisions) -> None:
    for number, choice in decisions:
        blocks = conflict_blocks(base, current, theirs)
        if not blocks:
            return
        block = blocks[number % len(blocks)]
        lines = current.splitlines()
        assert list(block.mine) == lines[block.first : block.first + block.count]
        base, current = resolve(base, current, theirs, [block], choice)
        wanted = {"mine": block.mine, "theirs": block.theirs, "both": (*block.mine, *block.theirs)}[choice]
        lines[block.first : block.first + block.count] = wanted
        assert current.splitlines() == lines
    assert len(decisions) < 40 or conflict_blocks(base, current, theirs) == []


@st.composite
def three_texts(draw):
    """A base, and two versions that each changed some of its lines; no line is there twice. And the conflicts."""
    base, mine, theirs, blocks = [], [], [], []
    for number in range(draw(st.integers(0, 8))):
        old, own, other = f"old {number}", f"mine {number}", f"theirs {number}"
        kind = draw(
            st.sampled_from(["same", "mine", "theirs", "theirs gone", "both", "alike", "mine gone", "inserted"])
        )
        sides = {
            "same": ([old], [old], [old]),
            "mine": ([old], [own], [old]),
            "theirs": ([old], [old], [other]),
            "theirs gone": ([old], [old], []),
            "both": ([old], [own], [other]),
            "alike": ([old], [other], [other]),
            "mine gone": ([old], [], [other]),
            "inserted": ([], [own], [other]),
        }[kind]
        if kind not in ("same", "mine", "alike"):
            blocks.append(ConflictBlock(len(mine), len(sides[1]), tuple(sides[1]), tuple(sides[2])))
        for text, side in zip((base, mine, theirs), sides, strict=True):
            text += [*side, f"kept {number}"]
    return ["".join(line + "\n" for line in text) for text in (base, mine, theirs)], blocks


@given(three_texts(), st.data())
def test_conflicts_are_the_places_that_the_other_version_changed(given_texts, data) -> None:
    (base, mine, theirs), wanted = given_texts
    blocks = conflict_blocks(base, mine, theirs)
    assert blocks == wanted
    if not blocks:
        return
    chosen = data.draw(st.lists(st.sampled_from(blocks), unique=True))
    choice = data.draw(choices)
    base, now = resolve(base, mine, theirs, chosen, choice)
    lines = mine.splitlines()
    for block in reversed([block for block in blocks if block in chosen]):
        wanted_lines = {"mine": block.mine, "theirs": block.theirs, "both": (*block.mine, *block.theirs)}[choice]
        lines[block.first : block.first + block.count] = wanted_lines
    assert now.splitlines() == lines
    settled, _ = resolve(base, now, theirs, conflict_blocks(base, now, theirs), choice)
    assert conflict_blocks(settled, data.draw(texts), theirs) == []  # whatever the user does then
    left = [(block.mine, block.theirs) for block in conflict_blocks(base, now, theirs)]
    assert left == [(block.mine, block.theirs) for block in blocks if block not in chosen]


@pytest.mark.parametrize(
    ("base", "current", "theirs", "blocks"),
    [
        ("a\n", "a\n", "a\n", []),
        (None, "a\nb\n", "a\nB\n", [ConflictBlock(1, 1, ("b",), ("B",))]),
        ("a\nb\n", "a\nB\n", "a\nb\n", []),
        # next to each other
        ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n", [ConflictBlock(2, 1, ("c",), ("C",))]),
        ("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n", [ConflictBlock(1, 1, ("b",), ("B",))]),
        ("a\nc\n", "a\nuser\nc\n", "a\nC\n", [ConflictBlock(2, 1, ("c",), ("C",))]),
        ("a\nc\n", "a\nuser\nc\n", "a\ntheirs\nc\n", [ConflictBlock(1, 1, ("user",), ("theirs",))]),
        # one inside the other
        ("1\n2\n3\n4\n", "1\nX\nY\n4\n", "1\n2\nt\n3\n4\n", [ConflictBlock(1, 2, ("X", "Y"), ("2", "t", "3"))]),
        # nothing at all
        ("a\n", "", "b\n", [ConflictBlock(0, 0, (), ("b",))]),
        ("a\n", "b\n", "", [ConflictBlock(0, 1, ("b",), ())]),
        ("", "a\n", "b\n", [ConflictBlock(0, 1, ("a",), ("b",))]),
        # line ends and byte order marks are no lines
        ("a\r\nb\r\n", "\ufeffa\r\nb\r\n", "a\nB\n", [ConflictBlock(1, 1, ("b",), ("B",))]),
        ("a\nb\n", "a\r\nb\r\n", "a\nb", []),
    ],
)
def test_each_kind_of_conflict(base: str | None, current: str, theirs: str, blocks: list[ConflictBlock]) -> None:
    assert conflict_blocks(base, current, theirs) == blocks


@pytest.mark.parametrize(
    ("base", "current", "theirs", "choice", "new"),
    [
        ("a\nb\n", "a\nuser\n", "a\nB\n", "mine", "a\nuser\n"),
        ("a\nb\n", "a\nuser\n", "a\nB\n", "theirs", "a\nB\n"),
        ("a\nb\n", "a\nuser\n", "a\nB\n", "both", "a\nuser\nB\n"),
        ("a\r\nb\r\n", "a\r\nuser\r\n", "a\nB\n", "both", "a\r\nuser\r\nB\r\n"),
        ("\ufeffa\n", "\ufeffuser\n", "b\n", "theirs", "\ufeffb\n"),
        # how the last line ends goes with it
        ("a\nb\n", "a\nuser\n", "a\nB", "theirs", "a\nB"),
        ("a\nb", "a\nuser", "a\nB\n", "both", "a\nuser\nB\n"),
        ("a\nb\n", "a\nuser\n", "a\nB", "mine", "a\nuser\n"),
        ("a\nb\n", "user\nb\n", "A\nb", "theirs", "A\nb\n"),
        ("a\n", "user\n", "", "theirs", ""),
        ("a\n", "", "b\n", "both", "b\n"),
        ("a\n\nb", "a\n\nuser", "a\n\n", "theirs", "a\n\n"),
    ],
)
def test_what_is_chosen(base: str, current: str, theirs: str, choice, new: str) -> None:
    blocks = conflict_blocks(base, current, theirs)
    assert len(blocks) == 1
    new_base, text = resolve(base, current, theirs, blocks, choice)
    assert text == new
    for now in (text, "other\n"):
        assert conflict_blocks(new_base, now, theirs) == []


def test_a_block_that_is_none_changes_nothing() -> None:
    texts = "a\nb\n", "a\nuser\n", "a\nB\n"
    assert resolve(*texts, [ConflictBlock(0, 1, ("a",), ("x",))], "theirs") == texts[:2]
