"""What `threading` has, as far as scripts need it, for threads that all run in an event loop, each until it waits.

A thread is a greenlet. Nothing is interrupted: a lock has nothing to do, and the order of events is always the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from _queue import Empty
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet


class GreenThreads:
    """The threads of one program; to be made in the running loop, which they belong to."""

    Ended = GreenletExit
    Empty = Empty

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.alive: set[greenlet] = set()
        self._loop_thread = getcurrent()
        self.Event = partial(_Event, self)
        self.Condition = partial(_Condition, self)
        self.Lock = contextlib.nullcontext
        self.SimpleQueue = partial(_Queue, self)
        self.Thread = partial(_Thread, self)

    def start(self, run: Callable[[], object]) -> None:
        """Run it in a thread, as soon as the one that runs now waits."""

        def live() -> None:
            try:
                run()
            finally:
                self.alive.discard(thread)

        thread = greenlet(live, self._loop_thread)
        thread.gr_context = contextvars.copy_context()
        self.alive.add(thread)
        self.loop.call_soon(self.resume, thread)

    def resume(self, thread: greenlet) -> None:
        """Let a thread go on that waits, unless it has ended; to be called by the loop."""
        if thread in self.alive:
            thread.switch()

    def wait(self) -> None:
        """Let the others run until somebody resumes this thread."""
        self._loop_thread.switch()

    def pause(self) -> None:
        """Let all others run that can."""
        self.loop.call_soon(self.resume, getcurrent())
        self.wait()

    def end(self) -> None:
        """End all threads but the one that runs: `Ended` is raised where each of them waits."""
        me = getcurrent()
        others, self.alive = self.alive - {me}, self.alive & {me}
        for thread in others:
            thread.parent = me  # where it goes on when the thread has ended
            thread.throw()


class _Thread:
    def __init__(
        self, threads: GreenThreads, target: Callable[..., object], args: Any = (), daemon: bool = True
    ) -> None:
        self._threads, self._run = threads, partial(target, *args)

    def start(self) -> None:
        self._threads.start(self._run)


class _Event:
    def __init__(self, threads: GreenThreads) -> None:
        self._threads = threads
        self._is_set = False
        self._waiting: set[greenlet] = set()

    def is_set(self) -> bool:
        return self._is_set

    def clear(self) -> None:
        self._is_set = False

    def set(self) -> None:
        self._is_set = True
        for thread in self._waiting:
            self._threads.loop.call_soon(self._resume, thread)

    def wait(self, timeout: float | None = None) -> bool:
        if not self._is_set:
            me = getcurrent()
            timer = None if timeout is None else self._threads.loop.call_later(timeout, self._resume, me)
            self._waiting.add(me)
            try:
                self._threads.wait()
            finally:
                self._waiting.discard(me)
                if timer is not None:
                    timer.cancel()
        return self._is_set

    def _resume(self, thread: greenlet) -> None:
        if thread in self._waiting:
            self._threads.resume(thread)


class _Condition(contextlib.nullcontext[None]):
    def __init__(self, threads: GreenThreads) -> None:
        super().__init__()
        self._threads = threads
        self._news = _Event(threads)

    def notify_all(self) -> None:
        self._news.set()
        self._news = _Event(self._threads)

    def wait_for(self, predicate: Callable[[], object], timeout: float | None = None) -> object:
        end = None if timeout is None else self._threads.loop.time() + timeout
        while not (found := predicate()):
            if not self._news.wait(None if end is None else end - self._threads.loop.time()):
                return predicate()
        return found


class _Queue:
    def __init__(self, threads: GreenThreads) -> None:
        self._items: deque[Any] = deque()
        self._arrived = _Condition(threads)

    def put(self, item: Any) -> None:
        self._items.append(item)
        self._arrived.notify_all()

    def get(self, timeout: float | None = None) -> Any:
        if not self._arrived.wait_for(lambda: self._items, timeout):
            raise Empty
        return self._items.popleft()
