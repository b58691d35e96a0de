"""What the host does with a flood of chunks, without Neovim: bytes in, batches out."""

from __future__ import annotations

import itertools
import json
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import anyio
import msgspec

from acp_nvim.acp.field_limits import TEXT_CHARS
from acp_nvim.acp.updates import Update
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.connection.router import MessageRouter
from acp_nvim.contract.events import Event
from acp_nvim.jsonrpc.connection import Connection
from acp_nvim.neovim.batches import Batches
from acp_nvim.transcript.presenter import Presenter
from tests.support.fake_editor import FakeEditor


@dataclass(frozen=True)
class Folded:
    """Seconds of CPU that we take, and that decoding the same lines to plain objects takes."""

    seconds: float
    floor: float


@dataclass(frozen=True)
class Grown:
    """Bytes of memory for a byte of text: while all of it waits for the editor, and when it was taken."""

    waiting: float
    taken: float


class _Bytes:
    """A pipe that is always full."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        piece = self._data[self._at : self._at + max_bytes]
        self._at += len(piece)
        if not piece:
            raise anyio.EndOfStream
        return piece

    async def send(self, item: bytes) -> None:
        """Drop the answers."""


class _Lines(_Bytes):
    """Makes its chunks as they are read, so that they are no memory of ours."""

    def __init__(self, count: int) -> None:
        super().__init__(b"")
        self._numbers = iter(range(count))

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        piece = b"".join(chunk_line(number) for number in itertools.islice(self._numbers, 400))
        if not piece:
            raise anyio.EndOfStream
        return piece


class _Batching(FakeEditor):
    """An editor that only gathers batches."""

    def __init__(self) -> None:
        super().__init__()
        self.batches = Batches()

    def publish(self, event: Event) -> None:
        self.batches.add(event)

    def drain(self) -> Iterator[list[dict[str, object]]]:
        """Batch after batch, as an editor takes them."""
        while self.batches:
            yield self.batches.take()


class _Listener:
    """A session that only presents updates."""

    def __init__(self, editor: FakeEditor) -> None:
        self._presenter = Presenter(1, "/", editor, lambda: None)

    def on_update(self, update: Update) -> None:
        self._presenter.update(update)

    def on_caught_up(self) -> None:
        self._presenter.caught_up()

    def on_trouble(self, failure: object) -> None:
        raise AssertionError(failure)

    def on_request(self, method: str, params: msgspec.Raw):
        raise NotImplementedError

    def on_gone(self, failure: object) -> None:
        """Not called here."""


def chunk_line(number: int, message_id: str | None = None) -> bytes:
    """Return one `agent_message_chunk`."""
    return _line(f"some words of text {number} and\n", {} if message_id is None else {"messageId": message_id})


def _line(text: str, more: dict[str, str]) -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **more}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    return json.dumps(message).encode() + b"\n"


def fold(count: int, v2: bool = False) -> Folded:
    """`count` chunks through connection, router, presenter and batches."""
    lines = [chunk_line(number, "m" if v2 else None) for number in range(count)]
    start = time.process_time()
    for one in lines:
        msgspec.json.decode(one)
    floor = time.process_time() - start
    editor = _Batching()
    start = time.process_time()
    anyio.run(_run, editor, _Bytes(b"".join(lines)), v2)
    drained = sum(len(str(event["text"])) for batch in editor.drain() for event in batch)
    seconds = time.process_time() - start
    assert drained == sum(len(f"some words of text {number} and\n") for number in range(count))
    return Folded(seconds, floor)


def memory(count: int) -> Grown:
    """What `count` chunks leave behind, after the editor took all of it, and if it takes nothing."""
    text = sum(len(f"some words of text {number} and\n") for number in range(count))
    tracemalloc.start()
    try:
        editor, before = _Batching(), tracemalloc.get_traced_memory()[0]
        listener = anyio.run(_run, editor, _Lines(count), False)
        waiting = tracemalloc.get_traced_memory()[0] - before
        for _ in editor.drain():
            pass
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert listener is not None
    return Grown(waiting / text, taken / text)


def long_line(megabytes: int) -> float:
    """Seconds of CPU for one message of that size, from bytes to batches."""
    editor = _Batching()
    line = _line("x" * (megabytes * 2**20 - 200), {})
    start = time.process_time()
    anyio.run(_run, editor, _Bytes(line), False)
    size = sum(len(str(event["text"])) for batch in editor.drain() for event in batch)
    assert size == TEXT_CHARS  # the rest of it is left out, and said so
    return time.process_time() - start


async def _run(editor: _Batching, pipe: _Bytes | _Lines, v2: bool) -> _Listener:
    router, listener = MessageRouter("bench"), _Listener(editor)
    if v2:
        router.dialect = DialectV2()
    router.adopt("s", listener)
    await Connection(pipe, pipe, router).run()
    return listener
