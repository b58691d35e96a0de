"""Agents that are asked something beside their conversations: their processes are kept while the user looks at it."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.limits.sessions import ASKED_SECONDS
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.peers import Peers
from acp_nvim.tasks import Tasks


class AskedAgents:
    """`find` knows the agents by name; it raises `FailureError`."""

    def __init__(self, find: Callable[[str], AgentDefinition], peers: Peers, tasks: Tasks) -> None:
        self._find = find
        self._peers = peers
        self._tasks = tasks

    def __repr__(self) -> str:
        return f"<AskedAgents {self._peers!r}>"

    async def peer(self, agent: str, cwd: str) -> AgentPeer:
        """A process of that agent: one that works there, else any, else a new one. Raises `FailureError`."""
        running = [one for one in self._peers.known() if one.alive and one.name == agent]
        peer = next((one for one in running if one.cwd == cwd), running[0] if running else None)
        if peer is None:
            peer = await self._peers.obtain(self._find(agent), cwd)
        holder = object()
        peer.hold(holder)

        def failed(error: Exception) -> None:
            peer.release(holder)  # the task may not have begun
            self._tasks.on_failure(error)

        self._tasks.owned_by(failed).spawn(self._release, peer, holder)
        return peer

    @staticmethod
    async def _release(peer: AgentPeer, holder: object) -> None:
        """It is needed again soon, for what the user chooses."""
        with anyio.move_on_after(ASKED_SECONDS):
            await peer.gone.wait()
        peer.release(holder)
