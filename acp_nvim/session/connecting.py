"""Connects a session to its agent: starts the process if necessary, and opens the session there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

import anyio
import msgspec

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Opened
from acp_nvim.acp.dialect import Call, Place, Way
from acp_nvim.connection.calls import KeptSession, offers, send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.contract.messages import ResumeWay
from acp_nvim.errors import Failure, FailureError, Severity
from acp_nvim.failures import failures
from acp_nvim.session.auth.sign_ins import SignIn
from acp_nvim.session.cancelling import end_process
from acp_nvim.session.services import Services
from acp_nvim.session.state import CrashLoopGuard
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter

REPLAY_QUIET_SECONDS: Final = 0.3
"""Silence after which a replay is over: some agents begin it only after their answer."""
REPLAY_SECONDS: Final = 10.0
"""Limit for a replay: later updates are new."""

ABOUT: Final[frozenset[type]] = frozenset(
    {
        updates.StateChanged,
        updates.CommandsReplaced,
        updates.ModeChanged,
        updates.ConfigReplaced,
        updates.SessionInfoChanged,
        updates.UsageChanged,
    }
)
"""Updates about the session itself, which hold during a replay, too."""


class Replaying:
    """Decides which updates of a replayed conversation are shown. A full replay clears the transcript (`forget`)."""

    def __init__(self, presenter: Presenter, forget: Callable[[], None]) -> None:
        self._presenter = presenter
        self._forget = forget
        self._view: Literal["shown", "hidden", "anew"] = "shown"
        self._heard = 0
        self.is_over = True
        """Whether updates are new, and not part of a replay."""

    def begin(self, how: ResumeWay | None) -> None:
        """Prepare for opening a session in that way (None: a new one).

        With `go_on` the screen shows the conversation already; `load` shows the agent's version of it.
        """
        self._view, self._heard, self.is_over = "shown", 0, how is None
        has_blocks = not self._presenter.transcript.is_empty
        if how == "load" and has_blocks:
            self._view = "anew"
        elif how == "go_on" or (how is not None and has_blocks):
            self._view = "hidden"

    def end(self) -> None:
        """End the replay: show everything from now on."""
        self._view, self.is_over = "shown", True

    def takes(self, update: updates.Update) -> bool:
        """Return whether to show an update; False if it repeats what the chat shows already."""
        if type(update) in ABOUT:
            if isinstance(update, updates.StateChanged) and update.state == "running":
                self.end()
            return True
        self._heard += 1
        if self._view == "anew":
            self._view = "shown"
            self._forget()
        return self._view == "shown"

    async def settled(self, late: bool) -> None:
        """Wait for the end of the replay; `late`: it may not have begun yet."""
        before = -1 if late else 0
        with anyio.move_on_after(REPLAY_SECONDS):
            while self._heard != before:
                before = self._heard
                await anyio.sleep(REPLAY_QUIET_SECONDS)
        self.end()


SLOW_SECONDS: Final = 30.0
"""Time after which a notice says that the session is not open yet: most agents take less than 10."""

ANEW = "The agent begins a new session: it does not know what was said above."
GOES_ON = "The agent runs again, and continues this session."


class Connecting:
    """Opens a session at its agent; `begin` (peer, session id, answer) is called before the router knows the session.

    `wanted` is the session that the user chose, `last` the one that this chat shows.
    """

    def __init__(
        self,
        agent: str,
        services: Services,
        presenter: Presenter,
        sign_in: SignIn,
        begin: Callable[[AgentPeer, str, Opened], None],
        tasks: Tasks,
        forget: Callable[[], None],
        mcp_servers: Callable[[AgentPeer], Awaitable[Sequence[dict[str, Any]]]],
    ) -> None:
        self.wanted: KeptSession | None = None
        self.last: str | None = None
        self.crash_loop = CrashLoopGuard()
        self.replaying = Replaying(presenter, forget)
        self.refusal: Failure | None = None  # why this session is never opened
        self._reopening: Way | None = None  # the way that is being tried
        self._missed = False  # the session that the user chose could not be opened
        self._agent = agent
        self._services = services
        self._presenter = presenter
        self._sign_in = sign_in
        self._begin = begin
        self._tasks = tasks
        self._mcp_servers = mcp_servers
        self._scope = anyio.CancelScope()
        self._session: PeerSession | None = None  # that is being opened
        self._cwd = ""

    @property
    def fresh(self) -> bool:
        """Whether the session that is being opened is a new one."""
        return self._reopening is None

    def cancel(self) -> None:
        """Cancel a `run` in progress, if there is one."""
        self._scope.cancel()

    def insist(self) -> bool:
        """End the process that a `run` in progress waits for, if another chat has it. Return whether that is so."""
        session = self._session
        peer = None if session is None else self._services.peers.newest(self._agent, self._cwd)
        if session is None or peer is None or peer.gone.is_set():
            return False
        chats = [one.label for one in peer.router.chats_beside(session)]
        if not chats and peer.started_by and peer.started_by != session.label and not peer.has_begun:
            chats = [peer.started_by]  # whose start this one waits for
        if chats:
            self._tasks.spawn(self._end, peer, " and ".join(chats), session.label)
        return bool(chats)

    async def _end(self, peer: AgentPeer, chats: str, label: str) -> None:
        what = "process" if peer.definition.address is None else "connection"
        name = f"Agent {peer.name!r}"
        self._presenter.notice("warn", f"{name} is ended: this start waited for its {what}, which {chats} had.")
        told = f"{name} was ended by :AcpCancel! in {label}, whose start waited for the same {what}."
        await end_process(peer, told, "", self._presenter)

    def outcome(self, had_turns: bool) -> tuple[Severity, str] | None:
        """Return a notice about the session that was opened; `had_turns`: the chat shows some."""
        is_wanted = self.wanted is not None and self.wanted.how == "go_on"
        if not self.fresh:
            return ("info", GOES_ON) if self.crash_loop.any or is_wanted else None
        was_more, self.last, self._missed = had_turns or self.last or self._missed or is_wanted, None, False
        return ("warn", ANEW) if was_more else None

    def forget_wanted(self) -> str:
        """Forget the session that the user chose; return what the next prompt does instead, in words."""
        self.wanted, self._missed = None, True
        goes_on = "goes on with the session above" if self.last else "begins a new session"
        return f"Your next prompt {goes_on}."

    async def run(self, session: PeerSession, place: Place) -> None:
        """Return when the session is open, or after `cancel`. Raises `FailureError`; then an unused process ends."""
        patience = anyio.CancelScope()
        self._tasks.spawn(self._say_that_it_takes_time, patience)
        self._session, self._cwd = session, place.cwd
        try:
            with anyio.CancelScope() as self._scope:
                await self._connect(session, place)
        finally:
            self._session = None
            patience.cancel()

    async def _say_that_it_takes_time(self, patience: anyio.CancelScope) -> None:
        with patience:
            await anyio.sleep(SLOW_SECONDS)
            words = "has not opened the session yet. :AcpCancel gives up, :AcpLog shows what it said."
            self._presenter.notice("info", f"Agent {self._agent!r} {words}")

    async def _connect(self, session: PeerSession, place: Place) -> None:
        if self.refusal is not None:
            raise FailureError(self.refusal)
        definition = self._services.find(self._agent)
        kept = self.wanted or (KeptSession(self.last, "go_on") if self.last else None)
        if kept is not None:
            await self._services.peers.settled(definition.name, place.cwd)
        peer = await self._services.peers.obtain(definition, place.cwd, session.label)
        peer.hold(self)
        if peer.remark:
            self._presenter.notice("info", peer.remark)
            peer.remark = ""
        try:
            for directory in peer.paths.missing(place.additional_directories):
                words = f"The directory {directory} is left out: nothing says where it is for the agent"
                self._presenter.notice("warn", f"{words} (agents.{peer.name}.paths).")
            place = msgspec.structs.replace(place, mcp_servers=await self._mcp_servers(peer))
            await self._open(peer, session, self._with_system_prompt(peer, place, kept is None), kept)
        except FailureError as error:
            if error.failure.code == "auth_required":
                self._sign_in.needed(peer, error.failure)
            raise
        finally:
            self.replaying.end()
            peer.release(self)
        self.wanted = None if self.wanted is kept else self.wanted  # the user may have chosen another meanwhile

    def _with_system_prompt(self, peer: AgentPeer, place: Place, is_new: bool) -> Place:
        """Add the system prompt, as far as the agent takes one; tell the user of a new session if it does not."""
        prompt = peer.definition.system_prompt_in(place.cwd)
        if prompt is None:
            return place
        is_override = prompt.mode == "override"
        can = peer.abilities
        if can.system_prompt_override if is_override else can.system_prompt:
            return msgspec.structs.replace(place, system_prompt=prompt.text, system_prompt_mode=prompt.mode)
        if is_new:
            words = "takes no system prompt"
            if can.system_prompt:
                words = 'can only add a system prompt to its own instructions (mode = "append")'
            words = f"Agent {peer.name!r} {words}: the one of your configuration (agents.{peer.name}) is left out."
            self._presenter.notice("warn", words)
        return place

    async def _open(self, peer: AgentPeer, session: PeerSession, place: Place, kept: KeptSession | None) -> None:
        """Try the ways to open the session; for `go_on` those that the agent survives, and last a new session."""
        self.replaying.begin(kept.how if kept else None)
        ways: list[Way | None] = [None]
        if kept is not None and kept.how != "go_on":
            ways = [kept.how]
        elif kept is not None:
            offered = (way for way in peer.dialect.reopening if offers(peer.abilities, way))
            ways = [*(way for way in offered if not self.crash_loop.avoids(way)), None]
        for way in ways:
            try:
                await self._open_in_way(peer, session, place, kept.session_id if kept and way else None, way)
                break
            except FailureError as error:
                if way == ways[-1] or error.failure.code not in failures.NOT_RESTORED:
                    raise
                self._presenter.notice("warn", error.failure.what)
        self.crash_loop.reopened()

    async def _open_in_way(
        self, peer: AgentPeer, session: PeerSession, place: Place, session_id: str | None, way: Way | None
    ) -> None:
        if not peer.abilities.additional_directories:
            place = msgspec.structs.replace(place, additional_directories=())
        call = peer.dialect.open_session(place, way, session_id or "")
        if not offers(peer.abilities, call.needs):  # before the transcript is prepared for a replay
            raise FailureError(failures.not_offered(peer.name, call.method))
        self._reopening = way
        try:
            with peer.router.early_requests.opening():
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
            self._reopening = None

    async def _reopen(self, peer: AgentPeer, session: PeerSession, session_id: str, call: Call[Opened]) -> None:
        """Open a session whose id is known: the replay may come before the answer."""
        peer.router.require_free(session_id, session)
        self._presenter.transcript.begin_agent()
        peer.router.adopt(session_id, session)
        try:
            await send(peer, call, partial(self._opened, peer, session, session_id))
        except BaseException:
            peer.leave(session_id)
            raise

    def _opened(self, peer: AgentPeer, session: PeerSession, known_id: str | None, opened: Opened) -> None:
        """Begin the session as soon as the answer is read: the agent's next message may be for it."""
        if self._scope.cancel_called:
            return
        session_id = opened.session_id or known_id or ""
        peer.router.require_free(session_id, session)
        if session_id not in peer.router.sessions:
            self._presenter.transcript.begin_agent()
        self._begin(peer, session_id, opened)
        self.last = known_id
        peer.router.adopt(session_id, session)
