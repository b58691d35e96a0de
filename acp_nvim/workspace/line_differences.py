"""Finds where two texts differ: as blocks of lines, or as one range from the first difference to the last."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from acp_nvim.contract.editor import LineChange, TextChange, WholeText
from acp_nvim.workspace.encoding import BOM

CLOSE_LINES: Final = 100
"""Maximum lines of both texts together that difflib compares: 2 ms at worst, eight times that for twice as many."""

_STEP: Final = 256
"""Lines compared at once where two texts may be equal for long."""

_BLOCK = 16 * 1024
"""Characters compared at once."""


class Block(msgspec.Struct, frozen=True):
    """Lines `old[i1:i2]` that became `new[j1:j2]`; one of them can be empty."""

    i1: int
    i2: int
    j1: int
    j2: int


def differences(old: list[str], new: list[str]) -> Iterator[Block]:
    """Yield the blocks that differ, in order. In long texts, lines unique in both texts are aligned first."""
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
    """Return the range from the first to the last line that differs; empty when the texts are equal."""
    return _trimmed(old, new, Block(0, len(old), 0, len(new)))


def _size(block: Block) -> int:
    return block.i2 - block.i1 + block.j2 - block.j1


def _trimmed(old: list[str], new: list[str], block: Block) -> Block:
    """Return `block` without equal lines at its start and end."""
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
    from difflib import SequenceMatcher  # here: the host starts without it

    matcher = SequenceMatcher(None, old[block.i1 : block.i2], new[block.j1 : block.j2], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield Block(block.i1 + i1, block.i1 + i2, block.j1 + j1, block.j1 + j2)


def _anchors(old: list[str], new: list[str], block: Block) -> list[tuple[int, int]]:
    """Return the positions of lines that are unique in both texts, as many as are in the same order."""
    here, there = Counter(old[block.i1 : block.i2]), Counter(new[block.j1 : block.j2])
    places = {new[j]: j for j in range(block.j1, block.j2) if there[new[j]] == 1}
    pairs = [(i, places[old[i]]) for i in range(block.i1, block.i2) if here[old[i]] == 1 and old[i] in places]
    return _longest_rise(pairs)


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of `pairs` whose second numbers rise as their first do."""
    numbers = [number for _, number in pairs]
    if numbers == sorted(numbers):
        return pairs
    lowest: list[int] = []  # by length of a rise: the lowest last number,
    ends: list[int] = []  # and the index of its pair
    before: list[int] = []  # by pair: the index of its predecessor
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


def difference(old: str, new: str) -> TextChange:
    """Return the change from `old` to `new`: one range of lines, if the texts differ in lines only."""
    if not _is_of_lines(old, new):
        return WholeText(new)
    start = old.rfind("\n", 0, common_head(old, new)) + 1
    old_end, new_end = _ends(old, new, start)
    replaced, lines = _lines(old[start:old_end]), _lines(new[start:new_end])
    return LineChange(old.count("\n", 0, start), len(replaced), lines)


def _is_of_lines(old: str, new: str) -> bool:
    """Whether line ends, BOM and the end of the last line are equal. CR may be part of line ends or of lines."""
    return (
        old != ""
        and new != ""
        and old.endswith("\n") == new.endswith("\n")
        and not old.startswith(BOM)
        and not new.startswith(BOM)
        and "\r" not in old
        and "\r" not in new
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def common_head(old: str, new: str) -> int:
    """Return the number of characters that both begin with; comparing whole blocks is fast."""
    at = 0
    while (block := old[at : at + _BLOCK]) and new.startswith(block, at):
        at += len(block)
    return at + _agreeing(block, new[at : at + len(block)])


def common_tail(old: str, new: str, start: int) -> int:
    """Return the number of characters that both end with, beyond the first `start` ones."""
    shorter, tail = min(len(old), len(new)) - start, 0
    while tail < shorter:
        size = min(_BLOCK, shorter - tail)
        block = old[len(old) - tail - size : len(old) - tail]
        if not new.endswith(block, 0, len(new) - tail):
            return tail + _agreeing(block[::-1], new[len(new) - tail - size : len(new) - tail][::-1])
        tail += size
    return tail


def _agreeing(old: str, new: str) -> int:
    """Do the same as `common_head` for short texts, by bisection."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(old: str, new: str, start: int) -> tuple[int, int]:
    """Return where the changed lines end in each text."""
    tail = common_tail(old, new, start)
    old_end, new_end = len(old) - tail, len(new) - tail
    if _begins_line(old, old_end) and _begins_line(new, new_end):
        return old_end, new_end
    newline = old.find("\n", old_end)
    if newline < 0:
        return len(old), len(new)
    return newline + 1, new_end + newline + 1 - old_end


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"
