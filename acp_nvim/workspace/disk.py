"""Text files on disk, off the event loop: only regular ones, read whole, written whole or not at all."""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from contextlib import suppress
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.process import umask
from acp_nvim.workspace.encoding import decode, encode
from acp_nvim.workspace.refusals import ChangedOnDiskError, FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW, check_regular, in_words, regular_file
from acp_nvim.workspace.stamps import stamp_of

LEFT_OVER_SECONDS: Final = 3600.0
"""Age at which a temporary file of ours is removed: no write takes an hour, so whoever made it was killed."""

_PREFIX = ".acp_nvim-"
_TEMPORARY = re.compile(re.escape(_PREFIX) + r"[0-9a-f]{16}")
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_NOT_COPIED = {"security.capability", "security.ima", "security.evm"}
"""Extended attributes that are about the old content: rights of a program, and signatures."""

# what was a regular file may be something else by now: a FIFO without a writer must not hang us, a link not lead away
_OPEN_TO_READ = READ_NOW | os.O_NOFOLLOW
_OPEN_TO_OVERWRITE = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def replace(path: str, data: bytes, expected: str | None) -> str:
    """Make `data` the file's bytes if its stamp is `expected` (None: there must be no file); returns the new stamp.

    Raises `ChangedOnDiskError`, `FileRefusedError` and `OSError`; then nothing has changed.
    """
    old = regular_file(path)
    _check_stamp(path, old, expected)
    if old is not None:
        _check_writable(path)
    directory = _open_directory(os.path.dirname(path), make=old is None)
    try:
        return _replace(path, directory, data, old, expected)
    finally:
        os.close(directory)


def _replace(path: str, directory: int, data: bytes, old: os.stat_result | None, expected: str | None) -> str:
    temporary = f"{_PREFIX}{os.urandom(8).hex()}"
    descriptor = _create(path, temporary, directory, old)
    try:
        new = _fill(descriptor, data, path, old)
        _put(temporary, path, directory, expected)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    _finish(os.path.dirname(path))
    return new


def _open_directory(path: str, make: bool) -> int:
    """Open a directory by its real path, step by step, so that no symbolic link that is put there now is followed.

    Directories that are missing are made, if `make`. Raises `OSError`.
    """
    descriptor = os.open(os.sep, _DIRECTORY)
    for name in path.split(os.sep):
        if not name:
            continue
        try:
            inner = _open_inner(name, descriptor, make)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _open_inner(name: str, above: int, make: bool) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(name, dir_fd=above)
    except FileExistsError:  # somebody else has made it just now
        return os.open(name, _DIRECTORY, dir_fd=above)
    made = os.open(name, _READABLE_DIRECTORY, dir_fd=above)  # with O_PATH its permissions could not be set
    umask.share(made, 0o777)
    return made


def _check_stamp(path: str, status: os.stat_result | None, expected: str | None) -> None:
    found = None if status is None else stamp_of(status)
    if found == expected:
        return
    if expected is None:
        what = "was made by somebody else just now"
    else:
        what = "was deleted since it was read" if found is None else "has changed on disk since it was read"
    raise ChangedOnDiskError(f"{path} {what}. Nothing was written. Read it again and redo your change.")


def _check_writable(path: str) -> None:
    """A file that is protected stays: to be replaced it would need no permission of its own."""
    if not os.access(path, os.W_OK):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))  # says why


def _create(path: str, temporary: str, directory: int, old: os.stat_result | None) -> int:
    """A new file beside the old one, which nobody else may read until it has the old one's permissions."""
    try:
        descriptor = os.open(temporary, _CREATE, 0o666 if old is None else 0o600, dir_fd=directory)
        if old is None:
            umask.share(descriptor, 0o666)
        return descriptor
    except PermissionError as error:
        raise FileRefusedError(
            f"{path} cannot be written: the user who runs Neovim may not make files in {os.path.dirname(path)}. "
            "Ask them to give the permission, or write elsewhere"
        ) from error


