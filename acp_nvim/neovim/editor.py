"""Neovim as the core's `Editor`: sends events in batches, each after the last was applied, and asks Lua for buffers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import msgspec

from acp_nvim import decoders
from acp_nvim.contract.editor import BufferText, BufferWrite, FoundOnDisk, TextChange, ToolAnswer, UnopenedFile
from acp_nvim.contract.events import Event
from acp_nvim.limits import FRAME_SECONDS
from acp_nvim.neovim.batches import Batches
from acp_nvim.neovim.pace import Pace
from acp_nvim.neovim.rpc import NvimError, NvimRpc, UnsendableError
from acp_nvim.tasks import failed

log = logging.getLogger(__name__)

EVENTS = "acp_nvim.events"
BUFFERS = "acp_nvim.buffers"
TOOLS = "acp_nvim.mcp"
BUFFER_FUNCTIONS = {
    "read_buffer": "read",
    "saved_text": "saved_text",
    "unopened": "unopened",
    "write_buffer": "write",
    "follow_disk": "follow_disk",
    "file_gone": "file_gone",
    "file_moved": "file_moved",
    "file_removed": "file_removed",
    "stale_buffers": "stale",
    "untracked_buffers": "untracked",
}
"""Methods of `Editor`, and the functions of the Lua module `BUFFERS` that implement them."""


class NvimEditor:
    """Implements `acp_nvim.contract.editor.Editor`; `run` sends the published events."""

    def __init__(self, rpc: NvimRpc) -> None:
        self._rpc = rpc
        self.on_lost: Callable[[int | None, Exception], None] = lambda session, error: None
        """Called when an event of a session (None: of no session) cannot be sent."""
        self._batches = Batches()
        self._batches.on_lost = self._lost
        self._pace = Pace()
        self._before_batch: dict[Callable[[], None], None] = {}  # ordered
        self._filled = anyio.Event()
        self._applied = anyio.Event()
        self._next_at = 0.0
        self._applying: list[dict[str, Any]] = []

    def publish(self, event: Event) -> None:
        """Add an event to the next batch. Never raises: `on_lost` is called for one that cannot be sent."""
        try:
            self._batches.add(event)
        except Exception as error:
            self._lost(getattr(event, "session", None), error)
        self._filled.set()

    def next_batch(self) -> float:
        """See `Editor`."""
        now, waits = anyio.current_time(), bool(self._batches or self._before_batch)
        # what waits is sent at once if the time has come, and what is published later a frame after it
        return now + FRAME_SECONDS if waits and self._next_at <= now else self._next_at

    def before_batch(self, publish: Callable[[], None]) -> None:
        """See `Editor`."""
        self._before_batch[publish] = None
        self._filled.set()

    async def told(self, session: int) -> None:
        """See `Editor`."""
        self._publish_rest()
        mark = self._batches.mark(session)
        while self._batches.waits(mark):
            await self._applied.wait()
        if any(one.get("session") == session for one in self._applying):
            await self._applied.wait()

    async def run(self) -> None:
        """Send batches forever: the first after a pause at once, the next when the last was applied, as `Pace` says."""
        while True:
            await self._filled.wait()
            self._filled = anyio.Event()
            while self._batches or self._before_batch:
                try:
                    await self._send_batch()
                except Exception as error:
                    failed("sending events to Neovim", error, partial(self.on_lost, None))
                    await anyio.sleep(FRAME_SECONDS)

    async def _send_batch(self) -> None:
        self._publish_rest()
        sent = anyio.current_time()
        self._next_at = sent + FRAME_SECONDS
        batch = self._batches.take(self._pace.room)
        more_waits = self._batches.backlog
        self._applying = batch
        try:
            seconds = await self._send(batch)
        finally:
            self._applying = []
            self._applied.set()
            self._applied = anyio.Event()
        self._pace.applied(seconds, more_waits)
        now = anyio.current_time()
        self._next_at = self._pace.next_at(sent, now, seconds, more_waits)
        await anyio.sleep(max(0.0, self._next_at - now))

    def _publish_rest(self) -> None:
        """Publish what was put off until the next batch."""
        waiting, self._before_batch = self._before_batch, {}
        for publish in waiting:
            try:
                publish()
            except Exception as error:
                failed("publishing events", error, partial(self.on_lost, None))

    async def read_buffer(self, path: str, known: str) -> BufferText | None:
        """See `Editor`."""
        return decoders.convert(await self._ask("read_buffer", path, known), BufferText | None)

    async def saved_text(self, path: str) -> str | None:
        """See `Editor`."""
        return decoders.convert(await self._ask("saved_text", path), str | None)

    async def unopened(self, path: str) -> UnopenedFile:
        """See `Editor`."""
        return decoders.convert(await self._ask("unopened", path), UnopenedFile)

    async def write_buffer(self, path: str, change: TextChange, state: str, save: bool) -> BufferWrite | None:
        """See `Editor`."""
        return decoders.convert(await self._ask("write_buffer", path, change, state, save), BufferWrite | None)

    async def follow_disk(self, path: str, state: str, found: FoundOnDisk) -> BufferWrite | None:
        """See `Editor`."""
        return decoders.convert(await self._ask("follow_disk", path, state, found), BufferWrite | None)

    async def file_gone(self, path: str) -> bool:
        """See `Editor`."""
        return decoders.convert(await self._ask("file_gone", path), bool)

    async def file_moved(self, path: str, new: str) -> bool:
        """See `Editor`."""
        return decoders.convert(await self._ask("file_moved", path, new), bool)

    async def file_removed(self, path: str) -> None:
        """See `Editor`."""
        await self._ask("file_removed", path)

    async def stale_buffers(self) -> list[str]:
        """See `Editor`."""
        return decoders.convert(await self._ask("stale_buffers"), list[str])

    async def untracked_buffers(self) -> list[str]:
        """See `Editor`."""
        return decoders.convert(await self._ask("untracked_buffers"), list[str])

    async def call_tool(self, call_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer | None:
        """See `Editor`."""
        return decoders.convert(await self._rpc.call_lua(TOOLS, "call", call_id, tool, arguments), ToolAnswer | None)

    async def _ask(self, method: str, *args: Any) -> Any:
        """Call the Lua function of a method of `Editor`."""
        return await self._rpc.call_lua(BUFFERS, BUFFER_FUNCTIONS[method], *map(msgspec.to_builtins, args))

    async def _send(self, batch: list[dict[str, Any]]) -> float | None:
        """Send a batch, and return how many seconds Lua took to apply it, if known.

        A batch that cannot be encoded is halved, repeatedly, until only the faulty events are lost.
        """
        try:
            milliseconds = await self._rpc.call_lua(EVENTS, "apply", batch)
        except NvimError:
            log.exception("Neovim could not take a batch of %d events", len(batch))
            return None
        except UnsendableError as error:
            if len(batch) == 1:
                self._lost(batch[0].get("session"), error)
                return None
            for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
                await self._send(half)
            return None
        return float(milliseconds) / 1000 if isinstance(milliseconds, int | float) else None

    def _lost(self, session: int | None, error: Exception) -> None:
        failed("sending an event to Neovim", error, partial(self.on_lost, session))
