"""What the files that git names are just now: kept, left out or gone."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from acp_nvim.limits import SNAPSHOT_FILE_BYTES
from acp_nvim.snapshots.objects import BLOB, LooseObjects
from acp_nvim.snapshots.trees import EXECUTABLE, FILE, LEFT_OUT, SYMLINK, Entry
from acp_nvim.workspace.regular_files import READ_NOW, read_regular

SETTLED_NS: Final = 2_000_000_000
"""A file that was changed so shortly before it was read may change again without a new time: some count seconds."""


class Found(NamedTuple):
    """A path of a work tree."""

    path: bytes
    key: str = ""
    """The same as long as the file is; "" when there is no regular file and no link."""
    size: int = 0
    left_out: Entry | None = None
    """The entry in a tree of a file whose content cannot or should not be kept."""
    refused: bool = False
    """git would not take it: a socket, say, or a link with a name that it keeps for itself."""
    mode: int = FILE
    """As a tree has it; of a regular file."""
    is_private: bool = False
    """A regular file that only its owner may read."""
    is_secret: bool = False
    """Its content is in memory only, and a tree has it as left out."""


def look(top: bytes, paths: Iterable[bytes]) -> list[Found]:
    """What is there now. Blocks."""
    return [_look(top, path) for path in paths]


def is_too_large(size: int) -> bool:
    """Whether a file of that many bytes is left out."""
    return size > SNAPSHOT_FILE_BYTES


def _look(top: bytes, path: bytes) -> Found:
    full = top + b"/" + path
    try:
        status = os.lstat(full)
    except OSError:
        return Found(path)
    if stat.S_ISDIR(status.st_mode):
        return Found(path)
    if _is_refused(path, status):
        return Found(path, refused=True)
    key = _key(status)
    kept = stat.S_ISLNK(status.st_mode) or (not is_too_large(status.st_size) and os.access(full, os.R_OK))
    mode = EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    is_private = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
    return Found(path, key, status.st_size, None if kept else _left_out(key), mode=mode, is_private=is_private)


def _is_refused(path: bytes, status: os.stat_result) -> bool:
    if stat.S_ISLNK(status.st_mode):
        return os.path.basename(path).lower() == b".gitmodules"
    return not stat.S_ISREG(status.st_mode)


def _key(status: os.stat_result) -> str:
    kind = "l" if stat.S_ISLNK(status.st_mode) else "x" if status.st_mode & stat.S_IXUSR else "f"
    return f"{kind} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def as_secret(found: Found) -> Found:
    """The same, to be left out."""
    return found._replace(left_out=_left_out(found.key), is_secret=True)


def _left_out(key: str) -> Entry:
    return Entry(LEFT_OUT, hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest())


def keep_file(objects: LooseObjects, top: bytes, path: bytes) -> tuple[str, Entry | None]:
    """Store the content; returns the key that it is good for ("" when the file may change unseen) and its entry.

    None when there is no such file any more. Blocks; raises `OSError` when there is no room.
    """
    before = time.time_ns()
    full = top + b"/" + path
    try:
        status = os.lstat(full)
        data = os.readlink(full) if stat.S_ISLNK(status.st_mode) else _read(full)
    except OSError:
        found = _look(top, path)
        return "", found.left_out
    mode = SYMLINK if stat.S_ISLNK(status.st_mode) else EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    settled = max(status.st_mtime_ns, status.st_ctime_ns) + SETTLED_NS < before
    return _key(status) if settled else "", Entry(mode, objects.write(BLOB, data))


def _read(path: bytes) -> bytes:
    """Raises `OSError`, also when it is no regular file, or has grown too large."""
    data = read_regular(path, SNAPSHOT_FILE_BYTES + 1, READ_NOW | os.O_NOFOLLOW)
    if len(data) > SNAPSHOT_FILE_BYTES:
        raise OSError("too large")
    return data