def _fill(descriptor: int, data: bytes, path: str, old: os.stat_result | None) -> str:
    """Write all, on the disk itself, with what else belongs to the file; closes it, and returns its stamp."""
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if old is not None:
            _take_after(descriptor, path, old)
        os.fsync(descriptor)
        return stamp_of(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _take_after(descriptor: int, path: str, old: os.stat_result) -> None:
    """Owner and extended attributes as far as the system lets us, then the mode, which both may change."""
    for owner in (old.st_uid, -1):
        with suppress(OSError):
            os.fchown(descriptor, owner, old.st_gid)
            break
    _copy_attributes(path, descriptor)
    new = os.fstat(descriptor)
    mode = stat.S_IMODE(old.st_mode)
    if new.st_uid != old.st_uid:
        mode &= ~stat.S_ISUID  # it would run as us now
    if new.st_gid != old.st_gid:
        mode &= ~stat.S_ISGID
    if stat.S_IMODE(new.st_mode) != mode:
        os.fchmod(descriptor, mode)


def _copy_attributes(path: str, descriptor: int) -> None:
    """The old file's extended attributes, and none that the directory gives to new files; ACLs are among them."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        names = os.listxattr(path, follow_symlinks=False)
        for name in set(os.listxattr(descriptor)).difference(names):
            with suppress(OSError):
                os.removexattr(descriptor, name)
        for name in set(names) - _NOT_COPIED:
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name, follow_symlinks=False))


def _put(temporary: str, path: str, directory: int, expected: str | None) -> None:
    """Give the new file its name in `directory`, unless somebody else wrote the old one meanwhile."""
    name = os.path.basename(path)
    if expected is None and _link(temporary, name, directory):
        return
    _check_stamp(path, regular_file(path), expected)
    os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _link(temporary: str, name: str, directory: int) -> bool:
    """Give a new file its name, if nobody else has it; False when somebody has, or the file system has no links."""
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        return False
    with suppress(OSError):
        os.unlink(temporary, dir_fd=directory)
    return True


def _finish(directory: str) -> None:
    """The directory on the disk too, as far as the system can; and away with what we left there when we were killed."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and _is_left_over(entry.stat(follow_symlinks=False)):
                os.unlink(entry.path)


def _is_left_over(status: os.stat_result) -> bool:
    old = time.time() - status.st_mtime > LEFT_OVER_SECONDS
    return old and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


class DiskText(msgspec.Struct, frozen=True):
    """A file as it was at one moment."""

    text: str
    """The text with the file's own line ends; U+FEFF first when the file has a byte order mark."""

    encoding: str
    """As Neovim's 'fileencoding' names it."""

    stamp: str
    """Which state of the file this is: see `acp_nvim.workspace.stamps`."""

    size: int
    """In bytes."""

    changed: int
    """When it was changed last (ctime), in nanoseconds since 1970."""


async def read(path: str, hint: str | None = None) -> DiskText:
    """The text of the file with that real path; `hint` is the encoding of its buffer, if it has one.

    Raises `NoSuchFileError` and `FileRefusedError`.
    """
    return await anyio.to_thread.run_sync(_read, path, hint)


async def stamp(path: str) -> str | None:
    """The stamp of the file as it is now; None when there is none."""
    return await anyio.to_thread.run_sync(_stamp, path)


async def write(path: str, text: str, encoding: str = "utf-8", expected: str | None = None) -> str:
    """Replace the file with that real path in one step, if its stamp is still `expected`; returns the new stamp.

    `expected` is None for a file that is not there yet; its directories are made. Raises `ChangedOnDiskError` when
    the file is another one than that, and `FileRefusedError`; in both cases nothing was written.
    """
    return await anyio.to_thread.run_sync(_write, path, text, encoding, expected)


async def put_back(path: str, text: str, encoding: str) -> None:
    """Replace what is left of a file by the text that it had; in place, when there is no room for a second file."""
    try:
        await write(path, text, encoding, await stamp(path))
    except FileRefusedError:
        await anyio.to_thread.run_sync(_overwrite, path, encode(path, text, encoding))


def _overwrite(path: str, data: bytes) -> None:
    try:
        descriptor = os.open(path, _OPEN_TO_OVERWRITE)
        with os.fdopen(descriptor, "r+b") as file:
            check_regular(path, os.fstat(descriptor))
            file.write(data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise FileRefusedError(f"{path} cannot be written: {error.strerror}") from error


def _stamp(path: str) -> str | None:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def _read(path: str, hint: str | None) -> DiskText:
    try:
        if regular_file(path) is None:
            raise NoSuchFileError(f"{path} does not exist")
        data, status = _read_bytes(path)
    except FileNotFoundError as error:
        raise NoSuchFileError(f"{path} does not exist") from error
    except OSError as error:
        raise in_words(path, "read", error) from error
    text, encoding = decode(path, data, hint)
    return DiskText(text, encoding, stamp_of(status), len(data), status.st_ctime_ns)


def _read_bytes(path: str) -> tuple[bytes, os.stat_result]:
    """All bytes, and what the system said of the file before: who writes it meanwhile makes the stamp an old one."""
    descriptor = os.open(path, _OPEN_TO_READ)
    try:
        status = os.fstat(descriptor)
        check_regular(path, status)
        _check_size(path, status.st_size)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        _check_size(path, len(data))  # it may have grown
        return data, status
    finally:
        os.close(descriptor)


def _check_size(path: str, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise FileRefusedError(f"{path} has {size} bytes or more; the limit is {MAX_FILE_BYTES}")


def _write(path: str, text: str, encoding: str, expected: str | None) -> str:
    data = encode(path, text, encoding)
    try:
        return replace(path, data, expected)
    except OSError as error:
        raise in_words(path, "written", error) from error
