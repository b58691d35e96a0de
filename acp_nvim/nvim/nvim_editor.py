"""Neovim as the core's `Editor`: events go out in batches, each after the last was applied; buffers are Lua's."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import msgspec

from acp_nvim.editor import BufferText, BufferWrite
from acp_nvim.events import Event
from acp_nvim.limits import FRAME_SECONDS
from acp_nvim.nvim.batches import Batches
from acp_nvim.nvim.rpc import NvimError, NvimRpc

log = logging.getLogger(__name__)

EVENTS = "acp_nvim.events"
BUFFERS = "acp_nvim.buffers"


class NvimEditor:
    """Implements `acp_nvim.editor.Editor`. `run` must be running for events to arrive."""

    def __init__(self, rpc: NvimRpc) -> None:
        self._rpc = rpc
        self._batches = Batches()
        self._filled = anyio.Event()

    def __repr__(self) -> str:
        return f"<NvimEditor {self._batches!r}>"

    def publish(self, event: Event) -> None:
        """It goes out with the next batch."""
        self._batches.add(event)
        self._filled.set()

    async def run(self) -> None:
        """Send batches: the first after a pause at once, the next when it was applied and a frame has passed."""
        while True:
            await self._filled.wait()
            self._filled = anyio.Event()
            while self._batches:
                not_before = anyio.current_time() + FRAME_SECONDS
                await self._send(self._batches.take())
                await anyio.sleep_until(not_before)

    async def read_buffer(self, path: str) -> BufferText | None:
        """See `Editor`."""
        answer = await self._rpc.call_lua(BUFFERS, "read", path)
        return msgspec.convert(answer, BufferText | None)

    async def write_buffer(self, path: str, text: str, tick: int, save: bool) -> BufferWrite | None:
        """See `Editor`."""
        answer = await self._rpc.call_lua(BUFFERS, "write", path, text, tick, save)
        return msgspec.convert(answer, BufferWrite | None)

    async def _send(self, batch: list[dict[str, Any]]) -> None:
        try:
            await self._rpc.call_lua(EVENTS, "apply", batch)
        except NvimError:
            log.exception("Neovim could not take a batch of %d events", len(batch))
