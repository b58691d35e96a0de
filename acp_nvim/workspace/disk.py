"""Reads and writes text files on disk in threads: regular files only, each written completely or not at all.

A file's stamp identifies one state of it: equal stamps mean that the file was not written in between.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.process import umask
from acp_nvim.state.private_file import sync_directory
from acp_nvim.workspace.encoding import decode, encode
from acp_nvim.workspace.permissions import give, open_directory
from acp_nvim.workspace.refusals import ChangedOnDiskError, FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW, check_regular, in_words, regular_file

LEFT_OVER_SECONDS: Final = 3600.0
"""Age at which a temporary file of ours is removed: no write takes an hour, so its process was killed."""
MOVED_ENTRIES: Final = 50_000
"""Directory entries that are searched for a renamed file: 0.2 s."""

_PREFIX = ".acp_nvim-"
_TEMPORARY = pattern(re.escape(_PREFIX) + r"[0-9a-f]{16}")
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_NOT_COPIED = {"security.capability", "security.ima", "security.evm"}
"""Extended attributes that describe the old content: capabilities of a program, and signatures."""

# the file may have been replaced since it was checked: do not wait for a FIFO's writer, and do not follow a link
_OPEN_TO_READ = READ_NOW | os.O_NOFOLLOW
_OPEN_TO_OVERWRITE = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def replace(path: str, data: bytes, expected: str | None, permissions: Sequence[int] | None = None) -> str:
    """Replace the file's bytes by `data` if its stamp is `expected` (None: no file exists); return the new stamp.

    The file keeps its permissions. A new file gets those of the user's umask, or the permission numbers of the file and
    of the directories above it; with them, a write-protected file of the user's is replaced, too.
    Raises `ChangedOnDiskError`, `FileRefusedError` and `OSError`; the file is unchanged then.
    """
    old = regular_file(path)
    _check_stamp(path, old, expected)
    if old is not None and (permissions is None or old.st_uid != os.geteuid()):
        _check_writable(path)
    directory = open_directory(os.path.dirname(path), old is None, permissions and permissions[1:])
    try:
        return _replace(path, directory, data, old, expected, permissions)
    finally:
        os.close(directory)


def _replace(
    path: str,
    directory: int,
    data: bytes,
    old: os.stat_result | None,
    expected: str | None,
    permissions: Sequence[int] | None,
) -> str:
    temporary = f"{_PREFIX}{os.urandom(8).hex()}"
    descriptor = _create(path, temporary, directory, 0o666 if old is None and permissions is None else 0o600)
    try:
        new = _fill(descriptor, data, path, old, permissions)
        _put(temporary, path, directory, expected)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    _finish(os.path.dirname(path))
    return new


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
    """Raise `OSError` for a write-protected file: replacing it needs no write permission for the file itself."""
    if not os.access(path, os.W_OK):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))  # raises the reason


def _create(path: str, temporary: str, directory: int, mode: int) -> int:
    """Create the temporary file; it gets other permissions only when it is complete."""
    try:
        return os.open(temporary, _CREATE, mode, dir_fd=directory)
    except PermissionError as error:
        raise FileRefusedError(
            f"{path} cannot be written: the user who runs Neovim may not make files in {os.path.dirname(path)}. "
            "Ask them to give the permission, or write elsewhere"
        ) from error


def _fill(
    descriptor: int, data: bytes, path: str, old: os.stat_result | None, permissions: Sequence[int] | None
) -> str:
    """Write and sync the data, then set the permissions, close the descriptor, return the stamp."""
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if old is not None:
            _take_after(descriptor, path, old)
        elif permissions is not None:
            give(descriptor, permissions[0])
        else:
            umask.share(descriptor, 0o666)
        os.fsync(descriptor)
        return stamp_of(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _take_after(descriptor: int, path: str, old: os.stat_result) -> None:
    """Copy owner and extended attributes as far as permitted, then the mode, which both may change."""
    for owner in (old.st_uid, -1):
        with suppress(OSError):
            os.fchown(descriptor, owner, old.st_gid)
            break
    _copy_attributes(path, descriptor)
    new = os.fstat(descriptor)
    mode = stat.S_IMODE(old.st_mode)
    if new.st_uid != old.st_uid:
        mode &= ~stat.S_ISUID  # it would run as this user
    if new.st_gid != old.st_gid:
        mode &= ~stat.S_ISGID
    if stat.S_IMODE(new.st_mode) != mode:
        os.fchmod(descriptor, mode)


def _copy_attributes(path: str, descriptor: int) -> None:
    """Copy the old file's extended attributes (with ACLs), and remove those inherited from the directory."""
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
    """Rename the new file to its name in `directory`, unless the old one was written meanwhile."""
    name = os.path.basename(path)
    if expected is None and _link(temporary, name, directory):
        return
    _check_stamp(path, regular_file(path), expected)
    os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _link(temporary: str, name: str, directory: int) -> bool:
    """Link a new file to its name; False when the name is taken, or the file system has no hard links."""
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        return False
    with suppress(OSError):
        os.unlink(temporary, dir_fd=directory)
    return True


