"""A peer over byte streams in memory: what it says is fed by the test, what it hears is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from acp_nvim.jsonrpc.connection import Connection, Tap
from acp_nvim.jsonrpc.framing import Line


async def all_done() -> None:
    """Until nothing more can happen by itself: nothing here waits for time, so the loop has run out of work then."""
    loop: Any = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while loop._ready:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)


class Source:
    """What the peer says; no more than `max_bytes` at once, like a pipe."""

    def __init__(self) -> None:
        self._says, self._hears = anyio.create_memory_object_stream[bytes](float("inf"))
        self._rest = b""
        self.not_before: list[float] = []

    def put(self, data: bytes) -> None:
        """Let the peer send these bytes."""
        self._says.send_nowait(data)

    def end(self) -> None:
        """Let the peer close its side."""
        self._says.close()

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """Wait for bytes, like `ByteStream.receive` of a pipe."""
        self.not_before.append(not_before)
        await anyio.lowlevel.checkpoint()
        data = self._rest or await self._hears.receive()
        data, self._rest = data[:max_bytes], data[max_bytes:]
        return data

    def close(self) -> None:
        """Close both ends."""
        self._says.close()
        self._hears.close()


class Sink:
    """What the peer hears. It takes nothing while `held`, like a full pipe, and fails while `broken`."""

    def __init__(self) -> None:
        self.data = b""
        self.broken = False
        self._open = anyio.Event()
        self._open.set()

    def hold(self) -> None:
        """Block `send` until `release`."""
        self._open = anyio.Event()

    def release(self) -> None:
        """Let `send` go on."""
        self._open.set()

    async def send(self, item: bytes) -> None:
        """Keep the bytes, unless the pipe is held or broken."""
        await self._open.wait()
        if self.broken:
            raise anyio.BrokenResourceError
        self.data += item


class RecordingHandler:
    """Keeps what it is told, in order; serves with `answer`, which may raise at once, or later, or wait."""

    def __init__(self) -> None:
        self.log: list[tuple[str, Any]] = []
        self.oddities: list[str] = []
        self.words: list[bytes] = []
        self.losses: list[str] = []
        self.bugs: list[Exception] = []
        self.catches = 0
        self.needed_at = 0.0
        self.answer: Callable[[str, Any], Awaitable[Any]] = self.echo

    async def echo(self, method: str, params: Any) -> Any:
        """The default: the request itself is the answer."""
        return {"method": method, "params": params}

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """See `Handler`."""
        self.log.append(("notification", method))
        if method == "explode":
            raise RuntimeError("the handler exploded")

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """See `Handler`."""
        self.log.append(("request", method))
        return self.answer(method, json.loads(bytes(params)) if bytes(params) else None)

    def odd(self, words: str) -> None:
        """See `Handler`."""
        self.oddities.append(words)

    def noise(self, line: bytes) -> None:
        """See `Handler`."""
        self.words.append(line)

    def lost(self, words: str, is_news: bool = False) -> None:
        """See `Handler`."""
        self.losses.append(words)

    def bug(self, error: Exception) -> None:
        """See `Handler`."""
        self.bugs.append(error)

    def parts(self, lines: list[Line]) -> list[list[Line]]:
        """Return all lines in one part."""
        return [lines]

    def text(self, lines: Sequence[Line]) -> bool:
        """Leave all lines to be decoded one by one."""
        return False

    def split_text(self, line: Line) -> bool:
        """Leave halves of characters to the general decoding."""
        return False

    def caught_up(self) -> float:
        """See `Handler`."""
        self.catches += 1
        return self.needed_at


class Peer:
    """The peer at the other side of `connection`."""

    def __init__(self, tap: Tap | None = None, refusals: Mapping[str, Any] | None = None) -> None:
        self.source = Source()
        self.sink = Sink()
        self.handler = RecordingHandler()
        self.connection = Connection(self.source, self.sink, self.handler, tap, refusals=refusals)

    async def say(self, *messages: Any) -> None:
        """Say messages (objects, or bytes as they are), and let everything happen that follows from it."""
        for message in messages:
            self.source.put(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        await all_done()

    async def leave(self) -> None:
        """Close its side, and let everything happen that follows from it."""
        self.source.end()
        await all_done()

    @property
    def heard(self) -> list[Any]:
        """Return all messages that the peer was sent."""
        return [json.loads(line) for line in self.sink.data.splitlines()]


@asynccontextmanager
async def connected(tap: Tap | None = None, refusals: Mapping[str, Any] | None = None) -> AsyncIterator[Peer]:
    """A peer whose connection runs; it leaves at the end, and then nothing is left."""
    peer = Peer(tap, refusals)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.connection.run)
            await all_done()
            yield peer
            peer.source.end()
    finally:
        peer.source.close()
