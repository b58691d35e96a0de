"""New files in the state directory, which nobody but the user may read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def make_directory(directory: Path) -> None:
    """Make it, and those above it, if need be. Raises `OSError`."""
    missing, parent = [], directory.parent
    while not os.path.lexists(parent):
        missing.append(parent)
        parent = parent.parent
    for one in [*reversed(missing), directory]:  # `parents=True` would let others read those above
        one.mkdir(mode=0o700, exist_ok=True)


def write_new(path: Path, data: bytes) -> None:
    """A file that holds `data`, or none. Raises `OSError`; `FileExistsError` leaves the file that is there alone."""
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
