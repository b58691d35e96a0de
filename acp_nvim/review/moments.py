"""Earlier moments of two lists of lines, so that the user's undo and redo bring back what was accepted then."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from itertools import islice, pairwise
from operator import mul
from typing import TypeAlias

import msgspec

from acp_nvim.limits import REVIEW_MOMENT_BYTES, REVIEW_MOMENTS
from acp_nvim.review.form import Form
from acp_nvim.review.owned_lines import Splice
from acp_nvim.review.runs import Run

Key: TypeAlias = Hashable
"""Equal lists of lines in the same form have equal ones; others hardly ever."""


class Moment(msgspec.Struct, frozen=True):
    """What was there, and what was changed then: in the current lines, and, in this order, in those of the base."""

    key: Key
    base: Form
    runs: Sequence[Run]
    change: Splice
    base_changes: Sequence[Splice]


class Found(msgspec.Struct, frozen=True):
    """What was accepted at a moment."""

    base: Form
    base_lines: list[str]
    runs: Sequence[Run]


class Moments:
    """The last ones; they are bounded in number and in bytes."""

    def __init__(self, count: int = REVIEW_MOMENTS, max_bytes: int = REVIEW_MOMENT_BYTES) -> None:
        self._moments: deque[tuple[Moment, int]] = deque()
        self._numbers: dict[Key, int] = {}
        self._first = 0
        self._count = count
        self._max_bytes = max_bytes
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<Moments {len(self._moments)}, {self._bytes} bytes>"

    def __bool__(self) -> bool:
        return bool(self._moments)

    @property
    def size(self) -> int:
        """Bytes, about."""
        return self._bytes

    def remember(self, moment: Moment) -> None:
        """That was there until now."""
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
        """Nothing that was comes back."""
        self._moments.clear()
        self._numbers.clear()
        self._bytes = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._numbers

    def find(self, key: Key, base: Sequence[str], current: Sequence[str], wanted: Sequence[str]) -> Found | None:
        """The last moment with that key, if `wanted` were the current lines; `base` and `current` are there now."""
        then, then_base = list(current), list(base)
        for moment, _ in islice(reversed(self._moments), self._first + len(self._moments) - self._numbers[key]):
            moment.change.take_back(then)
            for splice in reversed(moment.base_changes):
                splice.take_back(then_base)
        return Found(moment.base, then_base, moment.runs) if then == wanted else None


def pairs_key(lines: Sequence[str | None]) -> int:
    """A number of lines that follow each other: the sum of those of all two that do, so that parts of it can change.

    Squares, as Python's numbers of pairs have almost the same sum when lines only change their order.
    """
    numbers = list(map(hash, pairwise(lines)))
    return sum(map(mul, numbers, numbers))


def _size(splice: Splice) -> int:
    return sum(map(len, splice.old)) + 60 * (len(splice.old) + 2)  # what Python needs for each
