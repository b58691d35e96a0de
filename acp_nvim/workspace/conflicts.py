"""Versions of files that could not be merged with the user's text: kept until the user has looked at them."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final, Literal, TypeVar

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.workspace.private_file import make_directory, write_new

CONFLICTS: Final = 100
"""Conflicts kept of a session, and copies of them on disk: who has not looked at the last 100 will not."""
CONFLICT_BYTES: Final = 64 * 1024 * 1024
"""Their memory, and their room on disk: two of the largest files, or all 100 of ordinary ones."""

log = logging.getLogger(__name__)

_Key = TypeVar("_Key")
_OWN_NAME = re.compile(r"\d{8}-\d{6}-\d+-[\w.-]+", re.ASCII)


class Conflict(msgspec.Struct, frozen=True):
    """One version of the file `path` that is not in its buffer.

    `base` is the text that the change began with (None: unknown), `theirs` the whole text that was wanted. `number`
    and `file` (a copy of `theirs`, "" without one) are given when it is kept.
    """

    path: str
    base: str | None
    theirs: str
    by: Literal["fs/write_text_file", "disk", "restore"]
    number: int = 0
    file: str = ""


class Conflicts:
    """The conflicts of one session: in memory, and as files in `directory`, which outlive it and may be shared.

    The oldest go when there are more than `number`, or more than `max_bytes`; the newest is always kept.
    """

    def __init__(self, directory: Path | None, *, number: int = CONFLICTS, max_bytes: int = CONFLICT_BYTES) -> None:
        self._directory = directory
        self._number = number
        self._max_bytes = max_bytes
        self._kept: dict[int, Conflict] = {}  # by number, the oldest first
        self._numbers = count(1)
        self._writing = anyio.Lock()

    def __repr__(self) -> str:
        return f"<Conflicts {len(self._kept)} in {self._directory}>"

    async def keep(self, conflict: Conflict) -> str:
        """Keep it; returns the file that holds `theirs`, "" when none could be written.

        A version that is kept already stays the same one, with the new base.
        """
        kept = self._add(conflict)
        async with self._writing:
            kept = self._kept.get(kept.number, kept)
            file = await anyio.to_thread.run_sync(self._write, kept)
            if kept.number in self._kept:  # it may be settled meanwhile
                self._kept[kept.number] = msgspec.structs.replace(self._kept[kept.number], file=file)
        return file

    def of(self, path: str) -> list[Conflict]:
        """The conflicts of the file that are not settled, the oldest first."""
        return [conflict for conflict in self._kept.values() if conflict.path == path]

    def settle(self, path: str) -> None:
        """Forget the conflicts of the file: the user is done with them. The copies stay until they are the oldest."""
        for conflict in self.of(path):
            del self._kept[conflict.number]

    def _add(self, conflict: Conflict) -> Conflict:
        same = next((kept for kept in self.of(conflict.path) if kept.theirs == conflict.theirs), None)
        number, file = (next(self._numbers), "") if same is None else (same.number, same.file)
        self._kept[number] = msgspec.structs.replace(conflict, number=number, file=file)
        sizes = {number: _memory(kept) for number, kept in self._kept.items()}
        for old in _too_many(sizes, number, self._number, self._max_bytes):
            log.warning("the conflict %d in %s is forgotten: there are too many", old, self._kept[old].path)
            del self._kept[old]
        return self._kept[number]

    def _write(self, conflict: Conflict) -> str:
        """Write the copy, unless it is there, and remove those that are too many."""
        if self._directory is None or os.path.exists(conflict.file):
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
    """A file `<local time>-<n>-<basename>`; the conflict's number is the first n that is tried. Raises `OSError`."""
    time = f"{datetime.now():%Y%m%d-%H%M%S}"
    data = _encode(conflict.theirs)
    for number in count(conflict.number):
        path = directory / f"{time}-{number}-{_safe(os.path.basename(conflict.path))}"
        with suppress(FileExistsError):
            write_new(path, data)
            return path
    raise AssertionError("unreachable")


def _safe(name: str) -> str:
    """The end of it, where the suffix is, in characters that no shell, editor or file system minds."""
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[-60:] or "file"


def _encode(text: str) -> bytes:
    """The bytes that it was decoded from; half characters that stand for no byte become three."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _memory(conflict: Conflict) -> int:
    return sys.getsizeof(conflict.theirs) + sys.getsizeof(conflict.base)


def _copies(directory: Path) -> dict[Path, int]:
    """The copies there with their sizes, the oldest first."""
    found = []
    for path in directory.iterdir():
        if _OWN_NAME.fullmatch(path.name):
            with suppress(OSError):  # another Neovim may remove it just now
                status = path.stat()
                found.append((status.st_mtime_ns, path, status.st_size))
    return {path: size for _, path, size in sorted(found)}


def _too_many(sizes: Mapping[_Key, int], newest: _Key, number: int, max_bytes: int) -> list[_Key]:
    """Which of `sizes`, the oldest first, must go to leave `number` of them with `max_bytes`; never `newest`."""
    room, left, found = max_bytes - sizes.get(newest, 0), number - 1, []
    for key in reversed([key for key in sizes if key != newest]):
        room, left = room - sizes[key], left - 1
        if room < 0 or left < 0:
            found.append(key)
    return found
