"""What an agent knows of a file of which it was shown a part: there the new text, elsewhere what it knew before."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

import msgspec

from acp_nvim.workspace.text_shape import MIXED, is_mac, lines_with_ends, put_together, take_apart

CLOSE_LINES: Final = 100
"""Lines, of both texts together, that difflib compares: 2 ms at worst, eight times that for twice as many."""


class Block(msgspec.Struct, frozen=True):
    """Lines `old[i1:i2]` that are `new[j1:j2]` now; one of them can be empty."""

    i1: int
    i2: int
    j1: int
    j2: int


class _Window(msgspec.Struct, frozen=True):
    """The lines that are shown: `first` is the first, counted from 0, `last` the one after the last; of `count`."""

    first: int
    last: int
    count: int

    def replaced(self, block: Block) -> tuple[int, int]:
        """The old lines of a block whose place the shown ones of its new lines take.

        All, when the lines around it are shown as well. Else as many as are shown, counted from its end in sight.
        """
        size = max(min(block.j2, self.last) - max(block.j1, self.first), 0)
        top = self.first < block.j1 or block.j1 == self.first == 0
        bottom = block.j2 < self.last or block.j2 == self.last == self.count
        if top and bottom:
            return block.i1, block.i2
        if bottom:
            return max(block.i1, block.i2 - size), block.i2
        start = min(block.i1 + max(self.first - block.j1, 0), block.i2)
        return start, min(start + size, block.i2)


def shown(known: str, text: str, line: int | None, limit: int | None) -> str:
    """What an agent knows that knew `known`, and is shown `limit` lines of `text` from line `line` (1-based).

    Without `line` from the first on, without `limit` to the end. No line of `text` is in it that was not shown, and a
    line of `known` is missing only for one that was: what an agent has not seen, it cannot have wanted to change.
    """
    new = lines_with_ends(text)
    first = max(line or 1, 1) - 1
    last = len(new) if limit is None else min(first + limit, len(new))
    if first == 0 and last == len(new) and limit != 0:
        return text
    if first >= last:
        return known
    old = lines_with_ends(_with_line_ends_of(text, known))
    return _joined(list(_pieces(old, new, _Window(first, last, len(new)))), "\r" if is_mac(text) else "\n")


def _with_line_ends_of(text: str, known: str) -> str:
    """`known`, if all of its lines end in one way, with the line ends of `text`: who sees a line sees how it ends."""
    kind, shape = take_apart(text).kind, take_apart(known)
    if shape.kind == kind or MIXED in (shape.kind, kind):
        return known
    return put_together(shape.bom, shape.lines, [end and kind for end in shape.ends])


def _pieces(old: list[str], new: list[str], window: _Window) -> Iterator[str]:
    at = 0
    for block in differences(old, new):
        start, stop = window.replaced(block)
        yield from old[at:start]
        yield from new[max(block.j1, window.first) : min(block.j2, window.last)]
        at = stop
    yield from old[at:]


def _joined(lines: list[str], end: str) -> str:
    """The text of these lines; one without an end that is not the last any more gets one."""
    return "".join([line if line.endswith(("\n", end)) else line + end for line in lines[:-1]] + lines[-1:])


def differences(old: list[str], new: list[str]) -> Iterator[Block]:
    """The blocks that differ, in order. In long texts, lines that each has once hold the others in their places."""
    whole = _trimmed(old, new, Block(0, len(old), 0, len(new)))
    if _size(whole) <= CLOSE_LINES:
        yield from _close(old, new, whole)
        return
    i, j = whole.i1, whole.j1
    for a, b in [*_anchors(old, new, whole), (whole.i2, whole.j2)]:
        if (i, j) != (a, b):
            block = _trimmed(old, new, Block(i, a, j, b))
            yield from _close(old, new, block) if _size(block) <= CLOSE_LINES else (block,)
        i, j = a + 1, b + 1


def _size(block: Block) -> int:
    return block.i2 - block.i1 + block.j2 - block.j1


def _trimmed(old: list[str], new: list[str], block: Block) -> Block:
    """`block` without the lines at its beginning and its end that are the same."""
    i1, i2, j1, j2 = block.i1, block.i2, block.j1, block.j2
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
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
