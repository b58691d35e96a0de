"""A text under review: what is accepted of it, what there is, and the agent's hunks between the two."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from acp_nvim.review import form as forms
from acp_nvim.review.form import Form
from acp_nvim.review.moments import Found, Key, Moment, Moments, pairs_key
from acp_nvim.review.owned_lines import OwnedLines, Splice
from acp_nvim.workspace.line_differences import Block, trimmed


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
        self._moments = Moments()
        self._hunks: Sequence[Hunk] | None = None

    def __repr__(self) -> str:
        return f"<ReviewedText {len(self._lines.current)} lines, {len(self._lines.runs)} hunks>"

    @property
    def base(self) -> str:
        """What is accepted."""
        return self._base.text(self._lines.base)

    @property
    def current(self) -> str:
        """What there is."""
        return self._current.text(self._lines.current)

    @property
    def has_past(self) -> bool:
        """Whether undo may come back to a text with other hunks."""
        return bool(self._moments)

    @property
    def size(self) -> int:
        """Bytes that its texts take, about."""
        return len(self.base) + len(self.current) + self._moments.size

    @property
    def hunks(self) -> Sequence[Hunk]:
        """The agent's changes of lines, in order."""
        if self._hunks is None:
            self._hunks = [Hunk(run.id, block) for run, block in self._lines.blocks()]
        return self._hunks

    @property
    def added(self) -> int:
        """New lines in all hunks."""
        return sum(run.added for run in self._lines.runs)

    @property
    def removed(self) -> int:
        """Old lines in all hunks."""
        return sum(run.removed for run in self._lines.runs)

    @property
    def shape(self) -> str | None:
        """What differs beside lines, in words."""
        return forms.in_words(self._base, self._lines.base, self._current, self._lines.current)

    def old_lines(self, hunk: Hunk) -> list[str]:
        """What is accepted, without line ends."""
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
        self._moments.remember(Moment(key, self._base, runs, Splice(block.i1, old, len(lines)), ()))
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
        """The user put `lines` in the place of `count` rows; whether the set of hunks is another one.

        Lines are as the buffer has them, without ends: where it takes carriage returns for line ends, they stand for
        newlines.
        """
        now = self._lines.current
        first = min(first, len(now))
        last = min(first + count, len(now))
        if self._hides_returns and not self._current.ended and last == len(now):  # which line has no end may change
            rows = [line.removesuffix("\r") for line in now]
            return self.user(Form(self._current.bom, "\r\n", ended=False).text([*rows[:first], *lines, *rows[last:]]))
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
        self._moments.forget()
        self._hunks = None

    def rejected(self, ids: Collection[int] | None) -> str:
        """What there is without these hunks; None: without any, in the shape that is accepted. Changes nothing."""
        if ids is None:
            return self.base
        now, lines = self._current, self._lines.current
        end = now.end if now.has_ends(lines) else self._base.end
        is_bases = self._is_at_end(ids) or not lines
        form = Form(now.bom, end, self._base.ended if is_bases else now.ended)
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
        self._moments.remember(Moment(key, base_form, runs, whole, (Splice(0, old_base, len(base_lines)),)))
        self._hunks = None

    def _change_to(self, text: str) -> tuple[Form, Block, list[str]]:
        """The form of `text`; where its lines are others than the current ones, and these."""
        form, lines = forms.split(text, self._fit(text))
        block = trimmed(self._lines.current, lines)
        return forms.settled(form, lines, self._current), block, lines[block.j1 : block.j2]

    def _carry(self, first: int, count: int, lines: list[str], form: Form) -> bool:
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
        self._moments.remember(Moment(key, base, runs, Splice(first, old, len(lines)), splices))
        return changed

    def _earlier(self, first: int, count: int, lines: list[str], form: Form) -> Found | None:
        """What was accepted when there was last what there will be, if that is remembered; `_pairs` is that text's."""
        now = self._lines.current
        key = (self._pairs, len(now) - count + len(lines), form)
        if key not in self._moments:
            return None
        return self._moments.find(key, self._lines.base, now, [*now[:first], *lines, *now[first + count :]])

    def _key(self) -> Key:
        return self._pairs, len(self._lines.current), self._current

    def _more_pairs(self, first: int, count: int, lines: Sequence[str]) -> int:
        """What is added to the number of all pairs when these lines take the place of those."""
        now = self._lines.current
        before = now[first - 1] if first else None
        after = now[first + count] if first + count < len(now) else None
        return pairs_key([before, *lines, after]) - pairs_key([before, *now[first : first + count], after])
