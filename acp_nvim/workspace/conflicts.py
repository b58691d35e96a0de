"""Keeps versions of files that could not be merged with the user's text, until the user has reviewed them."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from sys import getsizeof
from typing import Final, Literal, TypeVar

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.state.private_file import make_directory, write_new

CONFLICTS: Final = 100
"""Maximum number of conflicts of a session, and of their copies on disk."""
CONFLICT_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of their memory, and of their copies on disk: two of the largest files."""

log = logging.getLogger(__name__)

_Key = TypeVar("_Key")
_OWN_NAME = pattern(r"\d{8}-\d{6}-\d+-[\w.-]+", re.ASCII)


class Conflict(msgspec.Struct, frozen=True):
    """A version of the file `path` that is not in its buffer.

    `base` is the text that the change started from (None: unknown), `theirs` the whole proposed text. `number` and
    `file` (a copy of `theirs`, or "") are set by `Conflicts.keep`.
    """

    path: str
    base: str | None
    theirs: str
    by: Literal["fs/write_text_file", "disk", "restore"]
    number: int = 0
    file: str = ""


class Conflicts:
    """The conflicts of one session, in memory and as files in `directory`, which stay and may be shared.

    The oldest are removed beyond `number` conflicts or `max_bytes`; the newest is always kept.
    """

    def __init__(self, directory: Path, *, number: int = CONFLICTS, max_bytes: int = CONFLICT_BYTES) -> None:
        self._directory = directory
        self._number = number
        self._max_bytes = max_bytes
        self._kept: dict[int, Conflict] = {}  # by number, the oldest first
        self._numbers = count(1)
        self._writing = anyio.Lock()

    async def keep(self, conflict: Conflict) -> str:
        """Keep a conflict; return the file that holds `theirs`, or "" when it could not be written.

        A version that is kept already stays the same conflict, with the new base.
        """
        kept = self._add(conflict)
        async with self._writing:
            kept = self._kept.get(kept.number, kept)
            file = await anyio.to_thread.run_sync(self._write, kept)
            if kept.number in self._kept:  # it may be settled meanwhile
                self._kept[kept.number] = msgspec.structs.replace(self._kept[kept.number], file=file)
        return file

    def of(self, path: str) -> list[Conflict]:
        """Return the unsettled conflicts of the file, oldest first."""
        return [conflict for conflict in self._kept.values() if conflict.path == path]

    def settle(self, path: str) -> None:
        """Forget the conflicts of the file, which the user has settled. Copies stay until they are the oldest."""
        for conflict in self.of(path):
            del self._kept[conflict.number]

    def _add(self, conflict: Conflict) -> Conflict:
        same = next((kept for kept in self.of(conflict.path) if kept.theirs == conflict.theirs), None)
        number, file = (next(self._numbers), "") if same is None else (same.number, same.file)
        self._kept[number] = msgspec.structs.replace(conflict, number=number, file=file)
        sizes = {number: getsizeof(kept.theirs) + getsizeof(kept.base) for number, kept in self._kept.items()}
        for old in _too_many(sizes, number, self._number, self._max_bytes):
            log.warning("the conflict %d in %s is forgotten: there are too many", old, self._kept[old].path)
            del self._kept[old]
        return self._kept[number]

    def _write(self, conflict: Conflict) -> str:
        """Write the copy unless it exists, and remove the oldest ones."""
        if os.path.exists(conflict.file):
            return conflict.file
        try:
            make_directory(self._directory)
            path = _write_copy(self._directory, conflict)
        except OSError as error:
            log.warning("the conflict %d in %s is kept in memory only: %s", conflict.number, conflict.path, error)
            return ""
        for old in _too_many(_copies(self._directory), path, self._number, self._max_bytes):
            with suppress(OSError):
                old.unlink()
        return str(path)


def _write_copy(directory: Path, conflict: Conflict) -> Path:
    """Create `<local time>-<n>-<basename>`; the first n tried is the conflict's number. Raises `OSError`."""
    time = f"{datetime.now():%Y%m%d-%H%M%S}"
    name = re.sub(r"[^\w.-]", "_", os.path.basename(conflict.path), flags=re.ASCII)[-60:] or "file"
    data = _encode(conflict.theirs)
    for number in count(conflict.number):
        path = directory / f"{time}-{number}-{name}"
        with suppress(FileExistsError):
            write_new(path, data)
            return path
    raise AssertionError("unreachable")


def _encode(text: str) -> bytes:
    """Return the bytes that the text was decoded from; a lone surrogate becomes three bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _copies(directory: Path) -> dict[Path, int]:
    """Return the sizes of the copies, oldest first."""
    found = []
    for path in directory.iterdir():
        if _OWN_NAME.fullmatch(path.name):
            with suppress(OSError):  # another Neovim may remove it just now
                status = path.stat()
                found.append((status.st_mtime_ns, path, status.st_size))
    return {path: size for _, path, size in sorted(found)}


def _too_many(sizes: Mapping[_Key, int], newest: _Key, number: int, max_bytes: int) -> list[_Key]:
    """Return which of `sizes`, oldest first, exceed `number` or `max_bytes`; never `newest`."""
    room, left, found = max_bytes - sizes.get(newest, 0), number - 1, []
    for key in reversed([key for key in sizes if key != newest]):
        room, left = room - sizes[key], left - 1
        if room < 0 or left < 0:
            found.append(key)
    return found
