"""Lets many use something at once, or one change it alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class Gate:
    """Users wait for the one who changes it, who waits for the users there are; new ones do not overtake him."""

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self._users = 0
        self._empty = anyio.Event()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[None]:
        """Together with others. Must not be used inside itself."""
        async with self._turn:
            self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if self._users == 0:
                self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Alone."""
        async with self._turn:
            while self._users:
                self._empty = anyio.Event()
                await self._empty.wait()
            yield
