"""Files as git sees them: their bytes and their mode, links included."""

from __future__ import annotations

import os
import stat

import msgspec

from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.review.contents import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, blob_id, stat_blob
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.regular_files import READ_NOW, read_regular


class Found(msgspec.Struct, frozen=True):
    """A file; `data` is None, and the blob only stands for the file, when it is too large, or cannot be read."""

    blob: Blob
    data: bytes | None


def look_at(path: str) -> Found | None:
    """The file as it is now; None when there is none, or nothing that git would keep."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            data = os.readlink(os.fsencode(path))
            return Found(Blob(blob_id(data), LINK_MODE), data)
        if not stat.S_ISREG(status.st_mode):
            return None
        mode = git_mode(status.st_mode)
        if status.st_size > MAX_FILE_BYTES:
            return Found(stat_blob(status, mode), None)
    except OSError:
        return None
    try:
        data = read_regular(path, MAX_FILE_BYTES, READ_NOW | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError:
        return Found(stat_blob(status, mode), None)
    return Found(Blob(blob_id(data), mode), data)


def mode_of(path: str) -> int:
    """What git would say; of a file that is not there, what a new one has."""
    try:
        return git_mode(os.stat(path).st_mode)
    except OSError:
        return FILE_MODE


def git_mode(mode: int) -> int:
    """Git knows whether the owner may execute a file."""
    return EXECUTABLE_MODE if mode & stat.S_IXUSR else FILE_MODE
