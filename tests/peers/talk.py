"""A conversation with a peer through the real core: what is done in it, what an editor shows of it, what was sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from acp_nvim.acp.dialect import Call, Dialect
from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events
from acp_nvim.contract.messages import Open
from acp_nvim.session.session import Session
from tests.core.session.host import Host, running_host
from tests.peers.peers import Peer
from tests.peers.record import Record
from tests.peers.servers import Servers
from tests.support.processes import processes

Shown = tuple[str, Any]

T = TypeVar("T")


class Talk:
    """The host, with a peer as its agent `it`."""

    def __init__(self, host: Host, peer: Peer, socket: Path | None = None) -> None:
        self.host = host
        self.peer = peer
        self.record = Record(host.directory / "record")
        self.refusals: list[tuple[str, int]] = []
        """Those that the test expects of the agent."""
        host.config["agents"]["it"] = {"command": peer.command(host.directory / "record", socket)}
        host.hello(protocol={"v2": peer.v2})

    def session(self, key: int = 1) -> Session:
        """Return a session of the host."""
        return self.host.app.sessions[key]

    @property
    def dialect(self) -> Dialect:
        """The protocol version that the agent speaks."""
        return self._agent.dialect

    async def call(self, call: Call[T]) -> T:
        """What the agent answers to that request."""
        return await send(self._agent, call)

    @property
    def _agent(self) -> AgentPeer:
        peer = self.session().peer
        assert peer is not None
        return peer

    async def open(self, key: int = 1) -> Session:
        """A new session that takes prompts."""
        self.host.open(key)
        await self.host.until_state("idle", key)
        return self.session(key)

    async def restore(self, session_id: str, how: Literal["load", "resume"], key: int = 2) -> Session:
        """A session that the agent kept, once it takes prompts."""
        session = self.begin_restoring(session_id, how, key)
        await self.host.until_state("idle", key)
        return session

    def begin_restoring(self, session_id: str, how: Literal["load", "resume"], key: int = 2) -> Session:
        """Ask for a session that the agent kept."""
        session = self.host.app.new_session(Open(session=key, cwd=str(self.host.cwd), agent="it"))
        session.restore(session_id, how)
        return session

    async def permission(self, count: int = 1) -> events.RequestView:
        """Wait for the `count`-th permission request."""
        return (await self.host.editor.until_event(events.Permission, count)).request

    async def say(self, text: str, key: int = 1) -> str:
        """A prompt: what the agent says to it."""
        before = self.host.text("agent", key)
        await self.host.turn(text, key)
        return self.host.text("agent", key).removeprefix(before)

    async def until_sent(self, method: str, count: int = 1) -> list[Any]:
        """The params of the messages of a method, once they are that many; the record may be a moment behind."""
        await self.host.until(f"{count} {method} in the record", lambda: len(self.record.requests(method)) >= count)
        return self.record.requests(method)

    def shown(self, key: int = 1) -> list[Shown]:
        """The transcript as an editor shows it: what kind of block, and what it holds now."""
        blocks: dict[int, Shown] = {}
        for event in self.host.editor.events:
            if isinstance(event, events.Reset) and event.session == key:
                blocks.clear()
            elif getattr(event, "session", None) == key and hasattr(event, "block"):
                blocks[event.block] = _fold(event, blocks.get(event.block))
        return [blocks[number] for number in sorted(blocks)]

    def of(self, kind: str, key: int = 1) -> list[Any]:
        """What the blocks of a kind hold."""
        return [value for one, value in self.shown(key) if one == kind]


def _fold(event: Any, before: Shown | None) -> Shown:
    match event:
        case events.Append():
            return event.kind, (before[1] if before else "") + event.text
        case events.Replace():
            return event.kind, event.text
        case events.ToolCall():
            return "call", event.call
        case events.Plan():
            return "plan", [(step.content, step.priority, step.status) for step in event.entries]
        case events.Notice():
            return event.level, event.text
        case events.Permission():
            return "permission", "open"
        case events.PermissionDone():
            return "permission", event.option_id or event.outcome
    raise AssertionError(event)


@asynccontextmanager
async def talking(directory: Path, peer: Peer, servers: Servers | None) -> AsyncIterator[Talk]:
    """Run a host with the peer, a process if there are no `servers`; check at the end what was sent and is left."""
    async with running_host(directory) as host:
        talk = Talk(host, peer, servers and servers.socket(peer.script))
        yield talk
    assert [str(one) for one in processes() if str(directory) in " ".join(one.command)] == []
    assert talk.record.stderr() == ""
    assert servers is None or servers.stderr() == ""
    assert talk.record.refusals() == talk.refusals
    assert talk.record.complaints(peer.version, peer.schema) == []
