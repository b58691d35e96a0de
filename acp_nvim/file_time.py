"""The clock by which files get their times, and those times."""

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
"""A file that is changed after some moment may have a time that is so much earlier."""


LastChange = tuple[int, int | None]
"""When a file was changed last (nanoseconds since 1970), and its size in bytes.

Of one that is gone: when the directory was changed where it was, and None.
"""


def now() -> int:
    """The time that a file would get that is changed now, in nanoseconds since 1970.

    Linux gives files the time of the last tick, up to 10 ms ago: a file may be changed after `time.time_ns` was asked
    and have an earlier time.
    """
    return time.time_ns() if _COARSE is None else time.clock_gettime_ns(_COARSE)


def status_of(path: str) -> os.stat_result:
    """Return what `os.lstat` says, not before whoever is changing the size of a file has done so.

    While Linux truncates a file, it is empty for a moment and has its old change time. To ask where its data begin
    waits until that is over. Blocks for that moment; raises `OSError`.
    """
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        return status
    with suppress(OSError):  # nobody may read it, or there are no data
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.lseek(file, 0, os.SEEK_DATA)
        finally:
            os.close(file)
    return os.lstat(path)


def last_change(path: str) -> LastChange:
    """Return when the file at that path was changed last, and its size. Blocks."""
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
