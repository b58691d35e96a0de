"""Reads change times of files, and the clock that the system takes them from."""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress
from typing import Final

_COARSE: Final = 5 if sys.platform == "linux" else None
"""`CLOCK_REALTIME_COARSE`, which Python has no name for (`<linux/time.h>`)."""

TICK_NS: Final = 10_000_000
"""Nanoseconds by which the time of a file may be earlier than the moment of its change."""
_PAUSE_SECONDS: Final = 0.001


LastChange = tuple[int, int | None]
"""When a file was changed last (nanoseconds since 1970), and its size in bytes. For a deleted file: when its directory
was changed, and None."""


def now() -> int:
    """Return the earliest time, in nanoseconds since 1970, that a file changed from now on may get.

    Linux gives files the time of the last tick, up to 10 ms ago. But since 6.13, on ext4, XFS, Btrfs and tmpfs, a file
    whose time was looked at since the last tick gets the exact one (`multigrain-ts.rst` of the kernel's documentation).
    So the latest time that a file changed before now may have is `time.time_ns()`.
    """
    return time.time_ns() if _COARSE is None else time.clock_gettime_ns(_COARSE)


def next_tick() -> int:
    """Return `now()` as soon as it is later than the time of any file changed before the call. Blocks.

    It takes up to two ticks, 20 ms at most. If the clock is set back meanwhile, the result may be earlier.
    """
    before = time.time_ns()
    while (moment := now()) <= before:
        time.sleep(_PAUSE_SECONDS)
        before = min(before, time.time_ns())
    return moment


def status_of(path: str) -> os.stat_result:
    """Return `os.lstat(path)` as it is after a truncation in progress.

    While Linux truncates a file, the file is empty for a moment with its old change time. A seek to the first data
    waits until the truncation is complete. Blocks; raises `OSError`.
    """
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        return status
    with suppress(OSError):  # unreadable, or without data
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.lseek(file, 0, os.SEEK_DATA)
        finally:
            os.close(file)
    return os.lstat(path)


def is_real_directory(path: str) -> bool:
    """Return whether that is a directory and no link to one; the path may end with a slash. Blocks."""
    return os.path.isdir(path) and not os.path.islink(path.rstrip(os.sep))


def is_behind_link(path: str) -> bool:
    """Return whether a directory of an absolute path is a link: it was replaced by one, as the path was real. Blocks.

    The file that such a path leads to has another path.
    """
    above = os.path.dirname(path)
    return os.path.realpath(above) != above


def last_change(path: str) -> LastChange:
    """Return when the file at that real path was changed last, and its size. Blocks."""
    try:
        status = status_of(path)
        return status.st_ctime_ns, status.st_size if stat.S_ISREG(status.st_mode) else None
    except OSError:
        pass
    while True:
        path = os.path.dirname(path)
        try:
            return os.lstat(path).st_mtime_ns, None
        except OSError:
            if path in ("", os.sep):
                return 0, None
