"""What the host does with a flood of chunks, without Neovim: bytes in, batches out."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import anyio
import msgspec

from acp_nvim.events import Event
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.nvim.batches import Batches
from acp_nvim.protocol.updates import Update
from acp_nvim.session.inbox import AgentInbox
from acp_nvim.session.narrator import Narrator
from tests.support.fake_editor import FakeEditor


@dataclass(frozen=True)
class Folded:
    """Seconds that we take, and that decoding the same lines to plain objects takes."""

    seconds: float
    floor: float


class _Bytes:
    """A pipe that is always full."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    async def receive(self, max_bytes: int) -> bytes:
        piece = self._data[self._at : self._at + max_bytes]
        self._at += len(piece)
        if not piece:
            raise anyio.EndOfStream
        return piece

    async def send(self, item: bytes) -> None:
        """Nothing is said back."""


class _Batching(FakeEditor):
    """An editor that only gathers."""

    def __init__(self) -> None:
        super().__init__()
        self.batches = Batches()

    def publish(self, event: Event) -> None:
        self.batches.add(event)


class _Listener:
    """A session that only narrates."""

    def __init__(self, editor: FakeEditor) -> None:
        self._narrator = Narrator(1, "/", editor, lambda: None)

    def on_update(self, update: Update) -> None:
        self._narrator.update(update)

    def on_caught_up(self) -> None:
        self._narrator.caught_up()

    def on_trouble(self, failure: object) -> None:
        raise AssertionError(failure)

    def on_request(self, method: str, params: msgspec.Raw):
        raise NotImplementedError

    def on_gone(self, failure: object) -> None:
        """Never."""


def chunk_line(number: int) -> bytes:
    """One `agent_message_chunk`."""
    content = {"type": "text", "text": f"some words of text {number} and\n"}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    return json.dumps(message).encode() + b"\n"


def fold(count: int) -> Folded:
    """`count` chunks through connection, peer, narrator and batches."""
    lines = [chunk_line(number) for number in range(count)]
    start = time.perf_counter()
    for one in lines:
        msgspec.json.decode(one)
    floor = time.perf_counter() - start
    start = time.perf_counter()
    anyio.run(_fold, b"".join(lines))
    return Folded(time.perf_counter() - start, floor)


async def _fold(data: bytes) -> None:
    editor = _Batching()
    inbox = AgentInbox("bench")
    inbox.adopt("s", _Listener(editor))
    pipe = _Bytes(data)
    await Connection(pipe, pipe, inbox).run()
    while editor.batches:
        editor.batches.take()
