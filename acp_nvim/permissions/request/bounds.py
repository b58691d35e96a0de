"""Limits for the requests of one session: requests beyond them are refused, and work on files takes turns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.lowlevel

from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, RpcError
from acp_nvim.limits import TURN_REQUESTS
from acp_nvim.transcript.presenter import Presenter

FILES_AT_ONCE: Final = 8
"""Files and outputs read or written for one session at once; all sessions share 40 threads."""


class Refusals:
    """Refuses requests beyond the limits of one session, with an error for the agent and a notice for the user.

    Each kind of request has one notice per turn, which counts the refused ones.
    """

    def __init__(self, agent: str, presenter: Presenter) -> None:
        self._agent = agent
        self._presenter = presenter
        self._kinds: dict[str, _Kind] = {}
        self.had_trouble = False
        """Whether the user was told in this turn of something that the agent has sent, and that had no effect."""

    def require_room(self, what: str, count: int, most: int) -> None:
        """Raise `RpcError` if `count` requests (`what`) of `most` wait already, or the turn has had `TURN_REQUESTS`."""
        if self._presenter.transcript.new_requests >= TURN_REQUESTS:
            raise self.refuse("requests of one turn", TURN_REQUESTS, "end the turn")
        if count >= most:
            raise self.refuse(what, most)

    def refuse(self, what: str, most: int, todo: str = "ask again when some are answered") -> RpcError:
        """Return the error for one more request of a kind (`what`, in the plural), of which `most` are open already."""
        kind = self._kinds.setdefault(what, _Kind(most))
        kind.count += 1
        if not kind.block:
            self._show(what, kind)
        return RpcError(INTERNAL_ERROR, f"{most:,} {what} are open already, and no more are taken: {todo}")

    def begin_turn(self) -> None:
        """Update the notices of the last turn, and start new ones from now on."""
        self.caught_up()
        self._kinds.clear()
        self.had_trouble = False

    def caught_up(self) -> None:
        """Bring the numbers in the notices up to date."""
        for what, kind in self._kinds.items():
            if kind.shown != kind.count:
                self._show(what, kind)

    def _show(self, what: str, kind: _Kind) -> None:
        kind.shown = kind.count
        refused = "1 more was refused" if kind.count == 1 else f"{kind.count:,} more were refused"
        words = f"{self._agent} asks for too much at once: {kind.most:,} {what} are open, and {refused}."
        shown = self._presenter.transcript.notice("warn", words, kind.block)
        kind.block = shown.block
        self._presenter.publish(shown)


class _Kind:
    """Counts the refused requests of one kind, in total and as shown by the notice at `block` of the transcript."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = self.shown = self.block = 0


class Share:
    """Limits the concurrent work on files of one session to `FILES_AT_ONCE`, in the order of arrival.

    `room` waits until the agent has read its earlier answers.
    """

    def __init__(self) -> None:
        self.room: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint
        self._places = anyio.Semaphore(FILES_AT_ONCE, fast_acquire=True)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place and for room, and hold the place until the context ends."""
        async with self._places:
            await self.room()
            yield
