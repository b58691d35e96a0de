"""Permission requests that wait, of all sessions."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from acp_nvim.events import Option, Why
from acp_nvim.permissions.by_session import BySession


class PendingPermission:
    """One request; `choose` or `cancel` answers it, the first of them counts."""

    def __init__(
        self,
        permission_id: int,
        session: int,
        tool_call_id: str,
        options: list[Option],
        on_answered: Callable[[PendingPermission], None] = lambda pending: None,
    ) -> None:
        self.id = permission_id
        self.session = session
        self.block = 0  # of the transcript, once it stands there
        self.tool_call_id = tool_call_id
        self.options = options
        self.chosen: Option | None = None
        self.why: Why | None = None  # it was cancelled
        self._on_answered = on_answered
        self._answered = anyio.Event()
        self._taken = False

    def __repr__(self) -> str:
        state = "waiting" if not self.answered else repr(self.chosen)
        return f"<PendingPermission {self.id} of session {self.session}: {state}>"

    @property
    def answered(self) -> bool:
        """Whether its answer is fixed."""
        return self._answered.is_set()

    def choose(self, option_id: str) -> bool:
        """Answer with that option; False when there is none of that id, or it is answered already."""
        option = next((option for option in self.options if option.option_id == option_id), None)
        if option is None or self.answered:
            return False
        self.chosen = option
        self._settle()
        return True

    def cancel(self, why: Why = "cancelled", overrule: bool = False) -> None:
        """Answer `cancelled`, unless it is; `overrule`: what was chosen a moment ago, too, if nobody took it."""
        if not self.answered or (overrule and not self._taken and self.chosen is not None):
            self.chosen, self.why = None, why
            self._settle()

    def _settle(self) -> None:
        self._on_answered(self)
        self._answered.set()

    async def wait(self) -> Option | None:
        """The chosen option; None when it was cancelled."""
        await self._answered.wait()
        self._taken = True
        return self.chosen


class PendingPermissions(BySession[PendingPermission]):
    """All that wait; ids are unique in this process."""

    def __init__(self) -> None:
        super().__init__()
        self._last_id = 0

    def new_id(self) -> int:
        """For a request: unique in this process."""
        self._last_id += 1
        return self._last_id

    def add(self, session: int, tool_call_id: str, options: list[Option]) -> PendingPermission:
        """A new one, under a new id."""
        return self._add(PendingPermission(self.new_id(), session, tool_call_id, options, self._answered))

    def choose(self, permission_id: int, option_id: str) -> bool:
        """Answer a request; False when it does not wait (any more) or has no such option."""
        pending = self._all.get(permission_id)
        return pending is not None and pending.choose(option_id)

    def cancel_session(self, session: int, overrule: bool = False) -> None:
        """Answer `cancelled` to all of one session."""
        for pending in self.all_of_session(session):
            pending.cancel(overrule=overrule)
