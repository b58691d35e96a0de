"""Where two texts differ, line by line."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

import msgspec

CLOSE_LINES: Final = 100
"""Lines, of both texts together, that difflib compares: 2 ms at worst, eight times that for twice as many."""

_STEP: Final = 256
"""Lines compared at once where two texts may be the same for long."""


class Block(msgspec.Struct, frozen=True):
    """Lines `old[i1:i2]` that are `new[j1:j2]` now; one of them can be empty."""

    i1: int
    i2: int
    j1: int
    j2: int


def differences(old: list[str], new: list[str]) -> Iterator[Block]:
    """The blocks that differ, in order. In long texts, lines that each has once hold the others in their places."""
    whole = trimmed(old, new)
    if _size(whole) <= CLOSE_LINES:
        yield from _close(old, new, whole)
        return
    i, j = whole.i1, whole.j1
    for a, b in [*_anchors(old, new, whole), (whole.i2, whole.j2)]:
        if (i, j) != (a, b):
            block = _trimmed(old, new, Block(i, a, j, b))
            yield from _close(old, new, block) if _size(block) <= CLOSE_LINES else (block,)
        i, j = a + 1, b + 1


def trimmed(old: list[str], new: list[str]) -> Block:
    """The lines from the first to the last that differ; of neither text any, when they are the same."""
    return _trimmed(old, new, Block(0, len(old), 0, len(new)))


def _size(block: Block) -> int:
    return block.i2 - block.i1 + block.j2 - block.j1


def _trimmed(old: list[str], new: list[str], block: Block) -> Block:
    """`block` without the lines at its beginning and its end that are the same."""
    i1, i2, j1, j2 = block.i1, block.i2, block.j1, block.j2
    while (step := min(_STEP, i2 - i1, j2 - j1)) and old[i1 : i1 + step] == new[j1 : j1 + step]:
        i1, j1 = i1 + step, j1 + step
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while (step := min(_STEP, i2 - i1, j2 - j1)) and old[i2 - step : i2] == new[j2 - step : j2]:
        i2, j2 = i2 - step, j2 - step
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    return Block(i1, i2, j1, j2)


def _close(old: list[str], new: list[str], block: Block) -> Iterator[Block]:
    if block.i1 == block.i2 or block.j1 == block.j2:
        if _size(block):
            yield block
        return
    matcher = SequenceMatcher(None, old[block.i1 : block.i2], new[block.j1 : block.j2], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield Block(block.i1 + i1, block.i1 + i2, block.j1 + j1, block.j1 + j2)


def _anchors(old: list[str], new: list[str], block: Block) -> list[tuple[int, int]]:
    """Places, in both, of lines that each has once in that block, as many as are in the same order."""
    here, there = Counter(old[block.i1 : block.i2]), Counter(new[block.j1 : block.j2])
    places = {new[j]: j for j in range(block.j1, block.j2) if there[new[j]] == 1}
    pairs = [(i, places[old[i]]) for i in range(block.i1, block.i2) if here[old[i]] == 1 and old[i] in places]
    return _longest_rise(pairs)


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of `pairs` whose second numbers rise as their first do."""
    numbers = [number for _, number in pairs]
    if numbers == sorted(numbers):
        return pairs
    lowest: list[int] = []  # of each length of a rise: the lowest number that one ends with,
    ends: list[int] = []  # and which pair that is
    before: list[int] = []  # of each pair: the one before it in its rise
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(lowest, number)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [number]
        ends[length : length + 1] = [index]
    rise, index = [], ends[-1] if ends else -1
    while index >= 0:
        rise.append(pairs[index])
        index = before[index]
    return rise[::-1]
