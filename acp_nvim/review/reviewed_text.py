"""One text under review: its lines, what is accepted of them, and the earlier moments that undo comes back to."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Sequence
from itertools import islice, pairwise
from operator import mul
from typing import Final, TypeAlias

import msgspec

from acp_nvim.review.owned_lines import OwnedLines, Run, Splice
from acp_nvim.workspace import text_form as forms
from acp_nvim.workspace.line_differences import Block, trimmed
from acp_nvim.workspace.text_form import TextForm

REVIEW_MOMENTS: Final = 1000
"""Earlier moments of a text under review that undo and redo come back to: as many as 'undolevels' is by default."""
REVIEW_MOMENT_BYTES: Final = 8 * 1024 * 1024
"""Memory for these, of one text: a thousand edits, or four times that the whole of a file of 1 MB was another one."""

Key: TypeAlias = Hashable
"""Equal lists of lines in the same form have equal ones; others hardly ever."""


class Moment(msgspec.Struct, frozen=True):
    """What was there, and what was changed then: in the current lines, and, in this order, in those of the base."""

    key: Key
    base: TextForm
    runs: Sequence[Run]
    change: Splice
    base_changes: Sequence[Splice]


class PastBase(msgspec.Struct, frozen=True):
    """What was accepted of a text at an earlier point, to which undo has come back."""

    base: TextForm
    base_lines: list[str]
    runs: Sequence[Run]


class TextHistory:
    """The earlier texts of a file under review, bounded in number and in bytes."""

    def __init__(self, count: int = REVIEW_MOMENTS, max_bytes: int = REVIEW_MOMENT_BYTES) -> None:
        self._moments: deque[tuple[Moment, int]] = deque()
        self._numbers: dict[Key, int] = {}
        self._first = 0
        self._count = count
        self._max_bytes = max_bytes
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<TextHistory {len(self._moments)}, {self._bytes} bytes>"

    def __bool__(self) -> bool:
        return bool(self._moments)

    @property
    def size(self) -> int:
        """How many bytes the earlier texts take, about."""
        return self._bytes

    def remember(self, moment: Moment) -> None:
        """Push what was accepted before the current edit; evict the oldest beyond the bounds in bytes and number."""
        size = sum(map(_size, (moment.change, *moment.base_changes))) + 16 * len(moment.runs)
        self._moments.append((moment, size))
        self._numbers[moment.key] = self._first + len(self._moments) - 1
        self._bytes += size
        while self._bytes > self._max_bytes or len(self._moments) > self._count:
            self._forget_first()

    def _forget_first(self) -> None:
        moment, size = self._moments.popleft()
        self._bytes -= size
        if self._numbers[moment.key] == self._first:
            del self._numbers[moment.key]
        self._first += 1

    def forget(self) -> None:
        """Drop all earlier texts: undo comes back to none of them."""
        self._moments.clear()
        self._numbers.clear()
        self._bytes = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._numbers

    def find(self, key: Key, base: Sequence[str], current: Sequence[str], wanted: Sequence[str]) -> PastBase | None:
        """The last moment with that key, if `wanted` were the current lines; `base` and `current` are there now."""
        then, then_base = list(current), list(base)
        for moment, _ in islice(reversed(self._moments), self._first + len(self._moments) - self._numbers[key]):
            moment.change.take_back(then)
            for splice in reversed(moment.base_changes):
                splice.take_back(then_base)
        return PastBase(moment.base, then_base, moment.runs) if then == wanted else None


def pairs_key(lines: Sequence[str | None]) -> int:
    """A number of lines that follow each other: the sum of those of all two that do, so that parts of it can change.

    Squares, as Python's numbers of pairs have almost the same sum when lines only change their order.
    """
    numbers = list(map(hash, pairwise(lines)))
    return sum(map(mul, numbers, numbers))


def _size(splice: Splice) -> int:
    return sum(map(len, splice.old)) + 60 * (len(splice.old) + 2)  # what Python needs for each


class Hunk(msgspec.Struct, frozen=True):
    """Lines `base[i1:i2]` that the agent has made `current[j1:j2]`, rows of the buffer counted from 0.

    `id` is the same as long as these lines are, and is no other hunk's ever after.
    """

    id: int
    block: Block


class ReviewedText:
    """The agent's changes are changes of `current` alone; the user's are carried into `base` as well.

    `fileformat` is the option of the buffer that has the text: None if there is none, or if nobody changed it.
    """

    def __init__(self, base: str, current: str, fileformat: str | None = None) -> None:
        self._fileformat = fileformat
        base_end, end = forms.ends((base, current), fileformat)
        self._hides_returns = forms.hides_returns(current, end, fileformat)
        base_form, base_lines = forms.split(base, base_end)
        form, lines = forms.split(current, end)
        self._base = forms.settled(base_form, base_lines, form)
        self._current = forms.settled(form, lines, self._base)
        self._lines = OwnedLines(base_lines, lines)
        self._pairs = pairs_key([None, *lines, None])
        self._history = TextHistory()
        self._hunks: Sequence[Hunk] | None = None

    def __repr__(self) -> str:
        return f"<ReviewedText {len(self._lines.current)} lines, {len(self._lines.runs)} hunks>"

    @property
    def base(self) -> str:
        """The text of which all is accepted, with its line ends."""
        return self._base.text(self._lines.base)

    @property
    def current(self) -> str:
        """The text as it is now, with its line ends."""
        return self._current.text(self._lines.current)

    @property
    def has_past(self) -> bool:
        """Whether undo may come back to a text with other hunks."""
        return bool(self._history)

    @property
    def size(self) -> int:
        """How many bytes its texts take in memory, roughly."""
        return len(self.base) + len(self.current) + self._history.size

    @property
    def hunks(self) -> Sequence[Hunk]:
        """The agent's changes of lines, in order."""
        if self._hunks is None:
            self._hunks = [Hunk(run.id, block) for run, block in self._lines.blocks()]
        return self._hunks

    @property
    def added(self) -> int:
        """How many lines all hunks add together."""
        return sum(run.added for run in self._lines.runs)

    @property
    def removed(self) -> int:
        """How many lines all hunks remove together."""
        return sum(run.removed for run in self._lines.runs)

    @property
    def shape(self) -> str | None:
        """What differs between the texts beside their lines (line ends, byte order mark), in words; None: nothing."""
        return forms.in_words(self._base, self._lines.base, self._current, self._lines.current)

    def old_lines(self, hunk: Hunk) -> list[str]:
        """Return the lines that a hunk replaces, as they were accepted, without line ends."""
        return self._lines.base[hunk.block.i1 : hunk.block.i2]

    def new_lines(self, hunk: Hunk) -> list[str]:
        """What the agent made of it, without line ends."""
        return self._lines.current[hunk.block.j1 : hunk.block.j2]

    def held_as(self, fileformat: str | None) -> bool:
        """A buffer with that 'fileformat' has the text now; whether the set of hunks is another one."""
        if fileformat == self._fileformat:
            return False
        before = self._seen()
        self._fileformat = fileformat
        self._fit()
        return before != self._seen()

    def agent(self, text: str) -> bool:
        """The agent made `text` of what there is; whether the set of hunks, or the shape, is another one."""
        before = self._seen()
        form, block, lines = self._change_to(text)
        key, runs, old = self._key(), list(self._lines.runs), self._lines.current[block.i1 : block.i2]
        self._pairs += self._more_pairs(block.i1, len(old), lines)
        self._history.remember(Moment(key, self._base, runs, Splice(block.i1, old, len(lines)), ()))
        self._lines.agent(block.i1, len(old), lines)
        self._base, self._current = forms.settled(self._base, self._lines.base, form), form
        self._hunks = None
        self._fit()
        return before != self._seen()

    def user(self, text: str) -> bool:
        """The user made `text` of what there is; whether the set of hunks, or the shape, is another one."""
        before = self._seen()
        form, block, lines = self._change_to(text)
        self._carry(block.i1, block.i2 - block.i1, lines, form)
        self._fit()
        return before != self._seen()

    def user_lines(self, first: int, count: int, lines: Sequence[str]) -> bool:
        """The user put `lines` in the place of `count` rows from `first` on; whether the set of hunks is another one.

        Lines are as the buffer has them, without ends: where it takes carriage returns for line ends, they stand for
        newlines. Rows are counted from 0.
        """
        now = self._lines.current
        first = min(first, len(now))
        last = min(first + count, len(now))
        if self._hides_returns and not self._current.ended and last == len(now):  # which line has no end may change
            rows = [line.removesuffix("\r") for line in now]
            return self.user(
                TextForm(self._current.bom, "\r\n", ended=False).text([*rows[:first], *lines, *rows[last:]])
            )
        new = self._as_ours(lines)
        if any("\n" in line for line in new):
            return self.user(self._current.text([*now[:first], *new, *now[last:]]))
        return self._carry(first, last - first, new, self._current)

    def keep(self, ids: Collection[int] | None) -> None:
        """These hunks are accepted; None: everything, the shape too. What was before does not come back."""
        if ids is None:
            self._lines.put_back(list(self._lines.current), self._lines.current, ())
            self._base = self._current
        else:
            if self._is_at_end(ids):
                self._base = msgspec.structs.replace(self._base, ended=self._current.ended)
            self._lines.keep(ids)
        self._history.forget()
        self._hunks = None

    def rejected(self, ids: Collection[int] | None) -> str:
        """What there is without these hunks; None: without any, in the shape that is accepted. Changes nothing."""
        if ids is None:
            return self.base
        now, lines = self._current, self._lines.current
        end = now.end if now.has_ends(lines) else self._base.end
        is_bases = self._is_at_end(ids) or not lines
        form = TextForm(now.bom, end, self._base.ended if is_bases else now.ended)
        return form.text(self._lines.without(ids))

    def _is_at_end(self, ids: Collection[int]) -> bool:
        """Whether the last lines of both texts are in one of these hunks: with them goes how they end."""
        if not self._lines.runs or self._lines.runs[-1].id not in ids:
            return False
        block = self.hunks[-1].block
        return block.i2 == len(self._lines.base) and block.j2 == len(self._lines.current)

    def _seen(self) -> tuple[list[int], str | None]:
        return [run.id for run in self._lines.runs], self.shape

    def _as_ours(self, lines: Sequence[str]) -> list[str]:
        if self._current.end == "\r":
            return [line.replace("\r", "\n") for line in lines]
        return [line + "\r" for line in lines] if self._hides_returns else list(lines)

    def _fit(self, *more: str) -> str:
        """Take both texts apart so that lines compare, those of `more` too; what the last one is to be split at."""
        base, current = self.base, self.current
        base_end, current_end, *others = forms.ends((base, current, *more), self._fileformat)
        if (base_end, current_end) != (self._base.end, self._current.end):
            self._take_apart(base, base_end, current, current_end)
        end = others[-1] if others else current_end
        self._hides_returns = forms.hides_returns(more[-1] if more else current, end, self._fileformat)
        return end

    def _take_apart(self, base: str, base_end: str, current: str, end: str) -> None:
        key, base_form, runs = self._key(), self._base, self._lines.runs
        old_base, old = self._lines.base, self._lines.current
        found, base_lines = forms.split(base, base_end)
        self._base = forms.settled(found, base_lines, msgspec.structs.replace(self._base, end=base_end))
        found, lines = forms.split(current, end)
        self._current = forms.settled(found, lines, msgspec.structs.replace(self._current, end=end))
        self._lines.compare_again(base_lines, lines)
        self._pairs = pairs_key([None, *lines, None])
        whole = Splice(0, old, len(lines))
        self._history.remember(Moment(key, base_form, runs, whole, (Splice(0, old_base, len(base_lines)),)))
        self._hunks = None

    def _change_to(self, text: str) -> tuple[TextForm, Block, list[str]]:
        """The form of `text`; where its lines are others than the current ones, and these."""
        form, lines = forms.split(text, self._fit(text))
        block = trimmed(self._lines.current, lines)
        return forms.settled(form, lines, self._current), block, lines[block.j1 : block.j2]

    def _carry(self, first: int, count: int, lines: list[str], form: TextForm) -> bool:
        """The user put these lines there, in that form; whether the set of hunks is another one."""
        old = self._lines.current[first : first + count]
        if (old, self._current) == (lines, form):
            return False
        key, base, runs = self._key(), self._base, list(self._lines.runs)
        self._pairs += self._more_pairs(first, count, lines)
        self._hunks = None
        found = self._earlier(first, count, lines, form)
        if found is not None:
            block = trimmed(self._lines.base, found.base_lines)
            splices = [Splice(block.i1, self._lines.base[block.i1 : block.i2], block.j2 - block.j1)]
            now = self._lines.current
            current = [*now[:first], *lines, *now[first + count :]]
            changed = self._lines.put_back(found.base_lines, current, found.runs)
            self._base = found.base
        else:
            changed, splices = self._lines.user(first, count, lines)
            self._base = forms.carried(self._base, self._current, form).fitting(self._lines.base)
        self._current = form
        self._history.remember(Moment(key, base, runs, Splice(first, old, len(lines)), splices))
        return changed

    def _earlier(self, first: int, count: int, lines: list[str], form: TextForm) -> PastBase | None:
        """What was accepted when there was last what there will be, if that is remembered; `_pairs` is that text's."""
        now = self._lines.current
        key = (self._pairs, len(now) - count + len(lines), form)
        if key not in self._history:
            return None
        return self._history.find(key, self._lines.base, now, [*now[:first], *lines, *now[first + count :]])

    def _key(self) -> Key:
        return self._pairs, len(self._lines.current), self._current

    def _more_pairs(self, first: int, count: int, lines: Sequence[str]) -> int:
        """What is added to the number of all pairs when these lines take the place of those."""
        now = self._lines.current
        before = now[first - 1] if first else None
        after = now[first + count] if first + count < len(now) else None
        return pairs_key([before, *lines, after]) - pairs_key([before, *now[first : first + count], after])
