"""Makes our files private whatever the umask is; files of the user's project get the user's umask."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio.to_thread

PRIVATE = 0o077

_users: int | None = None


def make_private() -> None:
    """Let this process create private files from now on. Call it before anything is written."""
    global _users
    if _users is None:
        _users = os.umask(PRIVATE)


def of_users() -> int:
    """Return the user's umask, for processes that work for the user; -1 (unchanged) without `make_private`."""
    return -1 if _users is None else _users


def share(path: str | int, mode: int) -> None:
    """Give a file or directory created for the user the permissions that the user's umask allows of `mode`."""
    if of_users() >= 0:
        os.chmod(path, mode & ~of_users())


async def narrow_all(directories: Iterable[str], apart: Path) -> None:
    """Call `narrow` for each of the directories, in a thread."""
    for one in directories:
        await anyio.to_thread.run_sync(narrow, Path(one), apart)


def narrow(directory: Path, apart: Path | None = None) -> None:
    """Remove the permissions of other users from everything in the directory, except what is below `apart`. Blocks.

    Older versions left files that others may read. Does not follow links.
    """
    waiting = [str(directory)]
    while waiting:
        path = waiting.pop()
        with suppress(OSError):
            _narrow(path, os.lstat(path).st_mode)
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if apart is None or entry.path != str(apart):
                            waiting.append(entry.path)
                    elif not entry.is_symlink():
                        _narrow(entry.path, entry.stat(follow_symlinks=False).st_mode)


def _narrow(path: str, mode: int) -> None:
    if mode & PRIVATE:
        with suppress(OSError):
            os.chmod(path, mode & 0o7777 & ~PRIVATE)
