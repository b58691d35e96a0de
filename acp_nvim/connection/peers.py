"""The running agent processes: one for each agent and directory."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import anyio

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.schema_common import CreateElicitationResponse
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.agents.first_agent import FirstAgent
from acp_nvim.connection.command_forms import start_known_form, with_command
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.startup import PeerSettings
from acp_nvim.errors import FailureError
from acp_nvim.limits import INITIALIZE_SECONDS
from acp_nvim.process.child import Child, ChildProcesses
from acp_nvim.tasks import Tasks

log = logging.getLogger(__name__)

GONE_SECONDS: Final = 10.0
"""Time for a process to end before another reopens its sessions: it may still be writing them."""
PREWARMED_SECONDS: Final = 1800.0
"""Time that an agent is kept which was started ahead, and which nobody has used."""
ASKED_SECONDS: Final = 60.0
"""Time that an agent without sessions is kept after it has listed its sessions: the user may choose one."""


async def nobody(_peer: AgentPeer, _asked: ElicitationAsked) -> CreateElicitationResponse:
    """Cancel an elicitation for which there is no chat."""
    return CreateElicitationResponse(action="cancel")


class Peers:
    """Starts agents on demand; all of them end with `tasks`. `next_batch` is that of the editor.

    `first` is a process that was started early: for the first agent that is obtained; it is stopped if that is another.
    """

    def __init__(
        self,
        tasks: Tasks,
        processes: ChildProcesses,
        next_batch: Callable[[], float],
        first: FirstAgent | None = None,
    ) -> None:
        self.settings = PeerSettings(INITIALIZE_SECONDS)
        self.ask_user: Callable[[AgentPeer, ElicitationAsked], Awaitable[Any]] = nobody
        """Serves an agent's question to the user that names no session."""
        self._tasks = tasks
        self._next_batch = next_batch
        self._processes = processes
        self._peers: dict[tuple[str, str], AgentPeer] = {}
        self._starting: dict[tuple[str, str], anyio.Lock] = {}
        self._newest: dict[tuple[str, str], AgentPeer] = {}  # also those that are being started
        self._first = first
        self._forms: dict[str, list[str]] = {}  # the commands with which agents were started

    async def obtain(self, definition: AgentDefinition, cwd: str, by: str = "") -> AgentPeer:
        """Return the agent's process, started for the chat `by` if it does not run. Raises `FailureError`."""
        key = (definition.name, cwd)
        async with self._starting.setdefault(key, anyio.Lock()):
            form = self._forms.get(definition.name)
            if form in definition.other_commands:  # the form that its version knows, perhaps found out meanwhile
                definition = with_command(definition, form)
            peer = self._peers.get(key)
            if peer is None or not peer.alive or peer.definition != definition or peer.settings.v2 != self.settings.v2:
                new, started = partial(self._new, cwd, by), self._started(definition, cwd)
                peer = await start_known_form(definition, new, self._tasks, self._processes, started)
                self._forms[definition.name] = peer.definition.command
                self._peers[key] = peer
                self._tasks.spawn(peer.stop_when_idle, partial(self._idle_seconds, definition))
            return peer

    def _new(self, cwd: str, by: str, definition: AgentDefinition) -> AgentPeer:
        peer = self._newest[definition.name, cwd] = AgentPeer(definition, cwd, self.settings)
        peer.started_by = by
        peer.router.ask_user = partial(self.ask_user, peer)
        peer.router.next_batch = self._next_batch
        return peer

    def _started(self, definition: AgentDefinition, cwd: str) -> Child | None:
        """Return the process that was started early, if it is the wanted one; another one is stopped."""
        first, self._first = self._first, None
        if first is None or first.serves(definition, cwd):
            return None if first is None else first.child
        self._tasks.spawn(first.child.stop)
        return None

    def known(self) -> list[AgentPeer]:
        """Return the latest process of each agent and directory, which may have ended."""
        return list(self._peers.values())

    def newest(self, name: str, cwd: str) -> AgentPeer | None:
        """Return the latest process, which may have ended, or be starting; then `obtain` waits for that."""
        return self._newest.get((name, cwd))

    async def settled(self, name: str, cwd: str) -> None:
        """Wait for a process that is being stopped: it may still write what the next one will read."""
        peer = self._peers.get((name, cwd))
        if peer is not None and not peer.alive:
            await peer.wait_gone(GONE_SECONDS)

    def retire(self, peer: AgentPeer) -> None:
        """Start the agent in a new process from now on; the sessions of this one keep it."""
        key = (peer.name, peer.cwd)
        if self._peers.get(key) is peer:
            del self._peers[key]

    def _idle_seconds(self, definition: AgentDefinition) -> float:
        return self.settings.idle_seconds if definition.idle_seconds is None else definition.idle_seconds


class AgentLeases:
    """Lends processes for requests outside of chats; `find` returns agents by name and raises `FailureError`."""

    def __init__(self, find: Callable[[str], AgentDefinition], peers: Peers, tasks: Tasks) -> None:
        self._find = find
        self._peers = peers
        self._tasks = tasks

    async def peer(self, agent: str, cwd: str) -> AgentPeer:
        """Return a process of the agent: one that works in `cwd`, else any, else a new one. Raises `FailureError`.

        It is kept for `ASKED_SECONDS`.
        """
        running = [one for one in self._peers.known() if one.alive and one.name == agent]
        peer = next((one for one in running if one.cwd == cwd), running[0] if running else None)
        if peer is None:
            peer = await self._peers.obtain(self._find(agent), cwd)
        self._hold(peer, ASKED_SECONDS)
        return peer

    async def prewarm(self, agent: str, cwd: str) -> None:
        """Start the agent in `cwd` for a session that the user will probably open; a failure is logged."""
        try:
            peer = await self._peers.obtain(self._find(agent), cwd)
        except FailureError as error:
            log.info("%s: was not started ahead: %s", agent, error.failure)
        else:
            if not peer.is_used:
                self._hold(peer, PREWARMED_SECONDS, until_used=True)

    def _hold(self, peer: AgentPeer, seconds: float, until_used: bool = False) -> None:
        holder = object()
        peer.hold(holder, until_used)

        def failed(error: Exception) -> None:
            peer.release(holder)  # the task may not have begun
            self._tasks.on_failure(error)

        self._tasks.owned_by(failed).spawn(self._release, peer, holder, seconds)

    @staticmethod
    async def _release(peer: AgentPeer, holder: object, seconds: float) -> None:
        await peer.wait_gone(seconds)
        peer.release(holder)
