"""Reads the stdout of a process, with fewer steps of the event loop for each read than a stream of anyio takes."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.abc
import anyio.lowlevel

from acp_nvim.limits import READ_BYTES

WAITING_BYTES: Final = 2 * READ_BYTES
"""Output that may wait to be received; beyond it the pipe is not read, and the process has to wait."""
STDOUT: Final = 1


class PipeReader(asyncio.Protocol):
    """The stdout of a process that was started with `anyio.open_process`; nothing else may read it."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdout is not None
        started: Any = process
        self._pipe: asyncio.ReadTransport = started._transport.get_pipe_transport(STDOUT)
        self._stream: asyncio.StreamReader = started.stdout._stream
        self._process_end = self._pipe.get_protocol()  # must learn of the end: the process waits for it
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._is_over = self._is_paused = False
        self._loop = asyncio.get_running_loop()
        self._news: asyncio.Future[None] | None = None
        self._loop.call_soon(self._take_earlier, self._pipe.is_closing())
        self._pipe.set_protocol(self)

    def __repr__(self) -> str:
        return f"<PipeReader {self._size} bytes waiting{', over' if self._is_over else ''}>"

    async def receive(self, max_bytes: int = READ_BYTES, not_before: float = 0.0) -> bytes:
        """See `ByteSource`: until `not_before` nothing is read, which would wake this process for each line."""
        if self._pieces or self._is_over:
            await anyio.lowlevel.checkpoint()
        else:
            await self._next(not_before)
        if not self._pieces:
            raise anyio.EndOfStream
        piece = self._pieces.popleft()
        if len(piece) > max_bytes:
            self._pieces.appendleft(piece[max_bytes:])
            piece = piece[:max_bytes]
        self._size -= len(piece)
        if self._is_paused and self._size <= READ_BYTES:
            self._is_paused = False
            self._pipe.resume_reading()
        return piece

    def resume(self) -> None:
        """Read again if reading is paused and nobody receives: asyncio closes the pipe when it meets its end."""
        if not self._is_paused:
            self._pipe.resume_reading()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._pieces.append(data)
        self._size += len(data)
        if self._size > WAITING_BYTES:
            self._is_paused = True
            self._pipe.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`; what was read before can still be received."""
        self._is_over = True
        self._wake()
        self._process_end.connection_lost(exc)

    def _take_earlier(self, is_over: bool) -> None:
        """Take what was read for the stream of anyio, in the step after the last of it was fed."""
        earlier: bytearray = getattr(self._stream, "_buffer")  # noqa: B009  # mypy does not know it
        if earlier:
            self._pieces.appendleft(bytes(earlier))
            self._size += len(earlier)
            earlier.clear()
        self._is_over = self._is_over or is_over
        if self._is_over or self._pieces:
            self._wake()

    async def _next(self, not_before: float) -> None:
        self._news = self._loop.create_future()
        if not_before <= self._loop.time():
            self._pipe.resume_reading()
            await self._news
            return
        self._pipe.pause_reading()
        timer = self._loop.call_at(not_before, self._read_on)
        try:
            await self._news
        finally:
            timer.cancel()
            if not self._pieces:
                self._pipe.resume_reading()

    def _read_on(self) -> None:
        """Read at once what came during a pause; if that is nothing, wait for it."""
        if not self._pipe.is_closing():
            with suppress(OSError):  # BlockingIOError: nothing came. Whatever else it is, asyncio meets it, too
                if data := os.read(self._pipe.get_extra_info("pipe").fileno(), READ_BYTES):
                    self.data_received(data)
                    return
        self._pipe.resume_reading()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
