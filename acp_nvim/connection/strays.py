"""Tells the user of messages for sessions that the agent has not announced: they are refused, or never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import anyio

from acp_nvim.acp.updates import (
    MessageChunk,
    MessageReplaced,
    PlanReplaced,
    ToolCallChanged,
    ToolCallContentAdded,
    Update,
)
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.errors import Failure
from acp_nvim.failures import failures
from acp_nvim.limits import TROUBLES
from acp_nvim.tasks import Spawn, contained

ANNOUNCED_SECONDS: Final = 2.0
"""Time in which an agent announces a session, such as that of a subagent, after its first update for it."""

OF_WORK = (MessageChunk, MessageReplaced, ToolCallChanged, ToolCallContentAdded, PlanReplaced)
"""Updates that show work. Agents tell titles and commands of sessions that are not open here, too."""


class Strays:
    """Messages of the agent `name` for sessions that are none of its `sessions`, and were none (`left`).

    `all_open` returns an event that is set when no session is being opened, whose id is not known yet. Each kind of
    message is told once for each id, in the chats that the agent works for.
    """

    def __init__(
        self, name: str, sessions: Mapping[str, PeerSession], left: set[str], all_open: Callable[[], anyio.Event]
    ) -> None:
        self.spawn: Spawn | None = None
        """Starts a task for the agent; None before it runs."""
        self._name = name
        self._sessions = sessions
        self._left = left
        self._all_open = all_open
        self._works: set[str] = set()  # ids of sessions whose updates are told, or were
        self._waiting: set[str] = set()  # what is told when no session is being opened any more

    def __repr__(self) -> str:
        return f"<Strays of {self._name}: {sorted(self._waiting)}>"

    def refused(self, session_id: str, method: str) -> None:
        """Tell of a request that was refused, as nobody has announced its session."""
        if self._is_known(session_id):
            return
        failure = failures.stray_request(self._name, session_id, method)
        if not self._all_open().is_set():
            self._tell_later(session_id, failure, 0)
        else:
            self._tell(failure)

    def kept(self, session_id: str, update: Update) -> None:
        """Tell of an update after `ANNOUNCED_SECONDS`, unless its session is announced until then."""
        if isinstance(update, OF_WORK) and session_id not in self._works and len(self._works) < TROUBLES:
            self._works.add(session_id)
            self._tell_later(session_id, failures.stray_work(self._name, session_id), ANNOUNCED_SECONDS)

    def _tell_later(self, session_id: str, failure: Failure, seconds: float) -> None:
        if len(self._waiting) < TROUBLES and failure.what not in self._waiting and self.spawn is not None:
            self._waiting.add(failure.what)
            self.spawn(self._tell_unless_announced, session_id, failure, seconds)

    async def _tell_unless_announced(self, session_id: str, failure: Failure, seconds: float) -> None:
        await anyio.sleep(seconds)
        while not (all_open := self._all_open()).is_set():
            await all_open.wait()
        self._waiting.discard(failure.what)
        if self._is_known(session_id):
            self._works.discard(session_id)
        else:
            self._tell(failure)

    def _is_known(self, session_id: str) -> bool:
        return session_id in self._sessions or session_id in self._left

    def _tell(self, failure: Failure) -> None:
        busy = [one for one in self._sessions.values() if one.is_busy]
        for session in busy or list(self._sessions.values()):
            with contained("telling of a message for no session", session.on_bug):
                session.on_trouble(failure)
