"""Requests that wait for the user's answer. Each is answered once, and found by session without a search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import anyio

from acp_nvim.contract.events import Option, Why


class Pending:
    """A request of a session (its key); the first answer counts. `request_id` is unique in this process.

    `block` is the request's number in the transcript once it is shown; `why` is the reason why it was not answered.
    """

    def __init__(self, request_id: int, session: int) -> None:
        self.id = request_id
        self.session = session
        self.block = 0
        self.why: Why | None = None
        self._answered = anyio.Event()
        self._taken = False

    @property
    def answered(self) -> bool:
        """Whether the request has an answer; a cancel may overrule the answer until it is taken."""
        return self._answered.is_set()

    def _settle(self) -> bool:
        """Wake the waiting task: the answer is in the attributes."""
        self._answered.set()
        return True

    async def _wait(self) -> None:
        """Wait for the answer, and mark it as taken: from then on it cannot be overruled."""
        await self._answered.wait()
        self._taken = True


P = TypeVar("P", bound=Pending)


class BySession(Generic[P]):
    """The pending requests, in order. No method takes time that grows with the requests of other sessions."""

    def __init__(self) -> None:
        self._last_id = 0
        self._all: dict[int, P] = {}
        self._of_session: dict[int, dict[int, P]] = {}

    def __iter__(self) -> Iterator[P]:
        return iter(list(self._all.values()))

    def new_id(self) -> int:
        """Return an id that no other request of this host has."""
        self._last_id += 1
        return self._last_id

    def remove(self, pending: P) -> None:
        """Remove a request that no longer waits."""
        self._all.pop(pending.id, None)
        of_session = self._of_session.get(pending.session, {})
        of_session.pop(pending.id, None)
        if not of_session:
            self._of_session.pop(pending.session, None)

    def count(self, session: int) -> int:
        """Return the number of unanswered requests of one session."""
        return sum(not one.answered for one in self._of_session.get(session, {}).values())

    def of_session(self, session: int) -> list[P]:
        """Return the unanswered requests of one session, oldest first."""
        return [one for one in self.all_of_session(session) if not one.answered]

    def all_of_session(self, session: int) -> list[P]:
        """Return the requests of one session, including those whose answer is not taken yet."""
        return list(self._of_session.get(session, {}).values())

    def _add(self, pending: P) -> P:
        self._all[pending.id] = pending
        self._of_session.setdefault(pending.session, {})[pending.id] = pending
        return pending


class PendingPermission(Pending):
    """A permission request of a session (its key), answered by `choose` or `cancel`."""

    def __init__(self, request_id: int, session: int, tool_call_id: str, options: list[Option]) -> None:
        super().__init__(request_id, session)
        self.tool_call_id = tool_call_id
        self.options = options
        self.chosen: Option | None = None

    def __repr__(self) -> str:
        state = "waiting" if not self.answered else repr(self.chosen)
        return f"<PendingPermission {self.id} of session {self.session}: {state}>"

    def choose(self, option_id: str) -> bool:
        """Answer with that option; return False if it does not exist, or the request is answered already."""
        option = next((option for option in self.options if option.option_id == option_id), None)
        if option is None or self.answered:
            return False
        self.chosen = option
        return self._settle()

    def cancel(self, why: Why = "cancelled", overrule: bool = False) -> None:
        """Answer `cancelled`, unless the request is answered; `overrule` also replaces an option not yet taken."""
        if not self.answered or (overrule and not self._taken and self.chosen is not None):
            self.chosen, self.why = None, why
            self._settle()

    async def wait(self) -> Option | None:
        """Wait for the answer: the chosen option, or None if the request was cancelled."""
        await self._wait()
        return self.chosen


class PendingPermissions(BySession[PendingPermission]):
    """The pending permission requests of all sessions."""

    def add(self, session: int, tool_call_id: str, options: list[Option]) -> PendingPermission:
        """Add a request of the agent of that session (its key), under a new id."""
        return self._add(PendingPermission(self.new_id(), session, tool_call_id, options))

    def choose(self, permission_id: int, option_id: str) -> bool:
        """Answer a request; return False if it does not wait (any more), or has no such option."""
        pending = self._all.get(permission_id)
        return pending is not None and pending.choose(option_id)

    def cancel_session(self, session: int, overrule: bool = False) -> None:
        """Answer `cancelled` to all requests of one session; `overrule` as in `PendingPermission.cancel`."""
        for pending in self.all_of_session(session):
            pending.cancel(overrule=overrule)
