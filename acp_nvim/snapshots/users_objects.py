"""Looks up objects in the user's repository, of any format, without git: loose ones, in packs, and in alternates."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from acp_nvim.lazy import pattern
from acp_nvim.workspace.regular_files import READ_NOW, read_regular

MAX_PLACES: Final = 20
"""Directories of objects that are looked into: a repository has one, and those that it borrows from."""
ALTERNATES_BYTES: Final = 65_536
"""Maximum bytes read of a list of alternates."""

_ID: Final = pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAGIC: Final = b"\xfftOc\0\0\0\x02"
_FAN_OUT: Final = 256 * 4
_NAMES_AT: Final = len(_MAGIC) + _FAN_OUT


class UsersObjects:
    """The objects below a git `objects` directory. Object ids are hexadecimal. All methods block."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._packs: dict[str, tuple[int, list[str]]] = {}  # directory of packs -> its time, and the paths of indexes

    def __repr__(self) -> str:
        return f"<UsersObjects {self.directory}>"

    def loose_time(self, oid: str) -> int | None:
        """Return when a loose object was last written (nanoseconds since 1970); None without one."""
        times = []
        for place in self._places() if is_id(oid) else ():
            with suppress(OSError):
                times.append(os.lstat(os.path.join(place, oid[:2], oid[2:])).st_mtime_ns)
        return min(times, default=None)

    def has(self, oid: str) -> bool:
        """Whether there is such an object, loose or packed."""
        if self.loose_time(oid) is not None:
            return True
        packs = (os.path.join(place, "pack") for place in self._places()) if is_id(oid) else ()
        return any(_has(index, bytes.fromhex(oid)) for directory in packs for index in self._indexes(directory))

    def _places(self) -> Iterator[str]:
        """Yield the directories with objects: this one, and its alternates."""
        seen, waiting = set[str](), [self.directory]
        while waiting and len(seen) < MAX_PLACES:
            place = waiting.pop(0)
            if place in seen:
                continue
            seen.add(place)
            yield place
            with suppress(OSError):
                lines = read_regular(os.path.join(place, "info", "alternates"), ALTERNATES_BYTES).split(b"\n")
                waiting += [
                    os.path.normpath(os.path.join(place, os.fsdecode(line)))
                    for line in lines
                    if line and not line.startswith((b"#", b'"'))
                ]

    def _indexes(self, directory: str) -> list[str]:
        try:
            time = os.stat(directory).st_mtime_ns
            if directory not in self._packs or self._packs[directory][0] != time:
                names = sorted(name for name in os.listdir(directory) if name.endswith(".idx"))
                self._packs[directory] = time, [os.path.join(directory, name) for name in names]
        except OSError:
            return []
        return self._packs[directory][1]


def is_id(oid: str) -> bool:
    """Return whether that is the id of an object, in either format."""
    return _ID.fullmatch(oid) is not None


def _has(index: str, name: bytes) -> bool:
    """Return whether the index of a pack (`gitformat-pack`, version 2) lists the object with that name."""
    try:
        descriptor = os.open(index, READ_NOW)
    except OSError:
        return False
    try:
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            return data[: len(_MAGIC)] == _MAGIC and _finds(data, name)
    except (OSError, ValueError):  # empty, or no file
        return False
    finally:
        os.close(descriptor)


def _finds(data: mmap.mmap, name: bytes) -> bool:
    size, first = len(name), name[0]

    def count(byte: int) -> int:
        at = len(_MAGIC) + 4 * byte
        return int.from_bytes(data[at : at + 4], "big")

    names = _Names(data, size)
    last = min(count(first), len(names))
    at = bisect_left(names, name, count(first - 1) if first else 0, last)
    return at < last and names[at] == name


class _Names:
    """The sorted names of objects in the index of a pack, each of `size` bytes."""

    def __init__(self, data: mmap.mmap, size: int) -> None:
        self._data = data
        self._size = size

    def __len__(self) -> int:
        return max(0, len(self._data) - _NAMES_AT) // self._size

    def __getitem__(self, at: int) -> bytes:
        first = _NAMES_AT + at * self._size
        return self._data[first : first + self._size]
