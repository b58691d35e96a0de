"""The lines of an accepted and a current text, and the runs in which the two differ."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import Final

import msgspec

from acp_nvim.workspace.line_differences import Block, differences, trimmed


class Run(msgspec.Struct, frozen=True):
    """After `gap` common lines: `removed` lines of the base that `added` current lines replace."""

    id: int
    gap: int
    removed: int
    added: int


class Cut(msgspec.Struct, frozen=True):
    """Where the user's replacement begins and ends: `left` added lines after the beginning of the first run, `right`
    added lines before the end of the last. The new lines are placed after `removed` removed lines of all these runs.
    """

    left: int
    right: int
    removed: int


class Draft:
    """Builds lines of the base with the runs in them, in order; `gap` common lines stand before the first one."""

    def __init__(self, gap: int, ids: Iterator[int]) -> None:
        self.base: list[str] = []
        self.runs: list[Run] = []
        self.gap = gap
        """Common lines since the last run."""
        self._ids = ids

    def both(self, lines: Sequence[str]) -> None:
        """Append lines that are in both texts."""
        self.base += lines
        self.gap += len(lines)

    def run(self, removed: Sequence[str], added: int, same: Run | None = None) -> None:
        """Append a run with `added` lines, unless it is empty; it gets the id of `same`, if that has as many lines."""
        if not removed and not added:
            return
        is_same = same is not None and (same.removed, same.added) == (len(removed), added)
        run_id = same.id if same is not None and is_same else next(self._ids)
        self.runs.append(Run(run_id, self.gap, len(removed), added))
        self.base += removed
        self.gap = 0


def cut(runs: Sequence[Run], before: int, left: int, right: int, is_insertion: bool) -> Cut:
    """Return where the user's lines are placed between removed ones.

    They are placed after as many removed lines as added lines are replaced or stand before them; after all, if no added
    line follows; before all, if they end where the last run begins. `before` is the number of added lines of the last
    run that are replaced or stand before: at most 0 if they end there. `left` and `right` are those of the result.
    """
    last = runs[-1]
    others = sum(run.removed for run in runs[:-1])
    if before <= 0 and (last.added or not is_insertion):
        return Cut(left, right, others)
    return Cut(left, right, others + (min(before, last.removed) if right else last.removed))


def divide(draft: Draft, runs: Sequence[Run], removed: list[str], where: Cut, new: list[str]) -> None:
    """Append the result of a user's edit: `new` inside these runs, whose removed lines are `removed`.

    New lines that equal removed ones become these lines again; the others are common.
    """
    first = runs[0] if where.left == runs[0].added else None
    last = runs[-1] if where.right == runs[-1].added else None
    if not new:
        draft.run(removed, where.left + where.right, runs[0] if len(runs) == 1 else None)
        return
    pairs = _reappeared(removed, new, where.removed)
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


def _reappeared(removed: list[str], new: list[str], usual: int) -> list[tuple[int, int]]:
    """Return pairs of a removed line and the new line that is the same, in order."""
    if set(new).isdisjoint(removed):
        return []
    if len(new) == 1:
        places = [index for index, line in enumerate(removed) if line == new[0]]
        return [(min(places, key=lambda index: abs(index - usual)), 0)]
    return common_lines(removed, new)


def common_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the indexes, in both lists, of the lines in which they do not differ, in order."""
    pairs: list[tuple[int, int]] = []
    i = j = 0
    for block in differences(old, new):
        pairs += zip(range(i, block.i1), range(j, block.j1), strict=True)
        i, j = block.i2, block.j2
    return pairs + list(zip(range(i, len(old)), range(j, len(new)), strict=True))


class Splice(msgspec.Struct, frozen=True):
    """A change of a list of lines: after the first `at` lines, `count` lines replaced `old`."""

    at: int
    old: Sequence[str]
    count: int

    @classmethod
    def between(cls, old: list[str], new: list[str], at: int = 0) -> Splice:
        """Return the splice that makes `new` of `old`, which begins at line `at`; it has only the lines that differ."""
        block = trimmed(old, new)
        return cls(at + block.i1, old[block.i1 : block.i2], block.j2 - block.j1)

    def undo(self, lines: list[str]) -> None:
        """Undo the splice in `lines`, which must be unchanged since."""
        lines[self.at : self.at + self.count] = self.old


class _Place(msgspec.Struct, frozen=True):
    """The position before the run `index`, after the run before it, which ends at these lines of base and current."""

    index: int
    i: int
    j: int


_START: Final = _Place(0, 0, 0)


class _Touched(msgspec.Struct, frozen=True):
    """The runs `[index:end]` that contain or adjoin some current lines, and the lines of all of them.

    `gap` common lines stand between the run before and these lines; the last `beyond` lines are common.
    """

    index: int
    end: int
    lines: Block
    gap: int
    beyond: int


