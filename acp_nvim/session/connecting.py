"""How a session gets its agent: the process is started if need be, and the session is opened there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
import msgspec

from acp_nvim.errors import FailureError
from acp_nvim.protocol.answers import Opened
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.session import failures
from acp_nvim.session.inbox import PeerSession
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.opening import Kept, open_session, opening, usable_servers
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.shared import Shared
from acp_nvim.session.sign_in import SignIn

Begin = Callable[[AgentPeer, str, Opened], None]


class Connecting:
    """Of one session, which must be in the inbox of its agent when `begin` (peer, session id, answer) has returned.

    `kept`: the session at the agent that is wanted, instead of a new one.
    """

    def __init__(self, agent: str, shared: Shared, narrator: Narrator, sign_in: SignIn, begin: Begin) -> None:
        self.kept: Kept | None = None
        self._agent = agent
        self._shared = shared
        self._narrator = narrator
        self._sign_in = sign_in
        self._begin = begin
        self._scope = anyio.CancelScope()

    def __repr__(self) -> str:
        return f"<Connecting {self._agent} {self.kept}>"

    @property
    def fresh(self) -> bool:
        """Whether the agent knows nothing of the session that is wanted."""
        return self.kept is None

    def cancel(self) -> None:
        """Not wanted any more."""
        self._scope.cancel()

    async def run(self, session: PeerSession, place: Place) -> bool:
        """False when it was cancelled. Raises `FailureError`; a process that serves nobody then is not left running."""
        with anyio.CancelScope() as self._scope:
            await self._connect(session, place)
        return not self._scope.cancelled_caught

    async def _connect(self, session: PeerSession, place: Place) -> None:
        definition = self._shared.find(self._agent)
        peer = await self._shared.peers.obtain(definition, place.cwd)
        peer.hold(self)
        try:
            servers, unusable = usable_servers(definition.mcp_servers, peer.abilities)
            for server in unusable:
                self._narrator.notice("warn", failures.unreachable_server(server.get("name")))
            await self._open(peer, session, msgspec.structs.replace(place, mcp_servers=servers))
        except FailureError as error:
            if error.failure.code == "auth_required":
                self._sign_in.needed(peer, error.failure)
            raise
        finally:
            peer.release(self)

    async def _open(self, peer: AgentPeer, session: PeerSession, place: Place) -> None:
        kept = self.kept
        call = opening(peer, place, kept)
        if kept is None or kept.how == "fork":
            await open_session(peer, call, partial(self._opened, peer, session))
        else:
            await self._take_up(peer, session, kept, call)
        self.kept = None if self.kept is kept else self.kept  # another may be wanted by now

    async def _take_up(self, peer: AgentPeer, session: PeerSession, kept: Kept, call: Call[Opened]) -> None:
        """A session whose id is known: what was said in it may come before the answer."""
        peer.inbox.require_free(kept.session_id, session)
        self._narrator.transcript.begin_agent()
        peer.inbox.adopt(kept.session_id, session)
        try:
            await open_session(peer, call, partial(self._opened, peer, session))
        except BaseException:
            peer.leave(kept.session_id)
            raise

    def _opened(self, peer: AgentPeer, session: PeerSession, opened: Opened) -> None:
        """The session lives from the moment that its answer is read: what the agent says next may be for it."""
        if self._scope.cancel_called:
            return
        session_id = opened.session_id or (self.kept.session_id if self.kept else "")
        peer.inbox.require_free(session_id, session)
        if session_id not in peer.inbox.sessions:
            self._narrator.transcript.begin_agent()
        self._begin(peer, session_id, opened)
        peer.inbox.adopt(session_id, session)
