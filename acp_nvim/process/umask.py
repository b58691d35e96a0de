"""Whatever the umask is, files of ours are readable by the user alone; the user's own files keep to their umask."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio.to_thread

PRIVATE = 0o077

_users: int | None = None


def make_private() -> None:
    """From now on this process makes files for the user alone. Once, before anything is written."""
    global _users
    if _users is None:
        _users = os.umask(PRIVATE)


def of_users() -> int:
    """The user's umask, for processes that work for them; -1 (as it is) when `make_private` was not called."""
    return -1 if _users is None else _users


def share(path: str | int, mode: int) -> None:
    """Give a file or directory that was made for the user the permissions that they would have given it."""
    if _users is not None:
        os.chmod(path, mode & ~_users)


def make_directories(path: str) -> None:
    """Make a directory and its missing parents, with the user's umask. Raises `OSError`."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for one in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(one)
            share(one, 0o777)


async def narrow_all(directories: Iterable[str], apart: Path) -> None:
    """Do what `narrow` does for each of the directories, in a thread."""
    for one in directories:
        await anyio.to_thread.run_sync(narrow, Path(one), apart)


def narrow(directory: Path, apart: Path | None = None) -> None:
    """Take the permissions of others from all that is there, but for what is below `apart`. Blocks.

    Older versions have left files that others may read. Links are not followed.
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
