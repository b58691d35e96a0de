"""Questions of agents that wait for the user, of all sessions."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from acp_nvim.elicitation.answers import Answered
from acp_nvim.elicitation.values import Value
from acp_nvim.elicitation_events import Action, ElicitationView
from acp_nvim.events import Why
from acp_nvim.permissions.by_session import BySession
from acp_nvim.protocol.elicitation import ElicitationAsked


class PendingElicitation:
    """One question; `accept`, `decline` or `cancel` answers it, the first of them counts."""

    def __init__(
        self,
        elicitation_id: int,
        session: int,
        asked: ElicitationAsked,
        on_answered: Callable[[PendingElicitation], None] = lambda pending: None,
    ) -> None:
        self.id = elicitation_id
        self.session = session
        self.asked = asked
        self.block = 0  # of the transcript, once it stands there
        self.view: ElicitationView | None = None  # once it is shown
        self.action: Action | None = None
        self.content: dict[str, Value] | None = None
        self.answers: list[Answered] = []  # for people
        self.why: Why | None = None  # nobody has answered it
        self._on_answered = on_answered
        self._answered = anyio.Event()
        self._taken = False

    def __repr__(self) -> str:
        return f"<PendingElicitation {self.id} of session {self.session}: {self.action or 'waiting'}>"

    @property
    def answered(self) -> bool:
        """Whether its answer is fixed."""
        return self._answered.is_set()

    def accept(self, content: dict[str, Value] | None, answers: list[Answered]) -> bool:
        """The user has filled it in, or agrees to open the URL; False when it is answered already."""
        if self.answered:
            return False
        self.content, self.answers = content, answers
        return self._settle("accept")

    def refuse(self, action: Action) -> bool:
        """The user declines, or cancels; False when it is answered already."""
        return not self.answered and self._settle(action)

    def cancel(self, why: Why = "cancelled", overrule: bool = False) -> None:
        """Nobody will answer it; `overrule`: what was said a moment ago does not count, if nobody took it."""
        if not self.answered or (overrule and not self._taken):
            self.content, self.answers, self.why = None, [], why
            self._settle("cancel")

    def _settle(self, action: Action) -> bool:
        self.action = action
        self._on_answered(self)
        self._answered.set()
        return True

    async def wait(self) -> None:
        """Wait until the user has answered, and mark the answer as taken."""
        await self._answered.wait()
        self._taken = True


class PendingElicitations(BySession[PendingElicitation]):
    """All that wait; ids are unique in this process."""

    def __init__(self) -> None:
        super().__init__()
        self._last_id = 0

    def add(self, session: int, asked: ElicitationAsked) -> PendingElicitation:
        """A new one, under a new id."""
        self._last_id += 1
        return self._add(PendingElicitation(self._last_id, session, asked, self._answered))

    def get(self, elicitation_id: int) -> PendingElicitation | None:
        """The one of that id, while nobody has answered it."""
        pending = self._all.get(elicitation_id)
        return pending if pending is not None and not pending.answered else None
