"""Reads the journal of the user's saves, to which every Neovim with the plugin adds lines.

Lua writes it (`buffers/save_journal.lua`): a file for each day, with a line of JSON when a `:write` begins, and
one when it has ended.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import unquote_to_bytes

import anyio
import anyio.to_thread
import msgspec

from acp_nvim import decoders
from acp_nvim.file_time import TICK_NS
from acp_nvim.process.group import is_alive
from acp_nvim.state.private_file import make_directory

SAVE_WAIT_SECONDS: Final = 2.0
"""Time in seconds to wait for the end of a `:write`: a slow disk takes a while."""
SAVE_POLL_SECONDS: Final = 0.01
"""Time in seconds between two checks whether it has ended."""
TORN_SAVE_SECONDS: Final = 10.0
"""Time in seconds in which a Neovim killed during a save may have written to the file."""
SAVES_BYTES: Final = 4_000_000
"""Maximum bytes of the journal that are read at once: about 20,000 saves."""
SAVES_SECONDS: Final = 172_800.0
"""Age in seconds after which saves are not needed any more: two days."""


class Saved(msgspec.Struct, frozen=True):
    """A file as it was right after a user saved it.

    `mtime`, `ctime` and `was` are nanoseconds since 1970, in decimal: the time of the write; the change time (Neovim
    sets the mode, for example, after the write); and the change time of the state that the saved text was made from
    (None: unknown, or no file). `size` is in bytes.
    """

    path: str
    size: int
    mtime: str
    ctime: str
    was: str | None = None


_Time = Annotated[str, msgspec.Meta(pattern="^[0-9]{1,20}$")]


class _Line(msgspec.Struct, frozen=True):
    """A line of the journal: a save has begun (`began`, nanoseconds since 1970), has ended, or has failed."""

    path: str
    pid: int = 0
    began: _Time | None = None
    size: int | None = None
    mtime: _Time = "0"
    ctime: _Time = "0"
    was: _Time | None = None


class _Begun(msgspec.Struct, frozen=True):
    """The Neovim `pid` began a save at `at` (nanoseconds since 1970), and has not reported its end."""

    pid: int
    at: int

    def may_have_changed(self, changed: int) -> bool:
        """Whether this save may have changed the file at `changed` (nanoseconds since 1970). Blocks."""
        return self.at - TICK_NS <= changed and (is_alive(self.pid) or changed < self.at + int(TORN_SAVE_SECONDS * 1e9))


class Saves:
    """The journal in a directory shared by all hosts of the user; Neovims write to it once it is there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[Path, int] = {}
        self._of: dict[str, list[Saved]] = defaultdict(list)
        self._begun: dict[str, dict[int, _Begun]] = {}
        self._lock = threading.Lock()
        self.wait_seconds = SAVE_WAIT_SECONDS

    def open(self) -> None:
        """Create the directory, in which Neovims then record saves; remove old records. Blocks; raises `OSError`."""
        make_directory(self._directory)
        for file in self._directory.glob("*.jsonl"):
            with suppress(OSError):
                if file.stat().st_mtime < time.time() - SAVES_SECONDS:
                    file.unlink()

    def update(self) -> None:
        """Read the lines added since the last call. Blocks."""
        with self._lock, suppress(OSError):
            for file in sorted(self._directory.glob("*.jsonl")):
                self._read_lines(file)

    def of(self, path: str) -> list[Saved]:
        """Return the saves of the file at that real path, oldest first."""
        return self._of.get(path, [])

    def is_being_saved(self, path: str) -> bool:
        """Whether a save of the file began within `wait_seconds` and has not ended. Blocks."""
        self.update()
        oldest = time.time_ns() - int(self.wait_seconds * 1e9)
        return any(one.at > oldest and is_alive(one.pid) for one in self._open(path))

    async def wait_until_saved(self, path: str) -> bool:
        """Wait until no Neovim is saving the file at that real path, `wait_seconds` at most.

        Returns whether it had to wait: what was read of the file meanwhile may be incomplete.
        """
        has_waited = False
        while await anyio.to_thread.run_sync(self.is_being_saved, path):
            has_waited = True
            await anyio.sleep(SAVE_POLL_SECONDS)
        return has_waited

    def may_be_saving(self, path: str, changed: int) -> bool:
        """Whether an unfinished save may have changed the file at `changed` (nanoseconds since 1970). Blocks."""
        return any(one.may_have_changed(changed) for one in self._open(path))

    def _open(self, path: str) -> list[_Begun]:
        with self._lock:
            return list(self._begun.get(path, {}).values())

    def _read_lines(self, file: Path) -> None:
        at = self._read.get(file, 0)
        if file.stat().st_size <= at:
            return
        with open(file, "rb") as lines:
            lines.seek(at)
            data = lines.read(SAVES_BYTES)
        end = data.rfind(b"\n") + 1
        self._read[file] = at + end
        for line in data[:end].splitlines():
            with suppress(msgspec.MsgspecError):
                self._take(decoders.decode(line, _Line))

    def _take(self, line: _Line) -> None:
        path = os.fsdecode(unquote_to_bytes(line.path))
        begun = self._begun.setdefault(path, {})
        if line.began is not None:
            begun[line.pid] = _Begun(line.pid, int(line.began))
            return
        begun.pop(line.pid, None)
        if not begun:
            del self._begun[path]
        if line.size is not None:
            self._of[path].append(Saved(line.path, line.size, line.mtime, line.ctime, line.was))
