"""What the users of all Neovims have saved: a journal that every Neovim with the plugin adds to, whoever has agents.

Lua writes it (`lua/acp_nvim/buffers/saves.lua`): a file for each day, a line of JSON for each `:write`.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote_to_bytes

import msgspec

from acp_nvim.limits.evidence import SAVES_BYTES, SAVES_SECONDS
from acp_nvim.workspace.private_file import make_directory


class Saved(msgspec.Struct, frozen=True):
    """A file as it was right after a user saved it.

    `mtime`, `ctime` and `was` are nanoseconds since 1970, in decimal: when the text was written; its change time (a
    Neovim sets the mode, and the like, after it has written); and that of the state of the file which the saved text
    was made of (None: not known, or it was no file). `size` is in bytes.
    """

    path: str
    size: int
    mtime: str
    ctime: str
    was: str | None = None


class Saves:
    """The journal in a directory that all hosts of the user share; `open` makes it, and then Neovims write to it."""

    def __init__(self) -> None:
        self._directory = Path(os.devnull)
        self._read: dict[Path, int] = {}
        self._of: dict[str, list[Saved]] = defaultdict(list)

    def __repr__(self) -> str:
        return f"<Saves in {self._directory}: {len(self._of)} files>"

    def open(self, directory: Path) -> None:
        """From now on Neovims say there what they save. What is too old goes. Blocks; raises `OSError`."""
        make_directory(directory)
        self._directory = directory
        for file in directory.glob("*.jsonl"):
            with suppress(OSError):
                if file.stat().st_mtime < time.time() - SAVES_SECONDS:
                    file.unlink()

    def look(self) -> None:
        """Read what was added since the last time. Blocks."""
        with suppress(OSError):
            for file in sorted(self._directory.glob("*.jsonl")):
                self._look(file)

    def of(self, path: str) -> list[Saved]:
        """The saves of the file at that real path, the oldest first."""
        return self._of.get(path, [])

    def _look(self, file: Path) -> None:
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
                saved = msgspec.json.decode(line, type=Saved)
                self._of[os.fsdecode(unquote_to_bytes(saved.path))].append(saved)
