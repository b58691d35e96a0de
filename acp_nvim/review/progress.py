"""Tells the editor how far long work on many files has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import anyio

from acp_nvim.contract.events import Event
from acp_nvim.contract.review_events import ReviewProgress, ReviewWork
from acp_nvim.tasks import Spawn

PROGRESS_SECONDS: Final = 0.5
"""Interval between two reports. A decision that takes less time is not reported."""


class Steps:
    """How far one piece of work has come: `done` of `total` files; 0 of 0 as long as their number is unknown."""

    def __init__(self, what: ReviewWork, total: int = 0, session: int | None = None) -> None:
        self.what = what
        self.done = 0
        self.total = total
        self.is_told = False
        self._session = session
        self._began = anyio.current_time()

    def begin(self, what: ReviewWork, total: int) -> None:
        """Begin the next part of the work, on `total` files."""
        self.what, self.done, self.total = what, 0, total

    def event(self, *, is_over: bool = False) -> ReviewProgress:
        """Return the report for the editor, and note that it was made."""
        self.is_told = True
        seconds = round(anyio.current_time() - self._began, 2)
        return ReviewProgress(self.what, self._session, self.done, self.total, seconds, is_over)


class Progress:
    """Reports work in progress; `scans` are those that enter now what they have found."""

    def __init__(self, publish: Callable[[Event], None], spawn: Spawn, scans: Sequence[Steps]) -> None:
        self._publish = publish
        self._spawn = spawn
        self._scans = scans

    def collects(self, session: int, ended: anyio.Event) -> None:
        """Report at once, and until `ended` is set, that the changes of a turn of that session are collected."""
        steps = Steps("collecting", session=session)
        self._publish(steps.event())
        self._spawn(self._tell_of_scans, steps, ended)

    async def _tell_of_scans(self, steps: Steps, ended: anyio.Event) -> None:
        while not await _is_set(ended):
            done, total = (sum(getattr(one, name) for one in self._scans) for name in ("done", "total"))
            if total:  # else git looks, what it has found is being stored, or there is nothing more
                steps.done, steps.total = done, total
            self._publish(steps.event())
        self._publish(steps.event(is_over=True))

    @contextmanager
    def shown(self, what: ReviewWork) -> Iterator[Steps]:
        """Report the work of the block, which updates the steps, if it takes long."""
        steps, ended = Steps(what), anyio.Event()
        self._spawn(self._tell, steps, ended)
        try:
            yield steps
        finally:
            ended.set()
            if steps.is_told:
                self._publish(steps.event(is_over=True))

    async def _tell(self, steps: Steps, ended: anyio.Event) -> None:
        while not await _is_set(ended):
            self._publish(steps.event())


async def _is_set(ended: anyio.Event) -> bool:
    """Wait `PROGRESS_SECONDS` for `ended`; return whether it is set."""
    with anyio.move_on_after(PROGRESS_SECONDS):
        await ended.wait()
    return ended.is_set()
