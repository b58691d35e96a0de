"""Finds FIFOs and devices where git expects regular files: git would wait for them forever."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.workspace.regular_files import read_regular

BLOCKED_SECONDS: Final = 1.0
"""Time in seconds before the search for blocking files begins; it takes 1 s for 100,000 files."""
BLOCKING_FILES: Final = 10
"""Maximum number of files found by one search; only the first is reported."""

READ_EVERYWHERE: Final = frozenset({".gitignore", ".gitattributes"})
"""git opens these in each directory of a work tree."""

_POINTER_BYTES: Final = 65_536


class Blocking:
    """The files of the workspace `root` that are known to block git."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._found: list[str] = []

    def check(self) -> None:
        """Raise `SnapshotError` while a file that was found still blocks. Blocks, briefly."""
        self._found = [path for path in self._found if _is_blocking(path)]
        if self._found:
            raise SnapshotError(f"git cannot read {self._found[0]}, which is a FIFO or a device: remove it")

    async def watch(self, scope: anyio.CancelScope, top: str) -> None:
        """Search for blocking files while git works, and cancel `scope` when one is found.

        The search is repeated at growing intervals, because such a file may be created later. `top` is the work tree
        that contains the workspace, or is it.
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
        return list(islice(_blocking(top, self._root, stop), BLOCKING_FILES))


def _is_blocking(path: str) -> bool:
    """Whether opening or reading the file may take forever."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _blocking(top: str, root: str, stop: threading.Event) -> Iterator[str]:
    above = root
    while above != top and len(above) > len(top):
        above = os.path.dirname(above)
        yield from filter(_is_blocking, (os.path.join(above, name) for name in sorted(READ_EVERYWHERE)))
    waiting = [root]
    while waiting and not stop.is_set():
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name in READ_EVERYWHERE and _is_blocking(entry.path):
                        yield entry.path
                    elif entry.name == ".git":
                        yield from _in_repository(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue


def _in_repository(path: str) -> Iterator[str]:
    """Yield the blocking files in a `.git` directory, or in the one that a `.git` file names."""
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
    yield from filter(_is_blocking, (os.path.join(path, name) for name in names))


_DEPTH: Final = 5
"""Levels of alternate object directories that git follows."""


def is_readable(objects: str, depth: int = _DEPTH) -> bool:
    """Whether the files that git opens by itself (packs, lists) are regular, with those of alternates. Blocks.

    Loose objects are not checked, because there may be many: a time limit applies to reading them. `depth` is the
    number of levels of `info/alternates` that are followed.
    """
    if not all(map(_is_regular, _files(objects))):
        return False
    try:
        lines = read_regular(os.path.join(objects, "info", "alternates"), EXCLUDES_BYTES).split(b"\n")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    named = [os.path.join(objects, os.fsdecode(line)) for line in lines if line and not line.startswith(b"#")]
    return depth == 0 or all(is_readable(path, depth - 1) for path in named)


def _files(objects: str) -> Iterator[str]:
    for name in ("pack", "info", os.path.join("pack", "multi-pack-index.d"), os.path.join("info", "commit-graphs")):
        directory = os.path.join(objects, name)
        try:
            yield from (os.path.join(directory, one) for one in os.listdir(directory))
        except OSError:
            continue


def _is_regular(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True  # missing, or a dangling link: nothing to wait for
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
