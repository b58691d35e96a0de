"""The files of recordings: new ones, their rotation, and which old ones are kept."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from acp_nvim.limits import TRAFFIC_BYTES, TRAFFIC_FILE_BYTES, TRAFFIC_FILES

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class RecordFile:
    """A file that only grows, up to a size; then it becomes `<name>.1`, and a new one begins with the same header.

    Each record is one write to the system, with nothing held back: the last one before a crash is in the file.
    """

    def __init__(self, path: Path, header: bytes) -> None:
        self.path = path
        self._header = header
        self._size = 0
        self._file = self._begin()

    def __repr__(self) -> str:
        return f"<RecordFile {self.path} {self._size} bytes>"

    def write(self, record: bytes) -> None:
        """Append a record, which ends with a newline. Raises `OSError`."""
        if self._size + len(record) > TRAFFIC_FILE_BYTES and self._size > len(self._header):
            self._rotate()
        self._put(record)

    def close(self) -> None:
        """Nothing more comes."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _begin(self) -> int:
        self._file, self._size = os.open(self.path, _FLAGS, 0o600), 0
        try:
            self._put(self._header)
        except OSError:
            self.close()
            raise
        return self._file

    def _rotate(self) -> None:
        self.close()
        self.path.replace(f"{self.path}.1")
        self._begin()

    def _put(self, data: bytes) -> None:
        self._size += len(data)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]


def new_file(directory: Path, agent: str, header: bytes) -> RecordFile:
    """An empty recording `<agent>-<UTC time>-<pid>-<n>.jsonl`, for the user's eyes only. Raises `OSError`."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = f"{_file_name(agent)}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
    for number in count(1):
        with suppress(FileExistsError):
            return RecordFile(directory / f"{stem}-{number}.jsonl", header)
    raise AssertionError("unreachable")


def remove_old(directory: Path) -> None:
    """Make room for one more: only the newest recordings stay, up to a number and a size in all."""
    room, kept = TRAFFIC_BYTES, 1
    for size, path in _newest_first(directory):
        room, kept = room - size, kept + 1
        if room < 0 or kept > TRAFFIC_FILES:
            with suppress(OSError):
                path.unlink()


def _newest_first(directory: Path) -> list[tuple[int, Path]]:
    """Size and path of each recording."""
    found = []
    for path in [*directory.glob("*.jsonl"), *directory.glob("*.jsonl.1")]:
        with suppress(OSError):  # another Neovim may remove it just now
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    return [(size, path) for _, size, path in sorted(found, key=lambda one: one[0], reverse=True)]


def _file_name(agent: str) -> str:
    """An agent's name, as a part of a file name."""
    return re.sub(r"[^\w.-]", "_", agent)[:60].lstrip(".") or "agent"
