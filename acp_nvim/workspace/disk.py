"""Text files on disk, off the event loop: only regular ones, read whole, written whole or not at all."""

from __future__ import annotations

import os

import anyio.to_thread
import msgspec

from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.workspace.encoding import decode, encode
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW, check_regular, in_words, regular_file
from acp_nvim.workspace.replacing import replace
from acp_nvim.workspace.stamps import stamp_of

# what was a regular file may be something else by now: a FIFO without a writer must not hang us, a link not lead away
_OPEN_TO_READ = READ_NOW | os.O_NOFOLLOW
_OPEN_TO_OVERWRITE = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class DiskText(msgspec.Struct, frozen=True):
    """A file as it was at one moment."""

    text: str
    """Its line ends as they are; U+FEFF first when it has a byte order mark."""

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
