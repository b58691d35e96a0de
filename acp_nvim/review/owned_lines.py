"""Lines that both the accepted and the current text have, and the runs in which the two differ."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import Final

import msgspec

from acp_nvim.workspace.line_differences import Block, differences, trimmed


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
    """Lines of the base and the runs in them, written from the first to the last.

    `gap` is how many lines before the first one are in both texts.
    """

    def __init__(self, gap: int, ids: Iterator[int]) -> None:
        self.base: list[str] = []
        self.runs: list[Run] = []
        self.gap = gap
        """Lines since the last run that are in both."""
        self._ids = ids

    def both(self, lines: Sequence[str]) -> None:
        """Append lines that are in both texts."""
        self.base += lines
        self.gap += len(lines)

    def run(self, removed: Sequence[str], added: int, same: Run | None = None) -> None:
        """Append a run of `removed` lines and as many `added` ones as it says, unless it is empty.

        It goes by the id of `same`, if that has as many lines.
        """
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
    are replaced or stand before: negative or 0, if it begins there. `left` and `right` are those of the result.
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


class Splice(msgspec.Struct, frozen=True):
    """In a list of lines, `old` were where `count` ones are now, after the first `at` lines."""

    at: int
    old: Sequence[str]
    count: int

    def take_back(self, lines: list[str]) -> None:
        """Undo the splice in `lines`, which must be as it has left them."""
        lines[self.at : self.at + self.count] = self.old


def _splice(at: int, old: list[str], new: list[str]) -> Splice:
    """Of two lists that begin at that line only what differs: a run can be long, what is typed is short."""
    block = trimmed(old, new)
    return Splice(at + block.i1, old[block.i1 : block.i2], block.j2 - block.j1)


class _Place(msgspec.Struct, frozen=True):
    """Before the run `index`: behind the one before it, which ends at line `i` of the base and `j` of the current."""

    index: int
    i: int
    j: int


_START: Final = _Place(0, 0, 0)


class _Touched(msgspec.Struct, frozen=True):
    """The runs `[index:end]` that some current lines have in them or beside them, and the lines of all of that.

    `gap` lines that both have stand between the run before and these lines, and `beyond` ones are among these behind
    the last run.
    """

    index: int
    end: int
    lines: Block
    gap: int
    beyond: int


class OwnedLines:
    """`base` is what is accepted, `current` what there is; lines have no ends. Ids of runs are never used again."""

    def __init__(self, base: list[str], current: list[str]) -> None:
        self.base = base
        self.current = current
        self._ids = count(1)
        self.runs, _ = self._compared(Block(0, len(base), 0, len(current)), 0)

    def __repr__(self) -> str:
        return f"<OwnedLines {len(self.current)} lines, {len(self.runs)} runs>"

    def blocks(self) -> Iterator[tuple[Run, Block]]:
        """Yield each run with the rows that it takes in the base and in the current lines, in order."""
        i = j = 0
        for run in self.runs:
            i, j = i + run.gap, j + run.gap
            yield run, Block(i, i + run.removed, j, j + run.added)
            i, j = i + run.removed, j + run.added

    def compare_again(self, base: list[str], current: list[str]) -> None:
        """These are the lines now; runs of the same lines keep their ids."""
        known = self._known(self.runs, _START)
        self.base, self.current = base, current
        runs, _ = self._compared(Block(0, len(base), 0, len(current)), 0)
        self.runs = self._named(runs, _START, known)

    def agent(self, first: int, count: int, lines: list[str]) -> bool:
        """The agent put `lines` in the place of `count` current ones, from row `first` on (counted from 0).

        Return whether the set of runs is another one.
        """
        place = self._seek(_START, first)
        touched = self._touch(place, first, first + count)
        known = self._known(self.runs[touched.index : touched.end], place)
        self.current[first : first + count] = lines
        j2 = touched.lines.j2 + len(lines) - count
        runs, rest = self._compared(msgspec.structs.replace(touched.lines, j2=j2), touched.gap)
        return self._put(touched, self._named(runs, place, known), rest)

    def user(self, first: int, count: int, lines: list[str]) -> tuple[bool, list[Splice]]:
        """The user put `lines` in the place of `count` current ones, from row `first` on (counted from 0).

        Return whether the set of runs is another one, and what it changed in the base, in order.
        """
        old = self.current[first : first + count]
        place, changed, splices = _START, False, []
        for block in reversed(list(differences(old, lines))):
            start, stop = first + block.i1, first + block.i2
            place = self._seek(place, start)
            other, splice = self._carry(place, start, stop, lines[block.j1 : block.j2])
            changed = changed or other
            splices.append(splice)
        return changed, splices

    def put_back(self, base: list[str], current: list[str], runs: Sequence[Run]) -> bool:
        """This is what there was; whether the set of runs is another one."""
        before, known = [run.id for run in self.runs], self._known(self.runs, _START)
        self.base, self.current = base, current
        self.runs = self._named(runs, _START, known)
        return before != [run.id for run in self.runs]

    def keep(self, ids: Collection[int]) -> None:
        """The lines of these runs are accepted."""
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
        """The current lines with what these runs were made of."""
        lines: list[str] = []
        at = 0
        for run, block in self.blocks():
            if run.id in ids:
                lines += [*self.current[at : block.j1], *self.base[block.i1 : block.i2]]
                at = block.j2
        return lines + self.current[at:]

    def _seek(self, place: _Place, line: int) -> _Place:
        """Before the first run that ends at that current line or behind it, looked for from `place` on."""
        index, i, j = place.index, place.i, place.j
        while index and j >= line:
            index -= 1
            run = self.runs[index]
            i, j = i - run.gap - run.removed, j - run.gap - run.added
        while index < len(self.runs) and j + (run := self.runs[index]).gap + run.added < line:
            index, i, j = index + 1, i + run.gap + run.removed, j + run.gap + run.added
        return _Place(index, i, j)

    def _touch(self, place: _Place, first: int, last: int) -> _Touched:
        """What the current lines `[first:last]` touch; `place` is that of `first`."""
        end, i, j, start = place.index, place.i, place.j, first
        while end < len(self.runs) and j + (run := self.runs[end]).gap <= last:
            if end == place.index:
                start = min(first, j + run.gap)
            end, i, j = end + 1, i + run.gap + run.removed, j + run.gap + run.added
        gap, stop = start - place.j, max(last, j)
        return _Touched(place.index, end, Block(place.i + gap, i + stop - j, start, stop), gap, stop - j)

    def _compared(self, lines: Block, gap: int) -> tuple[list[Run], int]:
        """The differences in these lines as runs with new ids; `gap` lines stand before, so many behind the last."""
        runs, at = [], 0
        for block in differences(self.base[lines.i1 : lines.i2], self.current[lines.j1 : lines.j2]):
            runs.append(Run(next(self._ids), gap + block.i1 - at, block.i2 - block.i1, block.j2 - block.j1))
            gap, at = 0, block.i2
        return runs, gap + lines.i2 - lines.i1 - at

    def _contents(self, runs: Sequence[Run], place: _Place) -> Iterator[tuple[Run, tuple[str, ...]]]:
        """The lines of these runs, of which the first is the one at `place`: how many are removed, those, the added."""
        i, j = place.i, place.j
        for run in runs:
            i, j = i + run.gap, j + run.gap
            removed, added = self.base[i : i + run.removed], self.current[j : j + run.added]
            yield run, (str(run.removed), *removed, *added)
            i, j = i + run.removed, j + run.added

    def _known(self, runs: Sequence[Run], place: _Place) -> dict[tuple[str, ...], deque[tuple[int, int]]]:
        """For the lines of each run: its number and its id, of all that have these lines."""
        known = defaultdict[tuple[str, ...], deque[tuple[int, int]]](deque)
        for number, (run, lines) in enumerate(self._contents(runs, place)):
            known[lines].append((number, run.id))
        return known

    def _named(
        self, runs: Sequence[Run], place: _Place, known: dict[tuple[str, ...], deque[tuple[int, int]]]
    ) -> list[Run]:
        """`runs`, with the ids of known ones of the same lines as long as these are in the same order."""
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

    def _carry(self, place: _Place, first: int, last: int, new: list[str]) -> tuple[bool, Splice]:
        """The user put `new` in the place of the current lines `[first:last]`; as `user`."""
        touched = self._touch(place, first, last)
        lines, runs = touched.lines, self.runs[touched.index : touched.end]
        draft = self._draft(place, touched, first, last, new)
        is_other = len(runs) > 1 and not {run.id for run in draft.runs} <= {run.id for run in runs}
        known = self._known(runs, place) if is_other else {}
        splice = _splice(lines.i1, self.base[lines.i1 : lines.i2], draft.base)
        self.base[lines.i1 : lines.i2] = draft.base
        self.current[first:last] = new
        made, rest = draft.runs, draft.gap
        if is_other:
            if self._have_common_lines(made, place):  # what one had more may be what another one had less
                now = Block(lines.i1, lines.i1 + len(draft.base), lines.j1, lines.j2 + len(new) - (last - first))
                made, rest = self._compared(now, touched.gap)
            made = self._named(made, place, known)
        return self._put(touched, made, rest), splice

    def _draft(self, place: _Place, touched: _Touched, first: int, last: int, new: list[str]) -> Draft:
        """The touched lines of the base after that."""
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
        """The removed lines of these runs, of which the first is the one at `place`."""
        removed, i = [], place.i
        for run in runs:
            removed += self.base[i + run.gap : i + run.gap + run.removed]
            i += run.gap + run.removed
        return removed

    def _have_common_lines(self, runs: Sequence[Run], place: _Place) -> bool:
        contents = self._contents(runs, place)
        return any(not set(lines[1 : run.removed + 1]).isdisjoint(lines[run.removed + 1 :]) for run, lines in contents)

    def _put(self, touched: _Touched, runs: list[Run], rest: int) -> bool:
        """These runs instead of the touched ones, with `rest` lines behind; whether the set is another one."""
        before = [run.id for run in self.runs[touched.index : touched.end]]
        if touched.end < len(self.runs):
            run = self.runs[touched.end]
            self.runs[touched.end] = msgspec.structs.replace(run, gap=run.gap - touched.beyond + rest)
        self.runs[touched.index : touched.end] = runs
        return before != [run.id for run in runs]
