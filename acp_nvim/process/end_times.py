"""Writes down when an agent's last process ended, so that whoever comes later knows what it cannot have done.

Standard library only: the guard uses it, too. There is a file for each agent process that has ended, named by its mark.
"""

from __future__ import annotations

import os
import time

_NAME = "{}.ended"


def note_end(directory: str, mark: str) -> None:
    """Write that all processes with that mark are gone now, unless that is known. Failures are passed over."""
    path = os.path.join(directory, _NAME.format(mark))
    temporary = f"{path}.new"
    if os.path.exists(path):
        return
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, b"%d\n" % time.time_ns())
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        return


def ended_at(directory: str, mark: str) -> int | None:
    """When the last process with that mark ended (nanoseconds since 1970); None when nobody has written that down."""
    try:
        with open(os.path.join(directory, _NAME.format(mark)), "rb") as file:
            line = file.read(32)
    except OSError:
        return None
    return int(line) if line.endswith(b"\n") and line[:-1].isdigit() else None


def forget_old(directory: str, seconds: float) -> None:
    """Remove what was written longer ago than that."""
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - seconds:
                    os.unlink(entry.path)
    except OSError:
        return
