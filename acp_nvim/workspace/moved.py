"""Finds the file that was renamed: the same one under another name."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress

import anyio.to_thread

from acp_nvim.limits import MOVED_ENTRIES
from acp_nvim.workspace.stamps import stamp_of


async def find_moved(path: str, stamp: str, directories: Sequence[str]) -> str | None:
    """The real path of what may be the file that had `stamp` at `path`: the same inode, of the same size.

    It is looked for near `path` first, then in `directories`. Inodes are used again: who asks compares the texts.
    """
    return await anyio.to_thread.run_sync(_find, path, stamp, directories)


def _find(path: str, stamp: str, directories: Sequence[str]) -> str | None:
    inode = int(stamp.split(":")[1])
    for entry in _entries(deque([os.path.dirname(path), *directories])):
        with suppress(OSError):
            if int(float(entry.inode())) != inode or not entry.is_file(follow_symlinks=False):
                continue
            if _without_time(stamp_of(entry.stat(follow_symlinks=False))) == _without_time(stamp):
                return entry.path
    return None


def _without_time(stamp: str) -> str:
    return stamp.rpartition(":")[0]


def _entries(waiting: deque[str]) -> Iterable[os.DirEntry[str]]:
    """Each directory before those that are in it; version control's own ones are left out."""
    seen, left = set[str](), MOVED_ENTRIES
    while waiting and left > 0:
        directory = waiting.popleft()
        if directory in seen:
            continue
        seen.add(directory)
        try:
            with os.scandir(directory) as found:
                entries = list(found)
        except OSError:
            continue
        left -= len(entries)
        yield from entries
        waiting.extend(
            entry.path for entry in entries if entry.name not in (".git", ".hg") and entry.is_dir(follow_symlinks=False)
        )
