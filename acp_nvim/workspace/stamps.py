"""Stamps of files: equal ones say that nobody wrote the file in between, and a file that was renamed is found by it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

import anyio.to_thread

_NANOSECONDS = 10**9

MOVED_ENTRIES: Final = 50_000
"""Directory entries looked at for a file that was renamed: 0.2 s; a workspace with more has its files near by."""


def stamp_of(status: os.stat_result) -> str:
    """`device:inode:size:seconds.nanoseconds` of the last change; Lua makes the same string of `vim.uv.fs_stat`.

    The numbers are decimal, without padding; device and inode as `("%d"):format(...)` gives them in Lua.
    """
    seconds, nanoseconds = divmod(status.st_mtime_ns, _NANOSECONDS)
    return f"{_in_lua(status.st_dev)}:{_in_lua(status.st_ino)}:{status.st_size}:{seconds}.{nanoseconds}"


def _in_lua(number: int) -> int:
    """A 64-bit number as Lua knows it: signed, and with the 53 bits of a double; some file systems use all 64."""
    return int(float(number - (1 << 64) if number >= 1 << 63 else number))


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
