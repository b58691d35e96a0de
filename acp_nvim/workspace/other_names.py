"""Finds the name of a file in its directory, where the file system takes others for it: case, accents, short names."""

from __future__ import annotations

import os
import unicodedata
from typing import Final

ENTRIES: Final = 20_000
"""Entries of a directory that are compared, in 40 ms."""


def in_listing(real: str, top: str) -> str:
    """Return a real path below `top` with the names that the directories list, as far as the files exist."""
    listed = top.rstrip(os.sep)
    for name in real.removeprefix(listed + os.sep).split(os.sep):
        listed += os.sep + (_listed(listed or os.sep, name) or name)
    return listed


def _listed(directory: str, name: str) -> str | None:
    """Return the name in the directory of what it calls `name`; None if that is it, or there is no such file."""
    try:
        status = os.lstat(os.path.join(directory, name))
        if not _may_be_another(directory, name, status):
            return None
        found = None
        with os.scandir(directory) as entries:
            for _, entry in zip(range(ENTRIES), entries, strict=False):
                if entry.name == name:
                    return None
                if found is None and entry.inode() == status.st_ino:
                    found = entry.name
    except (OSError, ValueError):  # no such file, or nobody may look
        return None
    return found


def _may_be_another(directory: str, name: str, status: os.stat_result) -> bool:
    """Whether another spelling of the name is the same file, or the name is like those that FAT makes up."""
    others = {name.swapcase(), unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)} - {name}
    return "~" in name or any(_is_same(os.path.join(directory, one), status) for one in others)


def _is_same(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), status)
    except OSError:
        return False