def _finish(directory: str) -> None:
    """Sync the directory, and remove temporary files that killed processes left in it."""
    sync_directory(directory)
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and _is_left_over(entry.stat(follow_symlinks=False)):
                os.unlink(entry.path)


def _is_left_over(status: os.stat_result) -> bool:
    old = time.time() - status.st_mtime > LEFT_OVER_SECONDS
    return old and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


class DiskText(msgspec.Struct, frozen=True):
    """The content of a file in the state `stamp`.

    `text` has the file's own line ends, and U+FEFF first when the file has a byte order mark. `encoding` is a value of
    Neovim's 'fileencoding', `size` is in bytes, `changed` is the ctime in nanoseconds since 1970.
    """

    text: str
    encoding: str
    stamp: str
    size: int
    changed: int


async def read(path: str, hint: str | None = None) -> DiskText:
    """Read the file with that real path; `hint` is the encoding of its buffer, if it has one.

    Raises `NoSuchFileError` and `FileRefusedError`.
    """
    return await anyio.to_thread.run_sync(_read, path, hint)


async def stamp(path: str) -> str | None:
    """Return the current stamp of the file; None when there is no file."""
    return await anyio.to_thread.run_sync(_stamp, path)


async def write(path: str, text: str, encoding: str = "utf-8", expected: str | None = None) -> str:
    """Replace the file with that real path atomically, if its stamp is still `expected`; return the new stamp.

    `expected` is None for a new file; its directories are created. Raises `ChangedOnDiskError` when the stamp is
    another one, and `FileRefusedError`; nothing was written then.
    """
    return await anyio.to_thread.run_sync(_write, path, text, encoding, expected)


async def put_back(path: str, text: str, encoding: str) -> None:
    """Restore the text of a half-written file; in place, when there is no room for a second file."""
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
    """Return all bytes, and the status before reading: a concurrent write makes its stamp out of date."""
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


def stamp_of(status: os.stat_result) -> str:
    """Return `device:inode:size:seconds.nanoseconds` (mtime); Lua builds the same string from `vim.uv.fs_stat`.

    The numbers are decimal without padding; device and inode as `("%d"):format(...)` formats them in Lua.
    """
    seconds, nanoseconds = divmod(status.st_mtime_ns, 10**9)
    return f"{_in_lua(status.st_dev)}:{_in_lua(status.st_ino)}:{status.st_size}:{seconds}.{nanoseconds}"


def _in_lua(number: int) -> int:
    """Convert a 64-bit number as Lua does: signed, with the 53 bits of a double; some file systems use all 64."""
    return int(float(number - (1 << 64) if number >= 1 << 63 else number))


async def find_moved(path: str, stamp: str, directories: Sequence[str]) -> str | None:
    """Find the file that had `stamp` at `path` by inode and size; return its real path, or None.

    Searches near `path` first, then in `directories`. Inodes are reused: the caller must compare the texts.
    """
    return await anyio.to_thread.run_sync(_find, path, stamp, directories)


def _find(path: str, stamp: str, directories: Sequence[str]) -> str | None:
    inode = int(stamp.split(":")[1])
    for entry in _entries(deque([os.path.dirname(path), *directories])):
        with suppress(OSError):
            if int(float(entry.inode())) != inode or not entry.is_file(follow_symlinks=False):
                continue
            if _without_time(stamp_of(entry.stat(follow_symlinks=False))) == _without_time(stamp):
                return entry.path
    return None


def _without_time(stamp: str) -> str:
    return stamp.rpartition(":")[0]


def _entries(waiting: deque[str]) -> Iterable[os.DirEntry[str]]:
    """Yield the entries of the directories, breadth first, without the directories of version control."""
    seen, left = set[str](), MOVED_ENTRIES
    while waiting and left > 0:
        directory = waiting.popleft()
        if directory in seen:
            continue
        seen.add(directory)
        try:
            with os.scandir(directory) as found:
                entries = list(found)
        except OSError:
            continue
        left -= len(entries)
        yield from entries
        waiting.extend(
            entry.path for entry in entries if entry.name not in (".git", ".hg") and entry.is_dir(follow_symlinks=False)
        )
