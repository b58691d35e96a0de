"""Makes background tasks of a running host fail, wherever they are started: before they begin, or when they end."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

import anyio

from acp_nvim.tasks import Tasks
from tests.core.session.stage import InjectedError
from tests.core.task_sites import Site, sites

When = Literal["at once", "at the end"]


class Kind(NamedTuple):
    """The tasks that one place starts with the same function: some places are given the function."""

    site: Site
    act: str

    def __str__(self) -> str:
        return f"{self.site} {self.act}"


class TaskInjector:
    """Notes which tasks of the package at `root` are started, and lets those fail that `aim` names, each once."""

    def __init__(self, root: Path) -> None:
        self.sites = sites(root)
        self.seen: dict[Kind, None] = {}
        self.unknown: set[str] = set()  # places that the reading of the source has not found
        self.hit: set[Kind] = set()
        self.closing: list[anyio.Event] = []  # the ends of the tasks that end turns, which start others
        self._root = str(root)
        self._errors: dict[Kind, str] = {}
        self._when: When = "at once"

    def aim(self, errors: dict[Kind, str], when: When) -> None:
        """The next task of each of these kinds fails with these words."""
        self.seen.clear()
        self.hit.clear()
        self._errors, self._when = dict(errors), when

    @contextmanager
    def active(self) -> Iterator[None]:
        """Look at all tasks that start while the block runs."""
        injector, spawn = self, Tasks.spawn

        def noting(tasks: Tasks, act: Callable[..., Awaitable[Any]], *args: Any) -> anyio.Event:
            kind = injector._kind(sys._getframe(1).f_code.co_filename, sys._getframe(1).f_lineno, act)
            if kind is not None:
                injector.seen.setdefault(kind)
            error = injector._errors.pop(kind, None) if kind is not None else None
            if kind is None or error is None:
                ended = spawn(tasks, act, *args)
                if kind is not None and kind.act == "TurnChanges._close":
                    injector.closing.append(ended)
                return ended
            fails = injector._at_once if injector._when == "at once" else injector._at_the_end
            return spawn(tasks, fails, kind, error, act, args)

        with patch.object(Tasks, "spawn", noting):
            yield

    async def _at_once(self, kind: Kind, error: str, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        give_up(act(*args))
        self.hit.add(kind)
        raise InjectedError(error)

    async def _at_the_end(
        self, kind: Kind, error: str, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...]
    ) -> None:
        await act(*args)
        self.hit.add(kind)
        raise InjectedError(error)

    def _kind(self, path: str, line: int, act: Any) -> Kind | None:
        for site in self.sites:
            if site.path == path and site.first <= line <= site.last:
                return Kind(site, getattr(act, "__qualname__", repr(act)))
        if path.startswith(self._root):
            self.unknown.add(f"{path}:{line}")
        return None


def give_up(work: object) -> None:
    """Close a coroutine that nobody will await, and those that it was given to await."""
    if inspect.iscoroutine(work) and inspect.getcoroutinestate(work) == inspect.CORO_CREATED:
        for given in list(work.cr_frame.f_locals.values()):
            give_up(given)
        work.close()
