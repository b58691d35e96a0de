"""How much one session may have at once: what waits beyond that is refused, and work on files takes turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

import anyio
import anyio.lowlevel

from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, RpcError
from acp_nvim.session.transcript.presenter import Presenter

FILES_AT_ONCE: Final = 8
"""Files and outputs that are read or written for one session at once: the threads for that are 40, for all sessions."""


class Refusals:
    """Refuses requests of one session of which too many wait: an error for the agent, a notice for the user.

    Each kind of request has one notice in a turn, which says how many were refused.
    """

    def __init__(self, agent: str, presenter: Presenter) -> None:
        self._agent = agent
        self._presenter = presenter
        self._kinds: dict[str, _Kind] = {}

    def __repr__(self) -> str:
        return f"<Refusals { {what: kind.count for what, kind in self._kinds.items()} }>"

    def refuse(self, what: str, most: int, todo: str = "ask again when some are answered") -> RpcError:
        """The error for one more request of a kind (`what`, in the plural), of which `most` are open already."""
        kind = self._kinds.setdefault(what, _Kind(most))
        kind.count += 1
        if kind.block is None:
            self._tell(what, kind)
        return RpcError(INTERNAL_ERROR, f"{most:,} {what} are open already, and no more are taken: {todo}")

    def begin_turn(self) -> None:
        """Start new notices: what is refused from now on is of another turn."""
        self.caught_up()
        self._kinds.clear()

    def caught_up(self) -> None:
        """Bring the numbers in the notices up to date."""
        for what, kind in self._kinds.items():
            if kind.told != kind.count:
                self._tell(what, kind)

    def _tell(self, what: str, kind: _Kind) -> None:
        kind.told = kind.count
        refused = "1 more was refused" if kind.count == 1 else f"{kind.count:,} more were refused"
        words = f"{self._agent} asks for too much at once: {kind.most:,} {what} are open, and {refused}."
        kind.block = self._presenter.notice_again(kind.block, "warn", words)


class _Kind:
    """How many were refused, and how many the notice in the transcript's `block` says."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = self.told = 0
        self.block: int | None = None


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
