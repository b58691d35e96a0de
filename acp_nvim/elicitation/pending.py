"""Questions of agents that wait for the user, of all sessions; and URLs that were opened, until the agent is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.elicitation.answers import Value
from acp_nvim.permissions.pending import BySession, Pending
from acp_nvim.ui.events import Why
from acp_nvim.ui.request_events import AnswerAction, AnswerView, ElicitationView

OPEN_URLS: Final = 100
"""Opened URLs of one agent whose completion is waited for; nobody has more open at once."""


class PendingElicitation(Pending):
    """One question to a session (its key); `accept`, `refuse` or `cancel` answers it, the first of them counts."""

    def __init__(self, request_id: int, session: int, asked: ElicitationAsked) -> None:
        super().__init__(request_id, session)
        self.asked = asked
        self.view: ElicitationView | None = None  # once it is shown
        self.action: AnswerAction | None = None
        self.content: dict[str, Value] | None = None
        self.answers: list[AnswerView] = []  # for people

    def __repr__(self) -> str:
        return f"<PendingElicitation {self.id} of session {self.session}: {self.action or 'waiting'}>"

    def accept(self, content: dict[str, Value] | None, answers: list[AnswerView]) -> bool:
        """The user has filled it in, or agrees to open the URL; False when it is answered already."""
        if self.answered:
            return False
        self.content, self.answers, self.action = content, answers, "accept"
        return self._settle()

    def refuse(self, action: AnswerAction) -> bool:
        """The user declines, or cancels; False when it is answered already."""
        if self.answered:
            return False
        self.action = action
        return self._settle()

    def cancel(self, why: Why = "cancelled", overrule: bool = False) -> None:
        """Nobody will answer it; `overrule`: what was said a moment ago does not count, if nobody took it."""
        if not self.answered or (overrule and not self._taken):
            self.content, self.answers, self.action, self.why = None, [], "cancel", why
            self._settle()

    async def wait(self) -> None:
        """Wait until the user has answered, and mark the answer as taken."""
        await self._wait()


class PendingElicitations(BySession[PendingElicitation]):
    """The questions that wait, of all sessions."""

    def add(self, session: int, asked: ElicitationAsked) -> PendingElicitation:
        """Add a question of the agent of that session (its key), under a new id."""
        return self._add(PendingElicitation(self.new_id(), session, asked))

    def get(self, elicitation_id: int) -> PendingElicitation | None:
        """The one of that id, while nobody has answered it."""
        pending = self._all.get(elicitation_id)
        return pending if pending is not None and not pending.answered else None


class OpenUrls:
    """The opened URLs of one agent, by its own ids (ACP "Elicitation", URL completion)."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def __repr__(self) -> str:
        return f"<OpenUrls {list(self._waiting)}>"

    def wait(self, elicitation_id: str, on_complete: Callable[[], None]) -> None:
        """`on_complete` is called once, if ever; the oldest are forgotten: an agent need not say that it is done."""
        self._waiting.pop(elicitation_id, None)
        if len(self._waiting) >= OPEN_URLS:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[elicitation_id] = on_complete

    def complete(self, elicitation_id: str) -> bool:
        """`elicitation/complete`; False for ids that nobody knows (any more)."""
        on_complete = self._waiting.pop(elicitation_id, None)
        if on_complete is not None:
            on_complete()
        return on_complete is not None

    def forget(self, elicitation_id: str) -> None:
        """Wait no more for that URL: it was not opened."""
        self._waiting.pop(elicitation_id, None)
