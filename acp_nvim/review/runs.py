"""The runs of lines in which two lists differ, and what becomes of them when the user changes lines there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from acp_nvim.workspace.line_differences import differences


class Run(msgspec.Struct, frozen=True):
    """After `gap` lines that both lists have: `removed` lines of the base for which there are `added` ones now."""

    id: int
    gap: int
    removed: int
    added: int


class Cut(msgspec.Struct, frozen=True):
    """The current lines that the user replaced begin `left` added lines after the first run's beginning, and end
    `right` ones before the last run's end. The new ones stand after `removed` removed lines of all these runs."""

    left: int
    right: int
    removed: int


class Draft:
    """Lines of the base and the runs in them, written from the first to the last."""

    def __init__(self, gap: int, ids: Iterator[int]) -> None:
        self.base: list[str] = []
        self.runs: list[Run] = []
        self.gap = gap
        """Lines since the last run that are in both."""
        self._ids = ids

    def both(self, lines: Sequence[str]) -> None:
        """These lines are in both."""
        self.base += lines
        self.gap += len(lines)

    def run(self, removed: Sequence[str], added: int, same: Run | None = None) -> None:
        """A run, unless it is empty: `same`, if it has as many lines, or a new one."""
        if not removed and not added:
            return
        is_same = same is not None and (same.removed, same.added) == (len(removed), added)
        run_id = same.id if same is not None and is_same else next(self._ids)
        self.runs.append(Run(run_id, self.gap, len(removed), added))
        self.base += removed
        self.gap = 0


def cut(runs: Sequence[Run], before: int, left: int, right: int, is_insertion: bool) -> Cut:
    """Where the user's lines stand between removed ones.

    Behind as many as added ones are replaced by them or stand before them; behind all, if no added line follows; before
    all, if the user's lines end where the last run begins. `before` is the number of added lines of the last run that
    are replaced or stand before: negative or 0, if it begins there.
    """
    last = runs[-1]
    others = sum(run.removed for run in runs[:-1])
    if before <= 0 and (last.added or not is_insertion):
        return Cut(left, right, others)
    return Cut(left, right, others + (min(before, last.removed) if right else last.removed))


def divide(draft: Draft, runs: Sequence[Run], removed: list[str], where: Cut, new: list[str]) -> None:
    """The user put `new` into these runs, whose removed lines are `removed`; between them no line is left.

    What equals a removed line is that line again, the other new lines are in both.
    """
    first = runs[0] if where.left == runs[0].added else None
    last = runs[-1] if where.right == runs[-1].added else None
    if not new:
        draft.run(removed, where.left + where.right, runs[0] if len(runs) == 1 else None)
        return
    pairs = _again(removed, new, where.removed)
    if not pairs:
        draft.run(removed[: where.removed], where.left, first)
        draft.both(new)
        draft.run(removed[where.removed :], where.right, last)
        return
    at = done = 0
    left = where.left
    for i, j in pairs:
        draft.run(removed[at:i], left)
        draft.both(new[done : j + 1])
        at, done, left = i + 1, j + 1, 0
    draft.both(new[done:])
    draft.run(removed[at:], where.right)


def _again(removed: list[str], new: list[str], usual: int) -> list[tuple[int, int]]:
    """Removed lines that are there again, and which of the new ones each is, in order."""
    if set(new).isdisjoint(removed):
        return []
    if len(new) == 1:
        places = [index for index, line in enumerate(removed) if line == new[0]]
        return [(min(places, key=lambda index: abs(index - usual)), 0)]
    pairs: list[tuple[int, int]] = []
    i = j = 0
    for block in differences(removed, new):
        pairs += zip(range(i, block.i1), range(j, block.j1), strict=True)
        i, j = block.i2, block.j2
    return pairs + list(zip(range(i, len(removed)), range(j, len(new)), strict=True))
