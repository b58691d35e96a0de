"""Where texts differ: blocks that make one of the other, and where they lie."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from acp_nvim.workspace.line_differences import CLOSE_LINES, Block, differences, trimmed


def few(chance: random.Random, count: int, different: int) -> list[str]:
    """Return so many lines, of which some are the same."""
    return [f"{chance.randrange(different)}\n" for _ in range(count)]


@pytest.mark.parametrize("count", [5, CLOSE_LINES // 2, 3 * CLOSE_LINES])
@pytest.mark.parametrize("different", [2, 100, 10_000])
@pytest.mark.parametrize("edits", [1, 5, 1000])
def test_differences_make_one_text_of_the_other(count: int, different: int, edits: int) -> None:
    chance = random.Random(1)
    old = few(chance, count, different)
    new = list(old)
    for _ in range(edits):
        at = chance.randrange(len(new) + 1)
        new[at : at + chance.randrange(3)] = few(chance, chance.randrange(3), different)
    blocks = list(differences(old, new))
    made, at = [], 0
    for block in blocks:
        assert (block.i1, block.j1) != (block.i2, block.j2)
        made += old[at : block.i1] + new[block.j1 : block.j2]
        at = block.i2
    assert made + old[at:] == new
    assert all(one.i2 <= two.i1 and one.j2 <= two.j1 and one.i2 < two.i1 for one, two in pairwise(blocks))


def test_in_a_long_text_lines_that_are_there_once_keep_the_others_in_place() -> None:
    old = [f"{number}\n" if number % 3 else "}\n" for number in range(20_000)]
    new = list(old)
    new[10:10] = ["inserted\n"]
    del new[9_000]
    new[19_000] = "changed\n"
    sizes = [(block.i2 - block.i1, block.j2 - block.j1) for block in differences(old, new)]
    assert sizes == [(0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("swapped", [False, True])
def test_lines_that_one_text_has_twice_hold_nothing(swapped: bool) -> None:
    mine, others = ([f"{name} {number}\n" for number in range(120)] for name in ("mine", "others"))
    twice = [*mine[:3], "(\n", ")\n", "(\n", ")\n", *mine[3:60], "kept\n", *mine[60:]]
    once = [*others[:60], "kept\n", *others[60:115], "(\n", ")\n", *others[115:]]
    old, new = (once, twice) if swapped else (twice, once)
    blocks = [(block.i1, block.i2, block.j1, block.j2) for block in differences(old, new)]
    kept, kept_too = old.index("kept\n"), new.index("kept\n")
    assert blocks == [(0, kept, 0, kept_too), (kept + 1, len(old), kept_too + 1, len(new))]


def test_what_is_the_same_beside_those_lines_is_no_difference() -> None:
    braces = ["{\n", "}\n"] * 100
    old = ["first\n", "once\n", *braces, "once too\n", "last\n"]
    new = ["1st\n", "once\n", *braces[:100], "new\n", *braces[100:], "once too\n", "end\n"]
    sizes = [(block.i2 - block.i1, block.j2 - block.j1) for block in differences(old, new)]
    assert sizes == [(1, 1), (0, 1), (1, 1)]


def test_lines_that_moved_are_two_differences() -> None:
    old = [f"{number}\n" for number in range(500)]
    new = old[:100] + old[300:400] + old[100:300] + old[400:]
    sizes = [(block.i2 - block.i1, block.j2 - block.j1) for block in differences(old, new)]
    assert sizes == [(0, 100), (100, 0)]


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
def test_what_is_trimmed_is_what_both_begin_and_end_with(count: int) -> None:
    same = ["same\n"] * count
    assert trimmed(same, same) == Block(count, count, count, count)
    assert trimmed([*same, "a", *same], [*same, "b", "c", *same]) == Block(count, count + 1, count, count + 2)
    assert trimmed(same, [*same, "same\n"]) == Block(count, count, count, count + 1)
    assert trimmed([*same, "a"], same) == Block(count, count + 1, count, count)
