"""How a session gets its agent: the process is started if need be, and the session is opened there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
import msgspec

from acp_nvim.errors import Failure, FailureError, Severity
from acp_nvim.limits.lives import SLOW_SECONDS
from acp_nvim.protocol.answers import Opened
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.session import failures
from acp_nvim.session.deaths import Deaths
from acp_nvim.session.inbox import PeerSession
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.opening import Kept, Way, offers, open_session, opening, usable_servers
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.replaying import Replaying
from acp_nvim.session.shared import Shared
from acp_nvim.session.sign_in import SignIn
from acp_nvim.tasks import Tasks

Begin = Callable[[AgentPeer, str, Opened], None]

ANEW = "The agent was started anew: it does not know what was said above."
GOES_ON = "The agent runs again, and goes on with this session."

GOING_ON: tuple[Way, ...] = ("resume", "load")
"""The means to go on with a session, the best first."""


class Connecting:
    """Of one session, which is in the inbox of its agent when `begin` (peer, session id, answer) has returned.

    `wanted`: the session at the agent that the user chose; `last`: the one that this chat shows.
    """

    def __init__(
        self, agent: str, shared: Shared, narrator: Narrator, sign_in: SignIn, begin: Begin, tasks: Tasks
    ) -> None:
        self.wanted: Kept | None = None
        self.last: str | None = None
        self.deaths = Deaths()
        self.replaying = Replaying(narrator)
        self.taking_up: Way | None = None  # in that way, just now
        self.refusal: Failure | None = None  # why this session is never opened
        self._missed = False  # what the user chose could not be had
        self._agent = agent
        self._shared = shared
        self._narrator = narrator
        self._sign_in = sign_in
        self._begin = begin
        self._tasks = tasks
        self._scope = anyio.CancelScope()
        self._is_running = False

    def __repr__(self) -> str:
        return f"<Connecting {self._agent} {self.kept}>"

    @property
    def kept(self) -> Kept | None:
        """What the agent is asked for; None: a new session."""
        return self.wanted or (Kept(self.last, "go_on") if self.last else None)

    @property
    def fresh(self) -> bool:
        """Whether the agent knows nothing of the session that is being opened."""
        return self.taking_up is None

    def cancel(self) -> bool:
        """Stop connecting; False when that has not begun."""
        self._scope.cancel()
        return self._is_running

    def outcome(self, had_turns: bool) -> tuple[Severity, str] | None:
        """What to say of the session that is open now; `had_turns`: the chat shows some."""
        is_wanted = self.wanted is not None and self.wanted.how == "go_on"
        if not self.fresh:
            return ("info", GOES_ON) if self.deaths.any or is_wanted else None
        was_more, self.last, self._missed = had_turns or self.last or self._missed or is_wanted, None, False
        return ("warn", ANEW) if was_more else None

    def forget_wanted(self) -> str:
        """It cannot be had, and would not be the next time: what comes of the next prompt, in words."""
        self.wanted, self._missed = None, True
        goes_on = "goes on with the session above" if self.last else "begins a new session"
        return f"Your next prompt {goes_on}."

    def retire(self, peer: AgentPeer) -> None:
        """Who starts it again gets another process."""
        self._shared.peers.retire(peer)

    async def run(self, session: PeerSession, place: Place) -> bool:
        """False when it was cancelled. Raises `FailureError`; a process that serves nobody then is not left running."""
        patience = anyio.CancelScope()
        self._tasks.spawn(self._say_that_it_takes_time, patience)
        try:
            self._is_running = True
            with anyio.CancelScope() as self._scope:
                await self._connect(session, place)
        finally:
            self._is_running = False
            patience.cancel()
        return not self._scope.cancelled_caught

    async def _say_that_it_takes_time(self, patience: anyio.CancelScope) -> None:
        """Some agents never answer; most that take long say on stderr why."""
        with patience:
            await anyio.sleep(SLOW_SECONDS)
            self._narrator.notice("info", failures.slow_start(self._agent))

    async def _connect(self, session: PeerSession, place: Place) -> None:
        if self.refusal is not None:
            raise FailureError(self.refusal)
        definition = self._shared.find(self._agent)
        kept = self.kept
        if kept is not None:
            await self._shared.peers.settled(definition.name, place.cwd)
        peer = await self._shared.peers.obtain(definition, place.cwd)
        peer.hold(self)
        try:
            servers, unusable = usable_servers(definition.mcp_servers, peer.abilities)
            for server in unusable:
                self._narrator.notice("warn", failures.unreachable_server(server.get("name")))
            for directory in peer.paths.missing(place.additional_directories):
                self._narrator.notice("warn", failures.unmapped_directory(peer.name, directory))
            await self._open(peer, session, msgspec.structs.replace(place, mcp_servers=servers), kept)
        except FailureError as error:
            if error.failure.code == "auth_required":
                self._sign_in.needed(peer, error.failure)
            raise
        finally:
            self.replaying.end()
            peer.release(self)
        self.wanted = None if self.wanted is kept else self.wanted  # another may be wanted by now

    async def _open(self, peer: AgentPeer, session: PeerSession, place: Place, kept: Kept | None) -> None:
        self.replaying.begin(kept.how if kept else None)
        if kept is None:
            await self._ask_for(peer, session, place)
        elif kept.how == "go_on":
            await self._go_on(peer, session, place, kept.session_id)
        else:
            await self._ask_for(peer, session, place, kept.session_id, kept.how)
        self.deaths.taken_up()

    async def _go_on(self, peer: AgentPeer, session: PeerSession, place: Place, session_id: str) -> None:
        """By the best means that the agent has and that does not kill it; a new session is the last one."""
        for way in GOING_ON:
            if offers(peer.abilities, way) and not self.deaths.avoids(way):
                try:
                    await self._ask_for(peer, session, place, session_id, way)
                except FailureError as error:
                    if error.failure.code not in failures.NOT_RESTORED:
                        raise
                    self._narrator.notice("warn", error.failure.what)
                else:
                    return
        await self._ask_for(peer, session, place)

    async def _ask_for(
        self, peer: AgentPeer, session: PeerSession, place: Place, session_id: str | None = None, way: Way | None = None
    ) -> None:
        call = opening(peer, place, session_id, way)
        self.taking_up = way
        try:
            if session_id is None or way == "fork":
                await open_session(peer, call, partial(self._opened, peer, session, None))
            else:
                await self._take_up(peer, session, session_id, call)
            if way is not None:
                await self.replaying.settled(late=way == "load")
        except FailureError as error:
            self.deaths.note_way(error.failure, way)
            raise
        finally:
            self.taking_up = None

    async def _take_up(self, peer: AgentPeer, session: PeerSession, session_id: str, call: Call[Opened]) -> None:
        """A session whose id is known: what was said in it may come before the answer."""
        peer.inbox.require_free(session_id, session)
        self._narrator.transcript.begin_agent()
        peer.inbox.adopt(session_id, session)
        try:
            await open_session(peer, call, partial(self._opened, peer, session, session_id))
        except BaseException:
            peer.leave(session_id)
            raise

    def _opened(self, peer: AgentPeer, session: PeerSession, known_id: str | None, opened: Opened) -> None:
        """The session lives from the moment that its answer is read: what the agent says next may be for it."""
        if self._scope.cancel_called:
            return
        session_id = opened.session_id or known_id or ""
        peer.inbox.require_free(session_id, session)
        if session_id not in peer.inbox.sessions:
            self._narrator.transcript.begin_agent()
        self._begin(peer, session_id, opened)
        self.last = known_id
        peer.inbox.adopt(session_id, session)