class OwnedLines:
    """The lines of the accepted text `base` and of `current`, without line ends. Ids of runs are never reused."""

    def __init__(self, base: list[str], current: list[str]) -> None:
        self.base = base
        self.current = current
        self._ids = count(1)
        self.runs, _ = self._compared(Block(0, len(base), 0, len(current)), 0)

    def blocks(self) -> Iterator[tuple[Run, Block]]:
        """Yield each run with its rows in the base and in the current lines, in order."""
        i = j = 0
        for run in self.runs:
            i, j = i + run.gap, j + run.gap
            yield run, Block(i, i + run.removed, j, j + run.added)
            i, j = i + run.removed, j + run.added

    def compare_again(self, base: list[str], current: list[str]) -> None:
        """Replace all lines and compare them; runs with unchanged lines keep their ids."""
        known = self._known(self.runs, _START)
        self.base, self.current = base, current
        runs, _ = self._compared(Block(0, len(base), 0, len(current)), 0)
        self.runs = self._named(runs, _START, known)

    def apply_agent(self, first: int, count: int, lines: list[str]) -> bool:
        """Replace `count` lines from row `first` (from 0), as an agent's change; return whether the set of runs
        changed.
        """
        place = self._seek(_START, first)
        touched = self._touch(place, first, first + count)
        known = self._known(self.runs[touched.index : touched.end], place)
        self.current[first : first + count] = lines
        j2 = touched.lines.j2 + len(lines) - count
        runs, rest = self._compared(msgspec.structs.replace(touched.lines, j2=j2), touched.gap)
        return self._put(touched, self._named(runs, place, known), rest)

    def apply_user(self, first: int, count: int, lines: list[str]) -> tuple[bool, list[Splice]]:
        """Replace `count` current lines from row `first` (counted from 0), as the user's change.

        Return whether the set of runs has changed, and the changes of the base, in order.
        """
        old = self.current[first : first + count]
        place, changed, splices = _START, False, []
        for block in reversed(list(differences(old, lines))):
            start, stop = first + block.i1, first + block.i2
            place = self._seek(place, start)
            other, splice = self._apply_user_block(place, start, stop, lines[block.j1 : block.j2])
            changed = changed or other
            splices.append(splice)
        return changed, splices

    def restore(self, base: list[str], current: list[str], runs: Sequence[Run]) -> bool:
        """Restore an earlier state; return whether the set of runs has changed."""
        before, known = [run.id for run in self.runs], self._known(self.runs, _START)
        self.base, self.current = base, current
        self.runs = self._named(runs, _START, known)
        return before != [run.id for run in self.runs]

    def keep(self, ids: Collection[int]) -> None:
        """Accept the current lines of these runs."""
        base: list[str] = []
        runs: list[Run] = []
        gap = at = 0
        for run, block in self.blocks():
            gap += run.gap
            if run.id in ids:
                base += [*self.base[at : block.i1], *self.current[block.j1 : block.j2]]
                gap, at = gap + run.added, block.i2
            else:
                runs.append(msgspec.structs.replace(run, gap=gap))
                gap = 0
        self.base, self.runs = base + self.base[at:], runs

    def without(self, ids: Collection[int]) -> list[str]:
        """Return the current lines with the base lines of these runs."""
        lines: list[str] = []
        at = 0
        for run, block in self.blocks():
            if run.id in ids:
                lines += [*self.current[at : block.j1], *self.base[block.i1 : block.i2]]
                at = block.j2
        return lines + self.current[at:]

    def _seek(self, place: _Place, line: int) -> _Place:
        """Return the place before the first run that ends at or after that current line; search from `place`."""
        index, i, j = place.index, place.i, place.j
        while index and j >= line:
            index -= 1
            run = self.runs[index]
            i, j = i - run.gap - run.removed, j - run.gap - run.added
        while index < len(self.runs) and j + (run := self.runs[index]).gap + run.added < line:
            index, i, j = index + 1, i + run.gap + run.removed, j + run.gap + run.added
        return _Place(index, i, j)

    def _touch(self, place: _Place, first: int, last: int) -> _Touched:
        """Return what the current lines `[first:last]` touch; `place` is that of `first`."""
        end, i, j, start = place.index, place.i, place.j, first
        while end < len(self.runs) and j + (run := self.runs[end]).gap <= last:
            if end == place.index:
                start = min(first, j + run.gap)
            end, i, j = end + 1, i + run.gap + run.removed, j + run.gap + run.added
        gap, stop = start - place.j, max(last, j)
        return _Touched(place.index, end, Block(place.i + gap, i + stop - j, start, stop), gap, stop - j)

    def _compared(self, lines: Block, gap: int) -> tuple[list[Run], int]:
        """Compare these lines; return runs with new ids, and the number of common lines after the last."""
        runs, at = [], 0
        for block in differences(self.base[lines.i1 : lines.i2], self.current[lines.j1 : lines.j2]):
            runs.append(Run(next(self._ids), gap + block.i1 - at, block.i2 - block.i1, block.j2 - block.j1))
            gap, at = 0, block.i2
        return runs, gap + lines.i2 - lines.i1 - at

    def _contents(self, runs: Sequence[Run], place: _Place) -> Iterator[tuple[Run, tuple[str, ...]]]:
        """Yield each run with its lines: the number of removed ones, those, the added; `place` is that of the first."""
        i, j = place.i, place.j
        for run in runs:
            i, j = i + run.gap, j + run.gap
            removed, added = self.base[i : i + run.removed], self.current[j : j + run.added]
            yield run, (str(run.removed), *removed, *added)
            i, j = i + run.removed, j + run.added

    def _known(self, runs: Sequence[Run], place: _Place) -> dict[tuple[str, ...], deque[tuple[int, int]]]:
        """Map the lines of runs to the indexes and ids of the runs that have these lines."""
        known = defaultdict[tuple[str, ...], deque[tuple[int, int]]](deque)
        for number, (run, lines) in enumerate(self._contents(runs, place)):
            known[lines].append((number, run.id))
        return known

    def _named(
        self, runs: Sequence[Run], place: _Place, known: dict[tuple[str, ...], deque[tuple[int, int]]]
    ) -> list[Run]:
        """Return `runs` with the ids of known runs that have the same lines and the same order."""
        own = {run.id for run in runs}
        last = -1
        named = []
        for run, lines in self._contents(runs, place):
            same = known.get(lines, deque())
            while same and (same[0][0] <= last or same[0][1] in own):
                same.popleft()
            if same:
                last, run_id = same.popleft()
                run = msgspec.structs.replace(run, id=run_id)
            named.append(run)
        return named

    def _apply_user_block(self, place: _Place, first: int, last: int, new: list[str]) -> tuple[bool, Splice]:
        """Replace the current lines `[first:last]` as the user's change; return what `apply_user` does."""
        touched = self._touch(place, first, last)
        lines, runs = touched.lines, self.runs[touched.index : touched.end]
        draft = self._draft(place, touched, first, last, new)
        is_other = len(runs) > 1 and not {run.id for run in draft.runs} <= {run.id for run in runs}
        known = self._known(runs, place) if is_other else {}
        splice = Splice.between(self.base[lines.i1 : lines.i2], draft.base, lines.i1)
        self.base[lines.i1 : lines.i2] = draft.base
        self.current[first:last] = new
        made, rest = draft.runs, draft.gap
        if is_other:
            if self._have_common_lines(made, place):  # lines that one run added may be those that another removed
                now = Block(lines.i1, lines.i1 + len(draft.base), lines.j1, lines.j2 + len(new) - (last - first))
                made, rest = self._compared(now, touched.gap)
            made = self._named(made, place, known)
        return self._put(touched, made, rest), splice

    def _draft(self, place: _Place, touched: _Touched, first: int, last: int, new: list[str]) -> Draft:
        """Return the touched lines of the base after that change."""
        draft = Draft(touched.gap, self._ids)
        runs = self.runs[touched.index : touched.end]
        if not runs:
            draft.both(new)
            return draft
        end = touched.lines.j2 - touched.beyond
        left = max(first - place.j - runs[0].gap, 0)
        before = last - (end - runs[-1].added)
        divide(draft, runs, self._removed(runs, place), cut(runs, before, left, max(end - last, 0), first == last), new)
        return draft

    def _removed(self, runs: Sequence[Run], place: _Place) -> list[str]:
        """Return the removed lines of these runs; `place` is that of the first."""
        removed, i = [], place.i
        for run in runs:
            removed += self.base[i + run.gap : i + run.gap + run.removed]
            i += run.gap + run.removed
        return removed

    def _have_common_lines(self, runs: Sequence[Run], place: _Place) -> bool:
        contents = self._contents(runs, place)
        return any(not set(lines[1 : run.removed + 1]).isdisjoint(lines[run.removed + 1 :]) for run, lines in contents)

    def _put(self, touched: _Touched, runs: list[Run], rest: int) -> bool:
        """Replace the touched runs, with `rest` common lines after them; return whether the set has changed."""
        before = [run.id for run in self.runs[touched.index : touched.end]]
        if touched.end < len(self.runs):
            run = self.runs[touched.end]
            self.runs[touched.end] = msgspec.structs.replace(run, gap=run.gap - touched.beyond + rest)
        self.runs[touched.index : touched.end] = runs
        return before != [run.id for run in runs]
