"""How much of the host's work for files and outputs one session may have at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType

import anyio
import anyio.lowlevel

from acp_nvim.limits.fair_shares import FILES_AT_ONCE


class Share:
    """An async context manager, entered for each piece of work; at most `FILES_AT_ONCE` are in it, first come first.

    `room` waits until the agent has read what it was answered before.
    """

    def __init__(self) -> None:
        self.room: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint
        self._places = anyio.Semaphore(FILES_AT_ONCE)

    def __repr__(self) -> str:
        return f"<Share {self._places.value} places free>"

    async def __aenter__(self) -> None:
        await self._places.acquire()
        try:
            await self.room()
        except BaseException:
            self._places.release()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._places.release()
