"""The running agent processes: one for an agent and a directory; and what starts the commands that they want run."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import anyio

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.schema_common import CreateElicitationResponse
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.limits import INITIALIZE_SECONDS
from acp_nvim.process.guarding import guard_of_host
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.startup import PeerSettings
from acp_nvim.tasks import Tasks, contained

log = logging.getLogger(__name__)

GONE_SECONDS: Final = 10.0
"""Time for a process to be gone before another reopens its sessions: it may be writing them down."""


async def nobody(_peer: AgentPeer, _asked: ElicitationAsked) -> CreateElicitationResponse:
    """No chat is there to ask the user in."""
    return CreateElicitationResponse(action="cancel")


class Peers:
    """Starts agents on demand, and all of them end with `tasks`."""

    def __init__(self, tasks: Tasks) -> None:
        self.settings = PeerSettings(INITIALIZE_SECONDS)
        self.ask_user: Callable[[AgentPeer, ElicitationAsked], Awaitable[Any]] = nobody
        """Takes what an agent asks the user about no session."""
        self._tasks = tasks
        self._guard = guard_of_host()
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
                peer.router.ask_user = partial(self.ask_user, peer)
                await peer.start(self._tasks, self._guard)
                self._peers[key] = peer
                self._tasks.spawn(stop_when_idle, peer, partial(self._idle_seconds, peer.definition))
            return peer

    def write_ends(self, directory: str) -> None:
        """When agents end is written down there, see `process/end_times.py`."""
        self._guard.ends = directory

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
        """Start the agent in a new process for others from now on; those who use this one keep it."""
        key = (peer.name, peer.cwd)
        if self._peers.get(key) is peer:
            del self._peers[key]


IDLE_LOOK_SECONDS: Final = 60.0
"""Time until somebody looks again, at the latest: a process that was busy is not any more, the user set another."""


async def stop_when_idle(peer: AgentPeer, seconds: Callable[[], float]) -> None:
    """Look after it until it is gone. `seconds` without a word, as they are set now; 0: it is left alone."""
    while peer.alive:
        limit = seconds()
        left = peer.last_word + limit - anyio.current_time() if limit else IDLE_LOOK_SECONDS
        if left <= 0 and _is_dispensable(peer):
            log.info("%s: is stopped, nothing happened for %g s", peer.name, limit)
            for session in list(peer.router.sessions.values()):
                with contained("stopping an idle agent", session.on_bug):
                    session.on_idle()
            peer.leave(None)
            return
        await _gone_within(peer, min(left, IDLE_LOOK_SECONDS) if left > 0 else min(limit, IDLE_LOOK_SECONDS))


def _is_dispensable(peer: AgentPeer) -> bool:
    """Whether nothing goes on, and everything can be taken up again."""
    return (
        not peer.held
        and (peer.abilities.resume or peer.abilities.load)
        and not any(session.is_busy for session in peer.router.sessions.values())
    )


async def _gone_within(peer: AgentPeer, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await peer.gone.wait()


ASKED_SECONDS: Final = 60.0
"""That an agent which has listed its sessions is kept without one: the user chooses meanwhile, or wants more."""


class AgentLeases:
    """`find` knows the agents by name; it raises `FailureError`."""

    def __init__(self, find: Callable[[str], AgentDefinition], peers: Peers, tasks: Tasks) -> None:
        self._find = find
        self._peers = peers
        self._tasks = tasks

    def __repr__(self) -> str:
        return f"<AgentLeases {self._peers!r}>"

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
