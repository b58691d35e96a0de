"""What waits for the user, by session and in order: nothing here takes time with what other sessions wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar


class Pending(Protocol):
    """Something that one session waits for. Its id is unique in this process."""

    id: int
    session: int


P = TypeVar("P", bound=Pending)


class BySession(Generic[P]):
    """All that wait, and which of them nobody has answered."""

    def __init__(self) -> None:
        self._all: dict[int, P] = {}
        self._of_session: dict[int, dict[int, P]] = {}
        self._unanswered: dict[int, dict[int, P]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {list(self._all.values())}>"

    def __iter__(self) -> Iterator[P]:
        return iter(list(self._all.values()))

    def remove(self, pending: P) -> None:
        """Remove a request that no longer waits."""
        self._all.pop(pending.id, None)
        _drop(self._of_session, pending)
        _drop(self._unanswered, pending)

    def count(self, session: int) -> int:
        """How many of one session nobody has answered."""
        return len(self._unanswered.get(session, ()))

    def of_session(self, session: int) -> list[P]:
        """Those of one session that nobody has answered, oldest first."""
        return list(self._unanswered.get(session, {}).values())

    def all_of_session(self, session: int) -> list[P]:
        """The same, with those that are answered while nobody has taken the answer."""
        return list(self._of_session.get(session, {}).values())

    def _add(self, pending: P) -> P:
        self._all[pending.id] = pending
        self._of_session.setdefault(pending.session, {})[pending.id] = pending
        self._unanswered.setdefault(pending.session, {})[pending.id] = pending
        return pending

    def _answered(self, pending: P) -> None:
        _drop(self._unanswered, pending)


def _drop(index: dict[int, dict[int, P]], pending: P) -> None:
    """Sessions for which nothing waits do not stay in the index."""
    of_session = index.get(pending.session, {})
    of_session.pop(pending.id, None)
    if not of_session:
        index.pop(pending.session, None)
