"""Messages for sessions that are not open: requests of those being opened wait, others are refused or never shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

import anyio

from acp_nvim.acp.answers import Asked
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
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.limits import TROUBLES
from acp_nvim.tasks import Spawn, contained

ANNOUNCED_SECONDS: Final = 2.0
"""Time in which an agent announces a session, such as that of a subagent, after its first update for it."""

OF_WORK = (MessageChunk, MessageReplaced, ToolCallChanged, ToolCallContentAdded, PlanReplaced)
"""Updates that show work. Agents tell titles and commands of sessions that are not open here, too."""

EARLY_REQUEST_SECONDS: Final = 2.0
"""Longest time that a request is held: an agent that waits for it before it answers us would wait forever."""
EARLY_REQUESTS: Final = 100
"""Requests of one agent that are held at once; further ones are refused."""


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


class Opened(Protocol):
    """What is needed of a session to serve a request."""

    def on_request(self, method: str, asked: Asked) -> Awaitable[Any]:
        """Serve a request of the agent, as `PeerSession`."""

    def on_bug(self, error: Exception) -> None:
        """Report a bug of this plugin that concerns the session."""


class EarlyRequest:
    """A request for a session that is not open yet. Await `answer`; `serve` or `refuse` may be called any time."""

    def __init__(self, session_id: str, method: str, asked: Asked) -> None:
        self.session_id = session_id
        self._method = method
        self._asked = asked
        self._session: Opened | None = None
        self._work: Awaitable[Any] | None = None
        self._error: Exception | None = RpcError(INVALID_PARAMS, f"{method}: unknown sessionId {session_id!r}")
        self._decided = anyio.Event()

    def __repr__(self) -> str:
        return f"<EarlyRequest {self._method} {self.session_id} {'decided' if self._decided.is_set() else 'waits'}>"

    @property
    def is_served(self) -> bool:
        """Whether a session has taken the request."""
        return self._session is not None

    def serve(self, session: Opened) -> None:
        """Begin to serve the request, in the order of the agent's messages, unless it is over."""
        if self._decided.is_set():
            return
        self._session, self._error = session, None
        try:
            self._work = session.on_request(self._method, self._asked)
        except Exception as error:
            self._error = error
        self._decided.set()

    def refuse(self) -> None:
        """Answer that the session is unknown, unless the request is being served."""
        self._decided.set()

    def on_bug(self, error: Exception) -> None:
        """Report a bug to the session that serves the request."""
        if self._session is not None:
            self._session.on_bug(error)

    async def answer(self) -> Any:
        """Wait until the request is served, and return the answer. Raises `RpcError` after `EARLY_REQUEST_SECONDS`."""
        try:
            with anyio.move_on_after(EARLY_REQUEST_SECONDS):
                await self._decided.wait()
        except anyio.get_cancelled_exc_class():
            if self._work is None:
                raise
            # else it is withdrawn when it is served already: the work ends itself, as it is cancelled too
        finally:
            self._decided.set()
        if self._work is not None:
            return await self._work
        assert self._error is not None
        raise self._error


class EarlyRequests:
    """The held requests of one agent. Requests are held only while a session is being opened (`opening`).

    `name`, `sessions` and `left` are as for `Strays`.
    """

    def __init__(self, name: str, sessions: Mapping[str, PeerSession], left: set[str]) -> None:
        self.strays = Strays(name, sessions, left, lambda: self.all_open)
        self._openings = 0
        self.all_open = anyio.Event()
        """Set while no session is being opened."""
        self.all_open.set()
        self._held: set[EarlyRequest] = set()

    def __repr__(self) -> str:
        return f"<EarlyRequests openings={self._openings} held={len(self._held)}>"

    @property
    def has_room(self) -> bool:
        """Whether a request for an unknown session is to be held."""
        return self._openings > 0 and len(self._held) < EARLY_REQUESTS

    @contextmanager
    def opening(self) -> Iterator[None]:
        """A session is being opened; after the last one, the requests that are still held are refused."""
        self._openings += 1
        if self._openings == 1:
            self.all_open = anyio.Event()
        try:
            yield
        finally:
            self._openings -= 1
            if not self._openings:
                self.all_open.set()
                for request in self._held:
                    request.refuse()

    def hold(self, request: EarlyRequest) -> Awaitable[Any]:
        """Hold a request until it is decided; return an awaitable of its answer."""
        self._held.add(request)  # now, and not when it is awaited: the opening may end before
        return self._answer(request)

    async def _answer(self, request: EarlyRequest) -> Any:
        try:
            return await request.answer()
        finally:
            self._held.discard(request)
