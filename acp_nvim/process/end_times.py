"""Records when an agent's last process ended: changes after that time are not the agent's.

There is a file for each ended agent process, named by its mark. Standard library only, because the guard imports it.
"""

from __future__ import annotations

import os
import time

_NAME = "{}.ended"


def ends_directory(state: str) -> str:
    """Return where the records are: in the plugin's state directory, the path `state`."""
    return os.path.join(state, "ended")


def note_end(directory: str, mark: str) -> None:
    """Record that all processes with that mark are gone now, unless an end is recorded already. Ignores failures."""
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
    """Return when the last process with that mark ended (nanoseconds since 1970); None when that is not recorded."""
    try:
        with open(os.path.join(directory, _NAME.format(mark)), "rb") as file:
            line = file.read(32)
    except OSError:
        return None
    return int(line) if line.endswith(b"\n") and line[:-1].isdigit() else None


def forget_old(directory: str, seconds: float) -> None:
    """Remove the records that are older than `seconds`."""
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - seconds:
                    os.unlink(entry.path)
    except OSError:
        return
