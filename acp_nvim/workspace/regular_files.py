"""Checks that files are regular before they are opened, and explains errors of the system."""

from __future__ import annotations

import errno
import os
import stat

from acp_nvim.workspace.refusals import FileRefusedError

_OF_THE_SYSTEM = ("/proc", "/sys")
"""Their files claim to be regular, but reading and writing them has effects."""

_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISLNK, "is a symbolic link in a circle, or one that was put there just now"),
    (stat.S_ISFIFO, "is a FIFO, not a regular file"),
    (stat.S_ISSOCK, "is a socket, not a regular file"),
    (stat.S_ISCHR, "is a device, not a regular file"),
    (stat.S_ISBLK, "is a device, not a regular file"),
)

READ_NOW = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags to open a file of a project without waiting for the writer of a FIFO."""

_NOT_ALLOWED = "the user who runs Neovim has no permission. Ask them to give it, or leave the file alone"
_WORDS = {
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.ENOSPC: "no space is left on the disk. The user has to make room first",
    errno.EDQUOT: "the user's disk quota is used up. They have to make room first",
    errno.EFBIG: "it would be larger than the user's system allows a file to be. Write less, or into several files",
    errno.EROFS: "its file system is mounted read-only. Ask the user, or write elsewhere",
    errno.ENAMETOOLONG: "its name is too long for the file system. Use a shorter one",
    errno.ENOTDIR: "a part of its path is a file, not a directory. Check the path",
    errno.ELOOP: "its path has symbolic links in a circle, or one that was put there just now. Check the path",
    errno.EIO: "the user's disk reports an error. Tell them",
}

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk, or an exceeded quota."""


def regular_file(path: str) -> os.stat_result | None:
    """Return the status of a file without opening it; None when there is none.

    Raises `FileRefusedError` when it is not a regular file or `path` is not absolute, and `OSError`.
    """
    if not os.path.isabs(path):
        raise FileRefusedError(f"{path!r} is not an absolute path")
    if any(path == top or path.startswith(top + os.sep) for top in _OF_THE_SYSTEM):
        raise FileRefusedError(f"{path} is no file of a project: it belongs to the system itself, and is never opened")
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    except ValueError as error:  # a NUL, or half a pair of surrogates
        raise FileRefusedError(f"{path!r} cannot be the path of a file: {error}") from error
    check_regular(path, status)
    return status


def read_regular(path: str | bytes, most: int, flags: int = READ_NOW) -> bytes:
    """Read up to `most` bytes of a regular file, following links. Raises `OSError` for anything else.

    `flags` are those of `os.open`.
    """
    # `os.fdopen` would leave the descriptor of a directory open
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", path)
        return file.read(most)


def check_regular(path: str, status: os.stat_result) -> None:
    """Raise `FileRefusedError` for anything but a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(status.st_mode)), "is not a regular file")
        raise FileRefusedError(f"{path} {kind}")


def in_words(path: str, done: str, error: OSError) -> FileRefusedError:
    """Return an error for the agent: what it means, and what to do. `done` is `read` or `written`."""
    return FileRefusedError(f"{path} cannot be {done}: {system_words(error)}")


def system_words(error: OSError) -> str:
    """Explain why the system refused something, and what to do."""
    return _WORDS.get(error.errno or 0) or error.strerror or str(error)
