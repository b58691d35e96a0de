"""Background tasks, and what a bug of ours costs: the one thing that failed, never the tasks that run beside it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Protocol

import anyio.abc

TRACEBACKS: Final = 5
"""Of the same failure in the log: each is some 2 kB, and takes a millisecond."""
KNOWN_FAILURES: Final = 500
"""Kinds that are counted: an exception may hold words of an agent, who may have any number of them."""


log = logging.getLogger(__name__)

OnFailure = Callable[[Exception], None]
"""Tells whoever the failed work belongs to."""

_seen: Final[Counter[tuple[str, str]]] = Counter()


class Spawn(Protocol):
    """Starts a background task; `Tasks.spawn` is one."""

    def __call__(self, act: Callable[..., Awaitable[Any]], *args: Any) -> anyio.Event:
        """Start `act(*args)`. The event is set when that has ended, however it ends."""


def is_running(task: anyio.Event | None) -> bool:
    """Whether a task still runs, by the event that `Tasks.spawn` returned; None: there was none yet.

    Who starts a task once for many calls asks this. A flag that the task resets stays set when it fails before that.
    """
    return task is not None and not task.is_set()


class Tasks:
    """Starts tasks in a task group that is shared, so that the failure of one does not cancel the others.

    `on_failure` is called with the exception of a task; `owned_by` gives the same group another owner. Cancellation,
    and what is no `Exception`, pass through to the group. No other module may start tasks in a shared group
    (`tests/core/test_task_groups.py`).
    """

    def __init__(self, group: anyio.abc.TaskGroup, on_failure: OnFailure) -> None:
        self._group = group
        self.on_failure = on_failure

    def owned_by(self, on_failure: OnFailure) -> Tasks:
        """The same task group, for work whose failures `on_failure` tells."""
        return Tasks(self._group, on_failure)

    def spawn(self, act: Callable[..., Awaitable[Any]], *args: Any) -> anyio.Event:
        """Start `act(*args)`. If it raises, that is logged with its traceback, and `on_failure` is called.

        The event that is returned is set when it has ended, however it ends: who waits for a task waits for that.
        """
        ended = anyio.Event()
        self._group.start_soon(self._run, act, args, ended)
        return ended

    def contained(self, doing: str) -> AbstractContextManager[None]:
        """A context manager that does the same for an exception of its block. `doing` names it in the log."""
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
    """Log an exception of the block with its traceback, and tell `on_failure`. It ends here, whatever that raises."""
    try:
        yield
    except Exception as error:
        failed(doing, error, on_failure)


def failed(doing: str, error: Exception, on_failure: OnFailure) -> None:
    """`error` came out of something that must not end anything else: it is logged and told. This never raises."""
    _note(doing, error)
    try:
        on_failure(error)
    except Exception as another:
        _note(f"telling that {doing} failed", another)


def _note(doing: str, error: Exception) -> None:
    """Write it into the log. What fails for every message of a flood gets few tracebacks: each takes a millisecond."""
    kind = (doing, repr(error))
    if len(_seen) >= KNOWN_FAILURES:
        _seen.clear()
    _seen[kind] += 1
    times = _seen[kind]
    if times <= TRACEBACKS:
        log.error("%s failed", doing, exc_info=error)
    elif times.bit_count() == 1:  # 8, 16, 32 ...
        log.error("%s failed %d times: %r", doing, times, error)
