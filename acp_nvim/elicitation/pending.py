"""Questions of agents that wait for the user, of all sessions; and opened URLs whose completion is awaited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.contract.events import Why
from acp_nvim.contract.request_events import AnswerAction, AnswerView, ElicitationView
from acp_nvim.elicitation.answers import Value
from acp_nvim.permissions.pending import BySession, Pending

OPEN_URLS: Final = 100
"""Opened URLs of one agent whose completion is awaited; no user has more open at once."""


class PendingElicitation(Pending):
    """A question to a session (its key), answered by `accept`, `refuse` or `cancel`; the first answer counts."""

    def __init__(self, request_id: int, session: int, asked: ElicitationAsked) -> None:
        super().__init__(request_id, session)
        self.asked = asked
        self.view: ElicitationView | None = None  # set when the question is shown
        self.action: AnswerAction | None = None
        self.content: dict[str, Value] | None = None
        self.answers: list[AnswerView] = []  # for the chat

    def accept(self, content: dict[str, Value] | None, answers: list[AnswerView]) -> bool:
        """Answer `accept` with the content of the form (None for a URL); return False if answered already."""
        if self.answered:
            return False
        self.content, self.answers, self.action = content, answers, "accept"
        return self._settle()

    def refuse(self, action: AnswerAction) -> bool:
        """Answer `decline` or `cancel` for the user; return False if the question is answered already."""
        if self.answered:
            return False
        self.action = action
        return self._settle()

    def cancel(self, why: Why = "cancelled", overrule: bool = False) -> None:
        """Answer `cancel`, unless the question is answered; `overrule` also replaces an answer not yet taken."""
        if not self.answered or (overrule and not self._taken):
            self.content, self.answers, self.action, self.why = None, [], "cancel", why
            self._settle()

    async def wait(self) -> None:
        """Wait until the user has answered, and mark the answer as taken."""
        await self._wait()


class PendingElicitations(BySession[PendingElicitation]):
    """The pending questions of all sessions, by their ids."""

    def add(self, session: int, asked: ElicitationAsked) -> PendingElicitation:
        """Add a question of the agent of that session (its key), under a new id."""
        return self._add(PendingElicitation(self.new_id(), session, asked))

    def get(self, elicitation_id: int) -> PendingElicitation | None:
        """Return the question with that id, or None if it is unknown or answered."""
        pending = self._all.get(elicitation_id)
        return pending if pending is not None and not pending.answered else None


class OpenUrls:
    """The opened URLs of one agent, by the agent's ids (ACP "Elicitation", URL completion)."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def wait(self, elicitation_id: str, on_complete: Callable[[], None]) -> None:
        """Call `on_complete` when the URL completes. Evict the oldest beyond `OPEN_URLS`: agents may never complete."""
        self._waiting.pop(elicitation_id, None)
        if len(self._waiting) >= OPEN_URLS:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[elicitation_id] = on_complete

    def complete(self, elicitation_id: str) -> None:
        """Handle `elicitation/complete`; ignore an id that is not (or no longer) awaited."""
        on_complete = self._waiting.pop(elicitation_id, None)
        if on_complete is not None:
            on_complete()

    def forget(self, elicitation_id: str) -> None:
        """Stop waiting for that URL, which was not opened."""
        self._waiting.pop(elicitation_id, None)
