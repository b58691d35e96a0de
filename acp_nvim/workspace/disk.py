"""Text files on disk, off the event loop: only regular ones, read whole, written whole or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import anyio.to_thread

from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # a FIFO without a writer must not hang us


async def read(path: str) -> str:
    """The text of the file. Raises `FileRefusedError`."""
    return await anyio.to_thread.run_sync(_read, path)


async def write(path: str, text: str) -> None:
    """Replace the file by `text` in one step; its directories are made. Raises `FileRefusedError`."""
    await anyio.to_thread.run_sync(_write, path, text)


def _read(path: str) -> str:
    try:
        return _decode(path, _read_bytes(path))
    except FileNotFoundError as error:
        raise NoSuchFileError(f"{path} does not exist") from error
    except OSError as error:
        raise FileRefusedError(f"{path} cannot be read: {error.strerror}") from error


def _read_bytes(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | _NONBLOCK | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        _check(path, status, status.st_size)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        _check(path, status, len(data))  # it may have grown, and some files of the system say that they are empty
        return data
    finally:
        os.close(descriptor)


def _check(path: str, status: os.stat_result, size: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise FileRefusedError(f"{path} is {what}")
    if size > MAX_FILE_BYTES:
        raise FileRefusedError(f"{path} has {size} bytes or more; the limit is {MAX_FILE_BYTES}")


def _decode(path: str, data: bytes) -> str:
    if b"\0" in data[:8192]:
        raise FileRefusedError(f"{path} is a binary file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileRefusedError(f"{path} is not UTF-8 text") from error


def _write(path: str, text: str) -> None:
    try:
        mode = _mode_of(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _replace(path, text.encode("utf-8"), mode)
    except OSError as error:
        raise FileRefusedError(f"{path} cannot be written: {error.strerror}") from error


def _mode_of(path: str) -> int | None:
    """The permission bits that the file has; None for a new one, which gets those that the user's umask gives."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise FileRefusedError(f"{path} is not a regular file")
    if not os.access(path, os.W_OK):
        raise FileRefusedError(f"{path} cannot be written: Permission denied")
    return stat.S_IMODE(status.st_mode)


def _replace(path: str, data: bytes, mode: int | None) -> None:
    temporary = os.path.join(os.path.dirname(path), f".acp_nvim-{os.urandom(8).hex()}")
    # 0o666, and the system takes the umask off: asking for it would change it for the whole process
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
