"""Counts how often an agent has died on a session: who dies again and again is not started again unasked."""

from __future__ import annotations

from collections import Counter

from acp_nvim.errors import Failure
from acp_nvim.limits.lives import DEATHS, WAY_DEATHS
from acp_nvim.session.opening import Way

DEADLY = frozenset({"agent_exited", "agent_silent"})
"""Failures of an agent that runs no more, although nobody wanted it to end."""


class Deaths:
    """In a row: since a turn came to its end."""

    def __init__(self) -> None:
        self._count = 0
        self._while: Counter[Way] = Counter()

    def __repr__(self) -> str:
        return f"<Deaths {self._count} {dict(self._while)}>"

    @property
    def any(self) -> bool:
        """Whether there were some."""
        return self._count > 0

    @property
    def looping(self) -> bool:
        """Whether it is to be left alone until the user sends something."""
        return self._count >= DEATHS

    def note_way(self, failure: Failure, way: Way | None) -> None:
        """That happened while a session was taken up in that way."""
        if failure.code in DEADLY and way is not None:
            self._while[way] += 1

    def note(self, failure: Failure | None) -> str:
        """It is gone. What to say of it beside the failure, or nothing."""
        if failure is None or failure.code not in DEADLY:
            return ""
        self._count += 1
        if not self.looping:
            return ""
        return (
            f"That was {self._count} times in a row without a finished turn: it is not started again unasked. "
            "Your next prompt tries once more; :AcpChat! begins a new session, :AcpLog shows what it said."
        )

    def avoids(self, way: Way) -> bool:
        """Whether that way to take up a session has been the end of it before."""
        return self._while[way] >= WAY_DEATHS

    def taken_up(self) -> None:
        """A way has worked."""
        self._while.clear()

    def turn_done(self) -> None:
        """It has finished a turn."""
        self._count = 0
