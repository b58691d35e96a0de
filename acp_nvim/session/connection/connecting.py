"""How a session gets its agent: the process is started if need be, and the session is opened there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, Literal

import anyio
import msgspec

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Opened
from acp_nvim.acp.dialect import Call, Place, Way
from acp_nvim.errors import Failure, FailureError, Severity
from acp_nvim.session import failures
from acp_nvim.session.auth.sign_ins import SignIn
from acp_nvim.session.connection.calls import KeptSession, ResumeWay, offers, opening, send, usable_servers
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.router import PeerSession
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.services import Services
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.tasks import Tasks

DEATHS: Final = 3
"""Ends of an agent in a row, without a turn that was finished, after which only a prompt starts it again."""
WAY_DEATHS: Final = 2
"""Ends while a session is taken up in one way, after which the next way is tried: one may have been an accident."""

DEADLY = frozenset({"agent_exited", "agent_silent"})
"""Failures of an agent that runs no more, although nobody wanted it to end."""


class CrashLoopGuard:
    """Counts how often the agent has died since a turn came to its end, so that it is not started for ever."""

    def __init__(self) -> None:
        self._count = 0
        self._while: Counter[Way] = Counter()

    def __repr__(self) -> str:
        return f"<CrashLoopGuard {self._count} {dict(self._while)}>"

    @property
    def any(self) -> bool:
        """Whether the process has died since the last turn that finished."""
        return self._count > 0

    @property
    def looping(self) -> bool:
        """Whether it is to be left alone until the user sends something."""
        return self._count >= DEATHS

    def note_way(self, failure: Failure, way: Way | None) -> None:
        """Note that a failure happened while the session was opened in that way."""
        if failure.code in DEADLY and way is not None:
            self._while[way] += 1

    def note(self, failure: Failure | None) -> str:
        """Note that the agent is gone; return what to say of it beside the failure, or nothing."""
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
        """Whether that way to reopen a session has been the end of it before."""
        return self._while[way] >= WAY_DEATHS

    def reopened(self) -> None:
        """A way of opening the session has worked: forget during which ways processes died."""
        self._while.clear()

    def turn_done(self) -> None:
        """The agent has finished a turn: count its deaths anew."""
        self._count = 0


REPLAY_QUIET_SECONDS: Final = 0.3
"""Silence after which nothing of a conversation is told again: some agents begin only when they have answered."""
REPLAY_SECONDS: Final = 10.0
"""Time for all of it: who still speaks then has something new to say."""

ABOUT = (
    updates.StateChanged,
    updates.CommandsReplaced,
    updates.ModeChanged,
    updates.ConfigReplaced,
    updates.SessionInfoChanged,
    updates.UsageChanged,
)
"""What is said of the session itself, and is as true as ever."""

ReplayView = Literal["shown", "passed over", "anew"]


class Replaying:
    """Decides what is shown of a replay. When all of it comes again, transcript and queue forget what was shown."""

    def __init__(self, presenter: Presenter, queue: PromptQueue) -> None:
        self._queue = queue
        self._presenter = presenter
        self._view: ReplayView = "shown"
        self._heard = 0
        self.is_over = True
        """Whether what comes now is new."""

    def __repr__(self) -> str:
        return f"<Replaying {self._view} {self._heard}>"

    def begin(self, how: ResumeWay | None) -> None:
        """The session is about to be opened; None: as a new one.

        Who only goes on has the conversation on the screen. Who loads one wants to see what the agent has of it.
        """
        self._heard, self.is_over = 0, how is None
        is_empty = self._presenter.transcript.is_empty
        if how == "go_on" or (how is not None and how != "load" and not is_empty):
            self._view = "passed over"
        else:
            self._view = "anew" if how == "load" and not is_empty else "shown"

    def end(self) -> None:
        """Show what comes from now on: the agent does not tell the past any more."""
        self._view, self.is_over = "shown", True

    def takes(self, update: updates.Update) -> bool:
        """Whether an update is shown; False while the agent tells again what the chat has already."""
        if isinstance(update, ABOUT):
            if isinstance(update, updates.StateChanged) and update.state == "running":
                self.end()
            return True
        self._heard += 1
        if self._view == "anew":
            self._view = "shown"
            self._presenter.forget()
            self._queue.unshow()
        return self._view == "shown"

    async def settled(self, late: bool) -> None:
        """Until all is told. `late`: even if nothing was, yet."""
        before = -1 if late else 0
        with anyio.move_on_after(REPLAY_SECONDS):
            while self._heard != before:
                before = self._heard
                await anyio.sleep(REPLAY_QUIET_SECONDS)
        self.end()


SLOW_SECONDS: Final = 30.0
"""Time after which the user is told that an agent has not opened the session yet: most take less than 10."""

Begin = Callable[[AgentPeer, str, Opened], None]

ANEW = "The agent was started anew: it does not know what was said above."
GOES_ON = "The agent runs again, and goes on with this session."

GOING_ON: tuple[Way, ...] = ("resume", "load")
"""The means to go on with a session, the best first."""


class Connecting:
    """Connects a session; the agent's router knows it when `begin` (peer, session id, answer) has returned.

    `wanted`: the session at the agent that the user chose; `last`: the one that this chat shows.
    """

    def __init__(
        self,
        agent: str,
        services: Services,
        presenter: Presenter,
        sign_in: SignIn,
        begin: Begin,
        tasks: Tasks,
        queue: PromptQueue,
    ) -> None:
        self.wanted: KeptSession | None = None
        self.last: str | None = None
        self.crash_loop = CrashLoopGuard()
        self.replaying = Replaying(presenter, queue)
        self.reopening: Way | None = None  # in that way, just now
        self.refusal: Failure | None = None  # why this session is never opened
        self._missed = False  # what the user chose could not be had
        self._agent = agent
        self._services = services
        self._presenter = presenter
        self._sign_in = sign_in
        self._begin = begin
        self._tasks = tasks
        self._scope = anyio.CancelScope()

    def __repr__(self) -> str:
        return f"<Connecting {self._agent} {self.kept}>"

    @property
    def kept(self) -> KeptSession | None:
        """What the agent is asked for; None: a new session."""
        return self.wanted or (KeptSession(self.last, "go_on") if self.last else None)

    @property
    def fresh(self) -> bool:
        """Whether the agent knows nothing of the session that is being opened."""
        return self.reopening is None

    def cancel(self) -> None:
        """Give up what is being connected; nothing happens when that has not begun, or is done."""
        self._scope.cancel()

    def outcome(self, had_turns: bool) -> tuple[Severity, str] | None:
        """What to say of the session that is open now; `had_turns`: the chat shows some."""
        is_wanted = self.wanted is not None and self.wanted.how == "go_on"
        if not self.fresh:
            return ("info", GOES_ON) if self.crash_loop.any or is_wanted else None
        was_more, self.last, self._missed = had_turns or self.last or self._missed or is_wanted, None, False
        return ("warn", ANEW) if was_more else None

    def forget_wanted(self) -> str:
        """Forget a session that the agent cannot open; return what the next prompt does instead, in words."""
        self.wanted, self._missed = None, True
        goes_on = "goes on with the session above" if self.last else "begins a new session"
        return f"Your next prompt {goes_on}."

    def retire(self, peer: AgentPeer) -> None:
        """Start the agent in a new process the next time."""
        self._services.peers.retire(peer)

    async def run(self, session: PeerSession, place: Place) -> None:
        """Return when the session is open, or `cancel` was called. Raises `FailureError`.

        A process that serves nobody then is not left running.
        """
        patience = anyio.CancelScope()
        self._tasks.spawn(self._say_that_it_takes_time, patience)
        try:
            with anyio.CancelScope() as self._scope:
                await self._connect(session, place)
        finally:
            patience.cancel()

    async def _say_that_it_takes_time(self, patience: anyio.CancelScope) -> None:
        """Some agents never answer; most that take long say on stderr why."""
        with patience:
            await anyio.sleep(SLOW_SECONDS)
            self._presenter.notice("info", failures.slow_start(self._agent))

    async def _connect(self, session: PeerSession, place: Place) -> None:
        if self.refusal is not None:
            raise FailureError(self.refusal)
        definition = self._services.find(self._agent)
        kept = self.kept
        if kept is not None:
            await self._services.peers.settled(definition.name, place.cwd)
        peer = await self._services.peers.obtain(definition, place.cwd)
        peer.hold(self)
        try:
            servers, unusable = usable_servers(definition.mcp_servers, peer.abilities)
            for server in unusable:
                self._presenter.notice("warn", failures.unreachable_server(server.get("name")))
            for directory in peer.paths.missing(place.additional_directories):
                self._presenter.notice("warn", failures.unmapped_directory(peer.name, directory))
            await self._open(peer, session, msgspec.structs.replace(place, mcp_servers=servers), kept)
        except FailureError as error:
            if error.failure.code == "auth_required":
                self._sign_in.needed(peer, error.failure)
            raise
        finally:
            self.replaying.end()
            peer.release(self)
        self.wanted = None if self.wanted is kept else self.wanted  # another may be wanted by now

    async def _open(self, peer: AgentPeer, session: PeerSession, place: Place, kept: KeptSession | None) -> None:
        self.replaying.begin(kept.how if kept else None)
        if kept is None:
            await self._ask_for(peer, session, place)
        elif kept.how == "go_on":
            await self._go_on(peer, session, place, kept.session_id)
        else:
            await self._ask_for(peer, session, place, kept.session_id, kept.how)
        self.crash_loop.reopened()

    async def _go_on(self, peer: AgentPeer, session: PeerSession, place: Place, session_id: str) -> None:
        """By the best means that the agent has and that does not kill it; a new session is the last one."""
        for way in GOING_ON:
            if offers(peer.abilities, way) and not self.crash_loop.avoids(way):
                try:
                    await self._ask_for(peer, session, place, session_id, way)
                except FailureError as error:
                    if error.failure.code not in failures.NOT_RESTORED:
                        raise
                    self._presenter.notice("warn", error.failure.what)
                else:
                    return
        await self._ask_for(peer, session, place)

    async def _ask_for(
        self, peer: AgentPeer, session: PeerSession, place: Place, session_id: str | None = None, way: Way | None = None
    ) -> None:
        call = opening(peer, place, session_id, way)
        self.reopening = way
        try:
            if session_id is None or way == "fork":
                await send(peer, call, partial(self._opened, peer, session, None))
            else:
                await self._reopen(peer, session, session_id, call)
            if way is not None:
                await self.replaying.settled(late=way == "load")
        except FailureError as error:
            self.crash_loop.note_way(error.failure, way)
            raise
        finally:
            self.reopening = None

    async def _reopen(self, peer: AgentPeer, session: PeerSession, session_id: str, call: Call[Opened]) -> None:
        """A session whose id is known: what was said in it may come before the answer."""
        peer.router.require_free(session_id, session)
        self._presenter.transcript.begin_agent()
        peer.router.adopt(session_id, session)
        try:
            await send(peer, call, partial(self._opened, peer, session, session_id))
        except BaseException:
            peer.leave(session_id)
            raise

    def _opened(self, peer: AgentPeer, session: PeerSession, known_id: str | None, opened: Opened) -> None:
        """The session lives from the moment that its answer is read: what the agent says next may be for it."""
        if self._scope.cancel_called:
            return
        session_id = opened.session_id or known_id or ""
        peer.router.require_free(session_id, session)
        if session_id not in peer.router.sessions:
            self._presenter.transcript.begin_agent()
        self._begin(peer, session_id, opened)
        self.last = known_id
        peer.router.adopt(session_id, session)
