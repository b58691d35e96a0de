"""The running agent processes: one for an agent and a directory; and what starts the commands that they want run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.limits import INITIALIZE_SECONDS
from acp_nvim.limits.lives import GONE_SECONDS
from acp_nvim.process.guarding import guard_of_host
from acp_nvim.protocol.elicitation import ElicitationAsked
from acp_nvim.session.greeting import PeerSettings
from acp_nvim.session.idle import stop_when_idle
from acp_nvim.session.peer import AgentPeer
from acp_nvim.tasks import Tasks
from acp_nvim.terminals.launcher import Launcher
from acp_nvim.wire.elicitation import CreateElicitationResponse


async def _nobody(_peer: AgentPeer, _asked: ElicitationAsked) -> CreateElicitationResponse:
    """No chat is there to ask the user in."""
    return CreateElicitationResponse(action="cancel")


class Peers:
    """Starts agents on demand, and all of them end with `tasks`."""

    def __init__(self, tasks: Tasks) -> None:
        self.settings = PeerSettings(INITIALIZE_SECONDS)
        self.ask_user: Callable[[AgentPeer, ElicitationAsked], Awaitable[Any]] = _nobody
        """Takes what an agent asks the user about no session."""
        self._tasks = tasks
        self._guard = guard_of_host()
        self.launcher = Launcher(self._guard)
        self._peers: dict[tuple[str, str], AgentPeer] = {}
        self._starting: dict[tuple[str, str], anyio.Lock] = {}

    def __repr__(self) -> str:
        return f"<Peers {list(self._peers.values())}>"

    async def obtain(self, definition: AgentDefinition, cwd: str) -> AgentPeer:
        """The running agent, started if it is not running. Raises `FailureError`."""
        key = (definition.name, cwd)
        async with self._starting.setdefault(key, anyio.Lock()):
            peer = self._peers.get(key)
            if peer is None or not peer.alive or peer.definition != definition or peer.settings.v2 != self.settings.v2:
                peer = AgentPeer(definition, cwd, self.settings)
                peer.inbox.ask_user = partial(self.ask_user, peer)
                await peer.start(self._tasks, self._guard)
                self._peers[key] = peer
                self._tasks.spawn(stop_when_idle, peer, partial(self._idle_seconds, peer.definition))
            return peer

    def write_ends(self, directory: str) -> None:
        """When agents end is written down there, see `process/last_moments.py`."""
        self._guard.moments = directory

    def known(self) -> list[AgentPeer]:
        """All that run, and those that ran last for their agent and directory."""
        return list(self._peers.values())

    def _idle_seconds(self, definition: AgentDefinition) -> float:
        own = definition.idle_seconds
        return self.settings.idle_seconds if own is None else own

    async def settled(self, name: str, cwd: str) -> None:
        """Until a process that is being ended is gone: it may still write down what the next one is to read."""
        peer = self._peers.get((name, cwd))
        if peer is not None and not peer.alive:
            with anyio.move_on_after(GONE_SECONDS):
                await peer.gone.wait()

    def retire(self, peer: AgentPeer) -> None:
        """Who wants that agent gets another process from now on; those who use this one keep it."""
        key = (peer.name, peer.cwd)
        if self._peers.get(key) is peer:
            del self._peers[key]
