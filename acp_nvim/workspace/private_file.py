"""New files in the state directory, which nobody but the user may read."""

from __future__ import annotations

import os
import stat
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
        _make_one(one)


def _make_one(directory: Path) -> None:
    while not directory.is_dir():
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:  # somebody made it just now, and may have removed it since
            with suppress(FileNotFoundError):
                if not stat.S_ISDIR(os.lstat(directory).st_mode):
                    raise


def write_new(path: Path, data: bytes, *, durable: bool = False) -> None:
    """A file that holds `data`, or none. Raises `OSError`; `FileExistsError` leaves the file that is there alone.

    With `durable` the data is on the disk itself when this returns.
    """
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def replace_whole(path: Path, data: bytes) -> None:
    """Make `data` the content of the file: after a crash it is the old one or the new one. Raises `OSError`.

    Only one process may do that to a path at a time.
    """
    temporary = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    write_new(temporary, data, durable=True)
    try:
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """The names in it are on the disk, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
