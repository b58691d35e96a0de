"""Finds the files that git would wait for: FIFOs and devices where it expects files of its own."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.limits.git import BLOCKED_SECONDS, BLOCKING_FILES
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.workspace.regular_files import read_regular

READ_EVERYWHERE: Final = frozenset({".gitignore", ".gitattributes"})
"""git opens these in each directory of a work tree."""

_POINTER_BYTES: Final = 65_536


class Blocking:
    """Those of the workspace `root`, which were found so far."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._found: list[str] = []

    def __repr__(self) -> str:
        return f"<Blocking {self._found} in {self._root}>"

    def check(self) -> None:
        """Raises `SnapshotError` while one that was found is there. Blocks, for a moment."""
        self._found = [path for path in self._found if is_blocking(path)]
        if self._found:
            raise SnapshotError(f"git cannot read {self._found[0]}, which is a FIFO or a device: remove it")

    async def watch(self, scope: anyio.CancelScope, top: str) -> None:
        """Cancel `scope` when git seems to wait for such a file: after a while they are looked for.

        They are looked for again, less and less often, because one may be made later. `top` is the work tree that the
        workspace is in, or is.
        """
        stop = threading.Event()
        pause = BLOCKED_SECONDS
        found: list[str] = []
        try:
            while not found:
                await anyio.sleep(pause)
                pause *= 2
                found = await anyio.to_thread.run_sync(self._find, top, stop, abandon_on_cancel=True)
        finally:
            stop.set()
        self._found = found
        scope.cancel()

    def _find(self, top: str, stop: threading.Event) -> list[str]:
        found: list[str] = []
        for path in _blocking(top, self._root, stop):
            found.append(path)
            if len(found) == BLOCKING_FILES:
                break
        return found


def is_blocking(path: str) -> bool:
    """Whether to open it may wait for ever, or to read it may never end."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _blocking(top: str, root: str, stop: threading.Event) -> Iterator[str]:
    above = root
    while above != top and len(above) > len(top):
        above = os.path.dirname(above)
        yield from filter(is_blocking, (os.path.join(above, name) for name in sorted(READ_EVERYWHERE)))
    waiting = [root]
    while waiting and not stop.is_set():
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name in READ_EVERYWHERE and is_blocking(entry.path):
                        yield entry.path
                    elif entry.name == ".git":
                        yield from _in_repository(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue


def _in_repository(path: str) -> Iterator[str]:
    """Of a `.git`, which is a directory, or a file that names one: git looks whether it is a repository."""
    if not os.path.isdir(path):
        try:
            line = os.fsdecode(read_regular(path, _POINTER_BYTES).rstrip(b"\r\n"))
        except OSError:
            return
        path = os.path.join(os.path.dirname(path), line.removeprefix("gitdir: "))
    try:
        names = os.listdir(path)
    except OSError:
        return
    yield from filter(is_blocking, (os.path.join(path, name) for name in names))
