"""Neovim as the core's `Editor`: events go out in batches, each after the last was applied; buffers are Lua's."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import msgspec

from acp_nvim.editor import BufferText, BufferWrite, FoundOnDisk, TextChange
from acp_nvim.events import Event
from acp_nvim.nvim.batches import Batches
from acp_nvim.nvim.pace import Pace
from acp_nvim.nvim.rpc import NvimError, NvimRpc

log = logging.getLogger(__name__)

EVENTS = "acp_nvim.events"
BUFFERS = "acp_nvim.buffers"


class NvimEditor:
    """Implements `acp_nvim.editor.Editor`. `run` must be running for events to arrive."""

    def __init__(self, rpc: NvimRpc) -> None:
        self._rpc = rpc
        self._batches = Batches()
        self._pace = Pace()
        self._filled = anyio.Event()
        self._applied = anyio.Event()
        self._applying: list[dict[str, Any]] = []

    def __repr__(self) -> str:
        return f"<NvimEditor {self._batches!r}>"

    def publish(self, event: Event) -> None:
        """It goes out with the next batch."""
        self._batches.add(event)
        self._filled.set()

    async def told(self, session: int) -> None:
        """See `Editor`."""
        while self._batches.waits_for(session) or any(one.get("session") == session for one in self._applying):
            await self._applied.wait()

    async def run(self) -> None:
        """Send batches: the first after a pause at once, the next when it was applied, at the editor's pace."""
        while True:
            await self._filled.wait()
            self._filled = anyio.Event()
            while self._batches:
                sent = anyio.current_time()
                retold = self._batches.retold
                batch = self._batches.take(self._pace.limit(retold))
                more_waits = self._batches.backlog
                self._applying = batch
                seconds = await self._send(batch)
                self._applying = []
                self._applied.set()
                self._applied = anyio.Event()
                self._pace.applied(seconds, more_waits, retold)
                await anyio.sleep_until(self._pace.next_at(sent, anyio.current_time(), seconds, more_waits, retold))

    async def read_buffer(self, path: str, known: str) -> BufferText | None:
        """See `Editor`."""
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "read", path, known), BufferText | None)

    async def saved_text(self, path: str) -> str | None:
        """See `Editor`."""
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "saved_text", path), str | None)

    async def obstacle(self, path: str) -> str | None:
        """See `Editor`."""
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "obstacle", path), str | None)

    async def write_buffer(self, path: str, change: TextChange, state: str, save: bool) -> BufferWrite | None:
        """See `Editor`."""
        told = msgspec.to_builtins(change)
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "write", path, told, state, save), BufferWrite | None)

    async def follow_disk(self, path: str, state: str, found: FoundOnDisk) -> BufferWrite | None:
        """See `Editor`."""
        told = msgspec.to_builtins(found)
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "follow_disk", path, state, told), BufferWrite | None)

    async def file_gone(self, path: str) -> bool:
        """See `Editor`."""
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "file_gone", path), bool)

    async def file_moved(self, path: str, new: str) -> bool:
        """See `Editor`."""
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "file_moved", path, new), bool)

    async def file_removed(self, path: str) -> None:
        """See `Editor`."""
        await self._rpc.call_lua(BUFFERS, "file_removed", path)

    async def stale_buffers(self) -> list[str]:
        """See `Editor`."""
        return msgspec.convert(await self._rpc.call_lua(BUFFERS, "stale"), list[str])

    async def _send(self, batch: list[dict[str, Any]]) -> float | None:
        """How many seconds of the processor Lua took for it, when it says that."""
        try:
            milliseconds = await self._rpc.call_lua(EVENTS, "apply", batch)
        except NvimError:
            log.exception("Neovim could not take a batch of %d events", len(batch))
            return None
        return None if milliseconds is None else float(milliseconds) / 1000
