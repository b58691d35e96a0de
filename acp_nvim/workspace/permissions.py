"""Permissions of files: remembered as numbers, and given to files that are made again, never wider than they were.

A permission number has the permission bits (0o7777) and, above them, the id of the group that the bits are about.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from acp_nvim.process import umask

_BITS: Final = 0o7777
_OWNER_DIRECTORY: Final = 0o700


def number_of(status: os.stat_result) -> int:
    """Return the permission number of a file or directory.

    Without the set-user-ID bit of another user's file: a new file would run as this user.
    """
    mode = status.st_mode & _BITS
    if mode & stat.S_ISUID and status.st_uid != os.geteuid():
        mode &= ~stat.S_ISUID
    return mode | status.st_gid << 12


def bits(number: int) -> int:
    """Return the permission bits of a permission number."""
    return number & _BITS


def unknown(is_executable: bool = False) -> int:
    """Return what a file gets whose permissions are not known: its owner's alone, and no more than their umask."""
    allowed = ~umask.of_users() if umask.of_users() >= 0 else -1
    return (0o700 if is_executable else 0o600) & allowed | os.getegid() << 12


def permissions_at(path: str, root: str, status: os.stat_result | None = None) -> tuple[int, ...]:
    """Return the numbers of the file, and of the directories above it below `root`, the innermost first.

    `status` is the file's if it is known. Empty if there is no such file. Blocks.
    """
    try:
        found = [number_of(os.lstat(path) if status is None else status)]
        for directory in _directories(path, root):
            found.append(number_of(os.lstat(directory)))
    except OSError:
        return ()
    return tuple(found)


def _directories(path: str, root: str) -> Iterable[str]:
    top = os.path.join(root, "")
    path = os.path.dirname(path)
    while path.startswith(top):
        yield path
        path = os.path.dirname(path)


def give(target: int | str, number: int) -> None:
    """Give a file or directory these permissions; if it cannot have their group, its own gets no more than others.

    Raises `OSError`.
    """
    mode, group = bits(number), number >> 12
    status = os.stat(target)
    if status.st_gid != group:
        try:
            os.chown(target, -1, group)  # first: it may remove bits
        except OSError:
            mode &= ~(stat.S_ISGID | stat.S_IRWXG) | (mode & stat.S_IRWXO) << 3
    os.chmod(target, mode)


_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_directory(path: str, make: bool, permissions: Sequence[int] | None = None) -> int:
    """Open a directory by its real path, component by component, so that no symbolic link made meanwhile is followed.

    Missing directories are created if `make`: with the user's umask, or with these permission numbers, the innermost
    first; those beyond them, for their owner only. Raises `OSError`.
    """
    names = [name for name in path.split(os.sep) if name]
    descriptor = os.open(os.sep, _DIRECTORY)
    for above, name in zip(range(len(names) - 1, -1, -1), names, strict=True):
        try:
            inner = _open_inner(name, descriptor, make, None if permissions is None else permissions[above : above + 1])
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _open_inner(name: str, above: int, make: bool, permissions: Sequence[int] | None) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(name, _OWNER_DIRECTORY if permissions is not None else 0o777, dir_fd=above)
    except FileExistsError:  # another process created it just now
        return os.open(name, _DIRECTORY, dir_fd=above)
    made = os.open(name, _READABLE_DIRECTORY, dir_fd=above)  # with O_PATH its permissions could not be set
    if permissions is None:
        umask.share(made, 0o777)
    for number in permissions or ():
        with suppress(OSError):
            give(made, number | _OWNER_DIRECTORY)  # files are made in it next
    return made


def make_directories(path: str, permissions: Sequence[int] | None = None) -> None:
    """Create a directory and its missing parents (see `open_directory`). Raises `OSError`."""
    os.close(open_directory(path, make=True, permissions=permissions))
