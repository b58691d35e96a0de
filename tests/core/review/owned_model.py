"""The rule of whose lines are whose, as plain as can be: what texts under review are compared with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

Item = str | tuple[list[str], list[str]]
"""A line of both texts, or the removed and the added lines between two of these."""


class OwnedModel:
    """No line is there twice, but for one that the user types and the agent has removed just there."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.items: list[Item] = list(lines)
        self.earlier: dict[tuple[str, ...], list[Item]] = {}

    @property
    def base(self) -> list[str]:
        """What is accepted: lines of both, and removed ones."""
        return [line for item in self.items for line in ([item] if isinstance(item, str) else item[0])]

    @property
    def current(self) -> list[str]:
        """What there is: lines of both, and added ones."""
        return [line for item in self.items for line in ([item] if isinstance(item, str) else item[1])]

    @property
    def hunks(self) -> list[tuple[list[str], list[str]]]:
        """The removed and the added lines of each."""
        return [item for item in self.items if not isinstance(item, str)]

    def agent(self, first: int, count: int, lines: Sequence[str]) -> None:
        """What was of both is removed, what was added is gone, the new ones are added."""
        self.earlier[tuple(self.current)] = self.items
        before, touched, behind = self._parts(first, first + count)
        removed, left, right = [], [], []
        for at, item in touched:
            if isinstance(item, str):
                removed.append(item)
            else:
                removed += item[0]
                left += [line for number, line in enumerate(item[1], at) if number < first]
                right += [line for number, line in enumerate(item[1], at) if number >= first + count]
        self._join(before, [(removed, [*left, *lines, *right])], behind)

    def user(self, first: int, count: int, lines: Sequence[str]) -> None:
        """What was there is gone, the new ones are of both; one at most is a removed one that is there again.

        What was there before as a whole is what it was then.
        """
        before = self.items
        now = tuple(self.current)
        self._user(first, first + count, lines)
        if tuple(self.current) == now:
            self.items = before
            return
        self.items = self.earlier.get(tuple(self.current), self.items)
        self.earlier[now] = before

    def _user(self, first: int, last: int, lines: Sequence[str]) -> None:
        before, touched, behind = self._parts(first, last)
        runs = [(at, item) for at, item in touched if not isinstance(item, str)]
        removed = [line for _, item in runs for line in item[0]]
        left = [line for at, item in runs for number, line in enumerate(item[1], at) if number < first]
        right = [line for at, item in runs for number, line in enumerate(item[1], at) if number >= last]
        if not lines:
            self._join(before, [(removed, left + right)], behind)
            return
        again = [line for line in lines if line in removed]
        at = removed.index(again[0]) if again else self._place(runs, len(removed), first, last)
        self._join(before, [(removed[:at], left), *lines, (removed[at + len(again) :], right)], behind)

    def _place(self, runs: list[tuple[int, Item]], count: int, first: int, last: int) -> int:
        """How many of the `count` removed lines the new ones stand behind."""
        if not runs:
            return 0
        at, (removed, added) = runs[-1]
        others = count - len(removed)
        if last == at and (added or first < last):
            return others
        return count if last >= at + len(added) else others + min(last - at, len(removed))

    def keep(self, numbers: Collection[int]) -> None:
        """Keep the hunks with these numbers: their added lines are accepted."""
        self._decide(numbers, 1)
        self.earlier.clear()

    def reject(self, numbers: Collection[int]) -> None:
        """Reject the hunks with these numbers: their removed lines are back."""
        self.earlier[tuple(self.current)] = self.items
        self._decide(numbers, 0)

    def _decide(self, numbers: Collection[int], side: int) -> None:
        items: list[Item] = []
        number = -1
        for item in self.items:
            number += not isinstance(item, str)
            items += item[side] if not isinstance(item, str) and number in numbers else [item]
        self.items = items

    def _parts(self, first: int, last: int) -> tuple[list[Item], list[tuple[int, Item]], list[Item]]:
        """Return the items before the replaced lines, those with these lines or beside them, and those behind."""
        before, touched, behind, at = [], [], [], 0
        for item in self.items:
            is_line = isinstance(item, str)
            end = at + (1 if is_line else len(item[1]))
            if end < first + is_line:
                before.append(item)
            elif at > last - is_line:
                behind.append(item)
            else:
                touched.append((at, item))
            at = end
        return before, touched, behind

    def _join(self, before: Iterable[Item], middle: Iterable[Item], behind: Iterable[Item]) -> None:
        self.items = [item for item in (*before, *middle, *behind) if item not in ("", ([], []))]
