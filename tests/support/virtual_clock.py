"""An event loop for tests whose clock does not run by itself: a wait for nothing but time takes none.

While code runs, the clock stands still. When nothing is ready, and the loop would sleep until its next timer:

- if nothing outside the loop is awaited, the clock jumps to that timer;
- if something outside is, the loop really sleeps, and the clock goes on by the time that this has taken.

Outside are all open files that the loop watches (sockets, the pipes of a process, its pidfd), and all threads that
were started since the loop was made, except idle ones of `anyio.to_thread`. Threads of an executor, and those in which
Python 3.11 waits for the end of a process, count as long as they live.

What the loop does not know of, it cannot wait for: the clock jumps over the work of a process without a pipe to it, and
over the time of other clocks (that of files, or `time.monotonic`). A test waits for such a thing in a thread, or has
`"asyncio"` as its own `anyio_backend`.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
import time

THREADS_SECONDS = 0.01
"""Time after which it is asked again whether a thread works: one that ends does not always wake the loop."""


class VirtualClockLoop(asyncio.SelectorEventLoop):
    """As an argument of `anyio_backend`: `("asyncio", {"loop_factory": VirtualClockLoop})`."""

    def __init__(self) -> None:
        self._now = time.monotonic()
        self._threads_before = frozenset(threading.enumerate())
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Seconds, beginning with those of `time.monotonic`."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let that time pass."""
        self._now += seconds

    def threads_work(self) -> bool:
        """Whether a thread does, or has done, what has not reached the loop yet."""
        began = set(threading.enumerate()) - self._threads_before
        return any(thread not in getattr(thread, "idle_workers", ()) for thread in began)


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualClockLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; without anything, after `timeout` seconds of the loop's clock, or earlier."""
        if timeout == 0:
            return super().select(0)
        threads_work = self._loop.threads_work()  # asked first: a thread that is done later has woken the loop by then
        if ready := super().select(0):
            return ready
        has_files = len(self.get_map()) > 1  # one is the loop's own, with which threads wake it
        if timeout is not None and not has_files:
            if not threads_work:
                self._loop.advance(timeout)
                return []
            timeout = min(timeout, THREADS_SECONDS)
        began = time.monotonic()
        ready = super().select(timeout)
        self._loop.advance(time.monotonic() - began)
        return ready
