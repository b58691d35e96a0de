"""Tells when files changed, from their own times and those of the directories that they have come with."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from acp_nvim.file_time import is_behind_link, last_change
from acp_nvim.snapshots.directories import Directories


class ChangeTime(msgspec.Struct, frozen=True):
    """When what is at a path changed last, in ns since 1970; `size` in bytes, None if there is no regular file.

    `earliest` is None if that time is known; else it may have been at any time since. `other` is another change of the
    same file: it was edited in a directory that was renamed.
    """

    time: int
    size: int | None
    earliest: int | None = None
    other: int | None = None


def change_time(
    path: str, earlier: Directories | None, since: int, entered: Callable[[str], str] | None = None
) -> ChangeTime:
    """Return when what is at an absolute path changed, as far as it is known. Blocks.

    `earlier` are the directories of the last snapshot, `since` its time in nanoseconds since 1970. A file that was not
    touched since then, in a directory that was not there, changed when that directory came there. For `entered` see
    `Directories.placed`.
    """
    is_there = os.path.lexists(path)
    changed, size = last_change(path)
    if is_behind_link(path):
        is_there, changed, size = False, _link_time(path), None
    if earlier is None and is_there and changed < since:
        return _with_directory(path, changed, size, since)
    placed = None if earlier is None else earlier.placed(path, entered)
    if placed is None:
        return ChangeTime(changed, size, None if is_there else since)
    if not is_there or changed < placed.earliest:
        return ChangeTime(placed.latest, size, placed.earliest)
    return ChangeTime(changed, size, None, placed.latest if placed.is_move else None)


def _with_directory(path: str, changed: int, size: int | None, since: int) -> ChangeTime:
    """Return the time of an untouched file, if it is not known which directories there were.

    It may have come with one that has changed since.
    """
    latest = 0
    while (above := os.path.dirname(path)) != path:
        path = above
        latest = max(latest, last_change(path)[0])
    return ChangeTime(latest, size, since) if latest >= since else ChangeTime(changed, size)


def _link_time(path: str) -> int:
    """Return when the outermost link among the directories of a path was made or changed last, or 0."""
    name = os.sep
    for word in path.split(os.sep)[1:-1]:
        name = os.path.join(name, word)
        try:
            if os.path.islink(name):
                return os.lstat(name).st_ctime_ns
        except OSError:
            return 0
    return 0
