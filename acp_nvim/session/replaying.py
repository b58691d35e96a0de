"""What an agent tells again of a session that is taken up: shown, passed over, or shown instead of what stood there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import anyio

from acp_nvim.limits.lives import REPLAY_QUIET_SECONDS, REPLAY_SECONDS
from acp_nvim.protocol import updates
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.opening import How

ABOUT = (
    updates.StateChanged,
    updates.CommandsReplaced,
    updates.ModeChanged,
    updates.ConfigReplaced,
    updates.SessionInfoChanged,
    updates.UsageChanged,
)
"""What is said of the session itself, and is as true as ever."""

Fate = Literal["shown", "passed over", "anew"]


class Replaying:
    """Of one session. `on_anew` is called when the transcript was forgotten, because all of it comes again."""

    def __init__(self, narrator: Narrator) -> None:
        self.on_anew: Callable[[], None] = lambda: None
        self._narrator = narrator
        self._fate: Fate = "shown"
        self._heard = 0
        self.is_over = True
        """Whether what comes now is new."""

    def __repr__(self) -> str:
        return f"<Replaying {self._fate} {self._heard}>"

    def begin(self, how: How | None) -> None:
        """The session is about to be opened; None: as a new one.

        Who only goes on has the conversation on the screen. Who loads one wants to see what the agent has of it.
        """
        self._heard, self.is_over = 0, how is None
        is_empty = self._narrator.transcript.is_empty
        if how == "go_on" or (how is not None and how != "load" and not is_empty):
            self._fate = "passed over"
        else:
            self._fate = "anew" if how == "load" and not is_empty else "shown"

    def end(self) -> None:
        """What comes now is new."""
        self._fate, self.is_over = "shown", True

    def takes(self, update: updates.Update) -> bool:
        """Whether it is to be shown."""
        if isinstance(update, ABOUT):
            if isinstance(update, updates.StateChanged) and update.state == "running":
                self.end()
            return True
        self._heard += 1
        if self._fate == "anew":
            self._fate = "shown"
            self._narrator.forget()
            self.on_anew()
        return self._fate == "shown"

    async def settled(self, late: bool) -> None:
        """Until all is told. `late`: even if nothing was, yet."""
        before = -1 if late else 0
        with anyio.move_on_after(REPLAY_SECONDS):
            while self._heard != before:
                before = self._heard
                await anyio.sleep(REPLAY_QUIET_SECONDS)
        self.end()
