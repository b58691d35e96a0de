"""A mark in the state directory of a workspace: whose it is, when it was used last, and that a host uses it now."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from acp_nvim.workspace.private_file import make_directory

NAME: Final = "root"
"""The file's name. It holds the device number of the workspace, a space, and its path; its time is the last use."""


class Mark(msgspec.Struct, frozen=True):
    """`root` is the real path of the workspace, `device` the file system that it was on."""

    root: str
    device: int


class InUse:
    """Held by a host from `begin` to `close`, together with others; `directory` is not removed meanwhile."""

    def __init__(self, directory: Path, root: str) -> None:
        self._file = directory / NAME
        self._root = root
        self._lock: int | None = None

    def __repr__(self) -> str:
        return f"<InUse {self._root}>"

    def begin(self) -> None:
        """Make the directory, and mark it. Blocks while somebody removes it. Raises `OSError`."""
        content = b"%d %s" % (os.stat(self._root).st_dev, os.fsencode(self._root))
        while self._lock is None:
            make_directory(self._file.parent)
            with suppress(FileNotFoundError):  # it was removed just now
                self._lock = self._locked()
        if os.pread(self._lock, len(content) + 1, 0) != content:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, content, 0)
        os.utime(self._lock)

    def close(self) -> None:
        """Not used any longer: from now on."""
        if self._lock is not None:
            with suppress(OSError):
                os.utime(self._lock)
            os.close(self._lock)
            self._lock = None

    def _locked(self) -> int | None:
        """None when what was locked is not the directory's file any more."""
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(descriptor), os.stat(self._file)):
                held, descriptor = descriptor, -1
                return held
            return None
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def mark_of(directory: Path) -> Mark | None:
    """What `InUse` has written there; None when it has written nothing."""
    try:
        device, _, root = (directory / NAME).read_bytes().partition(b" ")
        return Mark(os.fsdecode(root), int(device)) if root else None
    except (OSError, ValueError):
        return None
