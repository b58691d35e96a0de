"""Private files in the state directory: new files, and JSON files that several Neovims share."""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from acp_nvim import decoders

log = logging.getLogger(__name__)

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

T = TypeVar("T")


def make_directory(directory: Path) -> None:
    """Create a directory and missing parents for the user only. Raises `OSError`."""
    missing, parent = [], directory.parent
    while not os.path.lexists(parent):
        missing.append(parent)
        parent = parent.parent
    for one in [*reversed(missing), directory]:  # `parents=True` would not make the parents private
        _make_one(one)


def _make_one(directory: Path) -> None:
    while not directory.is_dir():
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:  # created by another process, and perhaps removed since
            with suppress(FileNotFoundError):
                if not stat.S_ISDIR(os.lstat(directory).st_mode):
                    raise


def remove_directory(directory: str | Path) -> None:
    """Remove a directory with all that is in it, as far as possible; do nothing if there is none."""
    import shutil  # here: the host starts without it

    shutil.rmtree(directory, ignore_errors=True)


def write_new(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Create a file with `data`, completely or not at all. Raises `OSError`, `FileExistsError` if the file exists.

    With `durable` the data is on the disk when this returns.
    """
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def replace_whole(path: Path, data: bytes) -> None:
    """Replace the content of a file; after a crash it is the old or the new one. Raises `OSError`.

    Only one process may call it for a path at a time.
    """
    temporary = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    write_new(temporary, data, durable=True)
    _put(temporary, path)
    sync_directory(path.parent)


def _put(temporary: Path, path: Path) -> None:
    """Rename a new file over the old one; remove it on failure. Raises `OSError`."""
    try:
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def sync_directory(directory: str | Path) -> None:
    """Flush the names in a directory to the disk, where the file system supports that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Hold the lock of that file, which has its name with the suffix `.lock`, against other Neovims.

    Blocks while another one holds it; raises `OSError`.
    """
    descriptor = _open_lock(file.with_suffix(".lock"))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def lock_now(file: Path) -> int | None:
    """Lock a file until the returned descriptor is closed; None when it is locked. Raises `OSError`."""
    descriptor = _open_lock(file)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _open_lock(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


class SharedJson(Generic[T]):
    """JSON of type `kind` at `path`; larger files than `most` bytes are invalid. Blocks; raises `OSError`."""

    def __init__(self, path: Path, kind: type[T], most: int) -> None:
        self.path = path
        self._kind = kind
        self._most = most

    def load(self) -> T | None:
        """Return the content; None when there is no file. Rename a broken file, so that this fails only once."""
        try:
            with self.path.open("rb") as file:
                return decoders.decode(file.read(self._most), self._kind)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            aside = self.path.with_name(f"{self.path.stem}.broken-{uuid.uuid4().hex[:6]}")
            self.path.rename(aside)
            log.warning("%s is renamed to %s: %s", self.path, aside.name, error)
            raise OSError(0, f"it was not written by acp_nvim, and is {aside} now") from error

    def change(self, change: Callable[[T | None], T]) -> None:
        """Replace the content by the result of `change`, atomically and under the lock."""
        make_directory(self.path.parent)
        with alone(self.path):
            temporary = self.path.with_name(f"{self.path.stem}.new-{uuid.uuid4().hex[:6]}")
            write_new(temporary, msgspec.json.format(msgspec.json.encode(change(self.load()))))
            _put(temporary, self.path)
