"""A JSON file in the state directory that all Neovims of the user read and change."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from acp_nvim.workspace.private_file import make_directory, write_new

T = TypeVar("T")


class SharedJson(Generic[T]):
    """At `path`, of the shape `kind`; more than `most` bytes are not ours. All of it blocks, and raises `OSError`."""

    def __init__(self, path: Path, kind: type[T], most: int) -> None:
        self.path = path
        self._kind = kind
        self._most = most

    def __repr__(self) -> str:
        return f"<SharedJson {self.path}>"

    def load(self) -> T | None:
        """None when there is no file. A broken one is put aside, so that this fails once for each."""
        try:
            with self.path.open("rb") as file:
                return msgspec.json.decode(file.read(self._most), type=self._kind)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            aside = self.path.with_name(f"{self.path.stem}.broken-{uuid.uuid4().hex[:6]}")
            self.path.rename(aside)
            raise OSError(0, f"it was not written by acp_nvim ({error}), and is {aside} now") from error

    def change(self, change: Callable[[T | None], T]) -> None:
        """The old or the new is there at any time."""
        make_directory(self.path.parent)
        with self._alone():
            temporary = self.path.with_name(f"{self.path.stem}.new-{uuid.uuid4().hex[:6]}")
            write_new(temporary, msgspec.json.format(msgspec.json.encode(change(self.load()))))
            try:
                temporary.replace(self.path)
            except OSError:
                with suppress(OSError):
                    temporary.unlink()
                raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other Neovim changes the file meanwhile."""
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
