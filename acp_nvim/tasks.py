"""Background tasks whose failures are reported, and do not affect the tasks beside them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Protocol

import anyio.abc

TRACEBACKS: Final = 5
"""Tracebacks of the same failure in the log: each has about 2 kB, and takes a millisecond."""
KNOWN_FAILURES: Final = 500
"""Kinds of failures that are counted: exceptions may contain texts of an agent, so there is no natural limit."""

log = logging.getLogger(__name__)

OnFailure = Callable[[Exception], None]
"""Reports a failure to the owner of the failed work."""

_seen: Final[Counter[tuple[str, str]]] = Counter()


class Spawn(Protocol):
    """Starts a background task: the interface of `Tasks.spawn`."""

    def __call__(self, act: Callable[..., Awaitable[Any]], *args: Any) -> anyio.Event:
        """Start `act(*args)`; return an event that is set when it has ended, however it ends."""


def is_running(task: anyio.Event | None) -> bool:
    """Return whether a task still runs, by the event that `Tasks.spawn` returned; False for None.

    For a task that is started once for many calls. A flag that the task resets would stay set if the task failed.
    """
    return task is not None and not task.is_set()


class Tasks:
    """Starts tasks in a shared task group, so that the failure of one does not cancel the others.

    `on_failure` is called with the exception of a task; `owned_by` gives the same group another owner. Cancellation,
    and exceptions that are no `Exception`, propagate to the group. No other module may start tasks in a shared group
    (`tests/core/test_task_groups.py`).
    """

    def __init__(self, group: anyio.abc.TaskGroup, on_failure: OnFailure) -> None:
        self._group = group
        self.on_failure = on_failure

    def owned_by(self, on_failure: OnFailure) -> Tasks:
        """Return a `Tasks` for the same task group, with another `on_failure`."""
        return Tasks(self._group, on_failure)

    def spawn(self, act: Callable[..., Awaitable[Any]], *args: Any) -> anyio.Event:
        """Start `act(*args)`; log an exception with its traceback, and call `on_failure` with it.

        Return an event that is set when the task has ended, however it ends.
        """
        ended = anyio.Event()
        self._group.start_soon(self._run, act, args, ended)
        return ended

    def contained(self, doing: str) -> AbstractContextManager[None]:
        """Return a context manager that handles an exception of its block alike; `doing` names it in the log."""
        return contained(doing, self.on_failure)

    def all_of(self, doing: str, *steps: Callable[[], object]) -> None:
        """Call every step, also when an earlier one raises."""
        for step in steps:
            with self.contained(doing):
                step()

    async def _run(self, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...], ended: anyio.Event) -> None:
        try:
            with self.contained(getattr(act, "__qualname__", None) or repr(act)):
                await act(*args)
        finally:
            ended.set()


@contextmanager
def contained(doing: str, on_failure: OnFailure) -> Iterator[None]:
    """Log an exception of the block with its traceback, and call `on_failure`; the exception does not propagate."""
    try:
        yield
    except Exception as error:
        failed(doing, error, on_failure)


def failed(doing: str, error: Exception, on_failure: OnFailure) -> None:
    """Log `error`, and call `on_failure` with it; `doing` names what has failed. Never raises."""
    _note(doing, error)
    try:
        on_failure(error)
    except Exception as another:
        _note(f"telling that {doing} failed", another)


def _note(doing: str, error: Exception) -> None:
    """Log an error; one that repeats for every message of a flood gets few tracebacks."""
    kind = (doing, repr(error))
    if len(_seen) >= KNOWN_FAILURES:
        _seen.clear()
    _seen[kind] += 1
    times = _seen[kind]
    if times <= TRACEBACKS:
        log.error("%s failed", doing, exc_info=error)
    elif times.bit_count() == 1:  # 8, 16, 32 ...
        log.error("%s failed %d times: %r", doing, times, error)
