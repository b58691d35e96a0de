"""The files that git would wait for: FIFOs and devices where it expects files of its own."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.workspace.regular_files import read_regular

BLOCKED_SECONDS: Final = 1.0
"""Time of a snapshot after which files that git might be waiting for are looked for: 1 s for 100,000 files."""
BLOCKING_FILES: Final = 10
"""Files that git cannot read which are looked for in one go: the first one is told."""

READ_EVERYWHERE: Final = frozenset({".gitignore", ".gitattributes"})
"""git opens these in each directory of a work tree."""

_POINTER_BYTES: Final = 65_536


class Blocking:
    """The files of the workspace `root` that block git, as far as they were found."""

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


_DEPTH: Final = 5
"""git follows so many directories that name others."""


def is_readable(objects: str, depth: int = _DEPTH) -> bool:
    """Whether the files that git opens unasked (packs, lists) are regular, there and in what it names. Blocks.

    Loose objects are not looked at: there may be many. Whoever asks for them has a limit of time. `depth` is how many
    directories may name the next one (`info/alternates`).
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
        return True  # gone, or a link to nothing: there is nothing to wait for
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
