"""One text under review: its lines, which of them are accepted, and the earlier states that undo returns to."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Sequence
from itertools import islice, pairwise
from operator import mul
from typing import Final, TypeAlias

import msgspec

from acp_nvim.contract.editor import LineChange, TextChange
from acp_nvim.hunks.owned_lines import OwnedLines, Run, Splice
from acp_nvim.workspace import text_shape as forms
from acp_nvim.workspace.line_differences import Block, difference, trimmed
from acp_nvim.workspace.text_shape import TextForm

MAX_PAST_STATES: Final = 1000
"""Earlier states of a text that are kept for undo and redo: as many as 'undolevels' is by default."""
MAX_UNLOADED_STATES: Final = 20
"""The same of a text that no buffer has had: there is no undo, but a program may write an earlier text again."""
MAX_PAST_BYTES: Final = 8 * 1024 * 1024
"""Memory for the states of one text: a thousand edits, or four replacements of a whole file of 1 MB."""

Key: TypeAlias = Hashable
"""Equal lists of lines with the same form have equal keys; others hardly ever."""


class PastState(msgspec.Struct, frozen=True):
    """A state before an edit, with the changes that the edit made to the current lines and, in order, to the base."""

    key: Key
    base: TextForm
    runs: Sequence[Run]
    change: Splice
    base_changes: Sequence[Splice]


class TextHistory:
    """The earlier states of a text, bounded in number and in bytes."""

    def __init__(self, count: int = MAX_PAST_STATES, max_bytes: int = MAX_PAST_BYTES) -> None:
        self._states: deque[tuple[PastState, int]] = deque()
        self._numbers: dict[Key, int] = {}
        self._first = 0
        self._count = count
        self._max_bytes = max_bytes
        self.has_buffer = False
        """Whether a buffer has had the text; otherwise `MAX_UNLOADED_STATES` are kept."""
        self.size = 0
        """The approximate size in bytes of all earlier states."""

    def __repr__(self) -> str:
        return f"<TextHistory {len(self._states)}, {self.size} bytes>"

    def remember(self, state: PastState) -> None:
        """Push the state before the current edit; evict the oldest beyond the bounds in bytes and number."""
        size = sum(map(_size, (state.change, *state.base_changes))) + 16 * len(state.runs)
        self._states.append((state, size))
        self._numbers[state.key] = self._first + len(self._states) - 1
        self.size += size
        count = self._count if self.has_buffer else min(self._count, MAX_UNLOADED_STATES)
        while self.size > self._max_bytes or len(self._states) > count:
            oldest, size = self._states.popleft()
            self.size -= size
            if self._numbers[oldest.key] == self._first:
                del self._numbers[oldest.key]
            self._first += 1

    def forget(self) -> None:
        """Drop all earlier states, so that undo returns to none of them."""
        self._states.clear()
        self._numbers.clear()
        self.size = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._numbers

    def find(
        self, key: Key, base: Sequence[str], current: Sequence[str], wanted: Sequence[str]
    ) -> tuple[PastState, list[str]] | None:
        """Return the newest state with that key and its base lines, if its current lines were `wanted`.

        `base` and `current` are the present lines.
        """
        then, then_base = list(current), list(base)
        for state, _ in islice(reversed(self._states), self._first + len(self._states) - self._numbers[key]):
            state.change.undo(then)
            for splice in reversed(state.base_changes):
                splice.undo(then_base)
        return (state, then_base) if then == wanted else None


def pairs_key(lines: Sequence[str | None]) -> int:
    """Return a hash of lines that can be updated for a part: the sum over all pairs of adjacent lines.

    Hashes are squared: Python's hashes of pairs have almost the same sum when lines only change their order.
    """
    numbers = list(map(hash, pairwise(lines)))
    return sum(map(mul, numbers, numbers))


def _size(splice: Splice) -> int:
    return sum(map(len, splice.old)) + 60 * (len(splice.old) + 2)  # Python's overhead


class Hunk(msgspec.Struct, frozen=True):
    """Lines `base[i1:i2]` that an agent made `current[j1:j2]`, in rows from 0; `id` is kept with the lines, never
    reused.
    """

    id: int
    block: Block


class ReviewedText:
    """A text under review. An agent's changes go into `current` only; the user's go into `base` as well.

    `fileformat` is the option of the buffer with the text; None if there is no buffer, or the user has not set it.
    """

    def __init__(self, base: str, current: str, fileformat: str | None = None) -> None:
        self._fileformat = fileformat
        base_end, end = forms.ends((base, current), fileformat)
        self._hides_returns = forms.hides_returns(current, end, fileformat)
        base_form, base_lines = forms.split(base, base_end)
        form, lines = forms.split(current, end)
        self._base = forms.settled(base_form, base_lines, form)
        self._current = forms.settled(form, lines, self._base)
        self._base_text: str | None = base  # None: to be joined from the lines again
        self._current_text: str | None = current
        self._lines = OwnedLines(base_lines, lines)
        self._pairs = pairs_key([None, *lines, None])
        self._history = TextHistory()
        self._hunks: Sequence[Hunk] | None = None

    def __repr__(self) -> str:
        return f"<ReviewedText {len(self._lines.current)} lines, {len(self._lines.runs)} hunks>"

    @property
    def base(self) -> str:
        """The accepted text, with its line ends."""
        if self._base_text is None:
            self._base_text = self._base.text(self._lines.base)
        return self._base_text

    @property
    def current(self) -> str:
        """The present text, with its line ends."""
        if self._current_text is None:
            self._current_text = self._current.text(self._lines.current)
        return self._current_text

    @property
    def has_past(self) -> bool:
        """True if undo may return to a text with other hunks."""
        return self._history.size > 0

    @property
    def size(self) -> int:
        """The approximate size in bytes of its texts in memory."""
        return len(self.base) + len(self.current) + self._history.size

    @property
    def hunks(self) -> Sequence[Hunk]:
        """The lines that agents have changed, in order."""
        if self._hunks is None:
            self._hunks = [Hunk(run.id, block) for run, block in self._lines.blocks()]
        return self._hunks

    @property
    def added(self) -> int:
        """The number of lines that all hunks add."""
        return sum(run.added for run in self._lines.runs)

    @property
    def removed(self) -> int:
        """The number of lines that all hunks remove."""
        return sum(run.removed for run in self._lines.runs)

    @property
    def shape(self) -> str | None:
        """How the texts differ beside their lines (line ends, byte order mark), in words; None if they do not."""
        return forms.in_words(self._base, self._lines.base, self._current, self._lines.current)

    def old_lines(self, hunk: Hunk) -> list[str]:
        """Return the accepted lines that a hunk replaces, without line ends."""
        return self._lines.base[hunk.block.i1 : hunk.block.i2]

    def new_lines(self, hunk: Hunk) -> list[str]:
        """Return the agent's lines of a hunk, without line ends."""
        return self._lines.current[hunk.block.j1 : hunk.block.j2]

    def note_buffer(self) -> None:
        """Note that a buffer has the text, whose undo may return to any of its states from now on."""
        self._history.has_buffer = True

    def set_fileformat(self, fileformat: str | None) -> bool:
        """Note that a buffer with that 'fileformat' has the text; return whether the set of hunks has changed."""
        self.note_buffer()
        if fileformat == self._fileformat:
            return False
        before = self._summary()
        self._fileformat = fileformat
        self._fit()
        return before != self._summary()

    def apply_agent(self, text: str, change: TextChange | None = None) -> bool:
        """Apply an agent's change to `text`; return whether the set of hunks, or the shape, has changed.

        `change` is what `difference` returns for the current text and `text`, if it is known.
        """
        before = self._summary()
        known = change if isinstance(change, LineChange) and self._has_newlines(text) else None
        form, block, lines = self._change_to(text) if known is None else self._of_lines(known)
        key, runs, old = self._key(), list(self._lines.runs), self._lines.current[block.i1 : block.i2]
        self._pairs += self._pairs_delta(block.i1, len(old), lines)
        self._history.remember(PastState(key, self._base, runs, Splice(block.i1, old, len(lines)), ()))
        self._lines.apply_agent(block.i1, len(old), lines)
        self._base, self._current = forms.settled(self._base, self._lines.base, form), form
        self._current_text = text
        self._hunks = None
        if known is None:
            self._fit()
        return before != self._summary()

    def apply_user(self, text: str) -> bool:
        """Apply a user's change to `text`; return whether the set of hunks, or the shape, has changed."""
        before = self._summary()
        form, block, lines = self._change_to(text)
        self._apply_user(block.i1, block.i2 - block.i1, lines, form)
        self._current_text = text
        self._fit()
        return before != self._summary()

    def apply_user_lines(self, first: int, count: int, lines: Sequence[str]) -> bool:
        """Replace `count` rows from row `first`, as the user's change; return whether the set of hunks has changed.

        Lines are without ends, as in the buffer: where it takes carriage returns for line ends, they stand for
        newlines. Rows are counted from 0.
        """
        self.note_buffer()
        now = self._lines.current
        first = min(first, len(now))
        last = min(first + count, len(now))
        if self._hides_returns and not self._current.ended and last == len(now):  # another line may lose its end
            rows = [line.removesuffix("\r") for line in now]
            return self.apply_user(
                TextForm(self._current.bom, "\r\n", ended=False).text([*rows[:first], *lines, *rows[last:]])
            )
        new = self._to_lines(lines)
        if any("\n" in line for line in new):
            return self.apply_user(self._current.text([*now[:first], *new, *now[last:]]))
        return self._apply_user(first, last - first, new, self._current)

    def keep(self, ids: Collection[int] | None) -> None:
        """Accept these hunks; None: everything, with the shape. Earlier states are dropped."""
        if ids is None:
            self._lines.restore(list(self._lines.current), self._lines.current, ())
            self._base, self._base_text = self._current, self._current_text
        else:
            self._base_text = None
            if self._is_at_end(ids):
                self._base = msgspec.structs.replace(self._base, ended=self._current.ended)
            self._lines.keep(ids)
        self._history.forget()
        self._hunks = None

    def rejected(self, ids: Collection[int] | None) -> str:
        """Return the text without these hunks; None: without any, in the accepted shape. Changes nothing."""
        if ids is None:
            return self.base
        now, lines = self._current, self._lines.current
        end = now.end if now.has_ends(lines) else self._base.end
        is_bases = self._is_at_end(ids) or not lines
        form = TextForm(now.bom, end, self._base.ended if is_bases else now.ended)
        return form.text(self._lines.without(ids))

    def _is_at_end(self, ids: Collection[int]) -> bool:
        """Return whether one of these hunks has the last lines of both texts, so that it decides how they end."""
        if not self._lines.runs or self._lines.runs[-1].id not in ids:
            return False
        block = self.hunks[-1].block
        return block.i2 == len(self._lines.base) and block.j2 == len(self._lines.current)

    def _summary(self) -> tuple[list[int], str | None]:
        return [run.id for run in self._lines.runs], self.shape

    def _to_lines(self, lines: Sequence[str]) -> list[str]:
        if self._current.end == "\r":
            return [line.replace("\r", "\n") for line in lines]
        return [line + "\r" for line in lines] if self._hides_returns else list(lines)

    def _fit(self, *more: str) -> str:
        """Split both texts, and `more`, at line ends that make lines comparable; return the end for the last one."""
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
        self._history.remember(PastState(key, base_form, runs, whole, (Splice(0, old_base, len(base_lines)),)))
        self._hunks = None

    def _change_to(self, text: str) -> tuple[TextForm, Block, list[str]]:
        """Return the form of `text`, the block of lines that differ from the current ones, and the new lines."""
        end = self._fit(text)
        change = difference(self.current, text) if end == "\n" and self._is_plain() else None
        if isinstance(change, LineChange):  # most changes: only the lines that differ are split
            return self._of_lines(change)
        form, lines = forms.split(text, end)
        block = trimmed(self._lines.current, lines)
        return forms.settled(form, lines, self._current), block, lines[block.j1 : block.j2]

    def _of_lines(self, change: LineChange) -> tuple[TextForm, Block, list[str]]:
        first, lines = change.first, list(change.lines)
        return self._current, Block(first, first + change.count, first, first + len(lines)), lines

    def _is_plain(self) -> bool:
        """Whether the current lines are those between newlines."""
        return self._current.end == "\n" and self._current.ended == self.current.endswith("\n")

    def _has_newlines(self, text: str) -> bool:
        """Whether `text`, which a change of lines makes, has newlines as the current text, so that both need no fit."""
        return self._is_plain() and "\n" in text and "\n" in self.current

    def _apply_user(self, first: int, count: int, lines: list[str], form: TextForm) -> bool:
        """Apply the user's lines, with that form of the text; return whether the set of hunks has changed."""
        old = self._lines.current[first : first + count]
        if (old, self._current) == (lines, form):
            return False
        key, base, runs = self._key(), self._base, list(self._lines.runs)
        self._pairs += self._pairs_delta(first, count, lines)
        self._hunks = self._base_text = self._current_text = None
        found = self._find_earlier(first, count, lines, form)
        if found is not None:
            state, base_lines = found
            splices = [Splice.between(self._lines.base, base_lines)]
            now = self._lines.current
            current = [*now[:first], *lines, *now[first + count :]]
            changed = self._lines.restore(base_lines, current, state.runs)
            self._base = state.base
        else:
            changed, splices = self._lines.apply_user(first, count, lines)
            self._base = forms.carried(self._base, self._current, form).fitting(self._lines.base)
        self._current = form
        self._history.remember(PastState(key, base, runs, Splice(first, old, len(lines)), splices))
        return changed

    def _find_earlier(
        self, first: int, count: int, lines: list[str], form: TextForm
    ) -> tuple[PastState, list[str]] | None:
        """Return the last state with the text that the edit makes, to which `_pairs` belongs, and its base lines."""
        now = self._lines.current
        key = (self._pairs, len(now) - count + len(lines), form)
        if key not in self._history:
            return None
        return self._history.find(key, self._lines.base, now, [*now[:first], *lines, *now[first + count :]])

    def _key(self) -> Key:
        return self._pairs, len(self._lines.current), self._current

    def _pairs_delta(self, first: int, count: int, lines: Sequence[str]) -> int:
        """Return the change of the pairs key when `lines` replace `count` lines."""
        now = self._lines.current
        before = now[first - 1] if first else None
        after = now[first + count] if first + count < len(now) else None
        return pairs_key([before, *lines, after]) - pairs_key([before, *now[first : first + count], after])
