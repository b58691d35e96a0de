"""The running agent processes: one for an agent and a directory; and what starts the commands that they want run."""

from __future__ import annotations

import anyio
import anyio.abc

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.limits import INITIALIZE_SECONDS
from acp_nvim.process.guarding import Guard
from acp_nvim.session.greeting import PeerSettings
from acp_nvim.session.peer import AgentPeer
from acp_nvim.terminals.launcher import Launcher


class Peers:
    """Starts agents on demand, and all of them end with `tasks`."""

    def __init__(self, tasks: anyio.abc.TaskGroup) -> None:
        self.settings = PeerSettings(INITIALIZE_SECONDS)
        self._tasks = tasks
        self._guard = Guard()
        self.launcher = Launcher(tasks, self._guard)
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
                await peer.start(self._tasks, self._guard)
                self._peers[key] = peer
            return peer
