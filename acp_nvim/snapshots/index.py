"""Our index of a work tree: what git compares the files with."""

from __future__ import annotations

import math
import os
import re
import shutil
import struct
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import anyio

from acp_nvim.process.git import Output
from acp_nvim.snapshots.failures import TOO_MANY, LimitError
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.trees import DIRECTORY

BULK_SINCE: Final = (2, 37)
"""The git whose `update-index` writes all big files of one call into one pack."""


class Names(NamedTuple):
    """What is in the work tree that is not in the index like this. Relative to the top."""

    changed: list[bytes]
    """Of files in the index; they may be gone, or be the same after all."""
    others: list[bytes]
    """Files that are neither in it nor ignored; work trees of their own end with a slash."""


class Index:
    """`name` tells one work tree of a workspace from another; `within` is the part of it that is looked at."""

    def __init__(self, store: Store, top: str, within: bytes, name: str) -> None:
        self.excludes = store.places.excludes(name)
        self._store = store
        self._directory = store.places.directory
        self._top = top
        self._within = within
        self._own = store.places.own_index(name)
        self._saved = store.places.saved_index(name)
        self._tree: str | None = None

    def __repr__(self) -> str:
        return f"<Index {self._own.name} of {self._top}>"

    def start(self) -> int:
        """Begin with the index that was saved last, if ours is not there; returns the number of files in it. Blocks."""
        if not self._own.exists():
            self._tree = None
            with suppress(OSError):
                _copy(self._saved, self._own)
        try:
            with open(self._own, "rb") as file:
                return int(struct.unpack(">4sII", file.read(12))[2])
        except (OSError, struct.error):
            return 0

    async def differences(self, room: int) -> Names:
        """Compare with the files; `room` is the number of new ones that there may be. Raises `SnapshotError`."""
        found: dict[str, bytes | Exception] = {}
        others = Output(room, of_names=True)

        async def ask(command: str, *options: str) -> None:
            excludes = f"core.excludesFile={self.excludes}"
            words = [
                "-c",
                excludes,
                command,
                "-z",
                *options,
                "--",
                *([os.fsdecode(self._within)] if self._within else []),
            ]
            try:
                found[command] = await self._git(words, output=others if command == "ls-files" else None)
            except Exception as error:  # both are asked at once; a group of errors says no more than the first
                found[command] = error

        async with anyio.create_task_group() as group:
            group.start_soon(ask, "diff-files", "--name-only")
            group.start_soon(ask, "ls-files", "--others", "--exclude-standard")
        changed, new = (_names(found[command]) for command in ("diff-files", "ls-files"))
        if others.full:
            raise LimitError(TOO_MANY)
        return Names(changed, new)

    async def tree(self) -> str | None:
        """The tree of the files in the index; None when there is none."""
        if self._tree is None and self._own.exists():
            await self._write_tree()
        return self._tree

    async def add(self, paths: Iterable[bytes]) -> None:
        """Bring these up to the files: changed, new or gone; and save the index for others. Raises `SnapshotError`."""
        began = math.floor(time.time())
        self._unlock()
        bulk = ["-c", "core.bigFileThreshold=1"] if await self._has_bulk() else []
        words = [*bulk, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"]
        await self._git(words, stdin=b"".join(path + b"\0" for path in paths))
        await self._write_tree()
        # git looks into a file that was changed in the second in which its index was written, or later. It was looked
        # at before that, perhaps seconds before.
        os.utime(self._own, (began, began))
        await self._store.blocking(self._save)

    def forget(self) -> None:
        """Begin without one the next time. Blocks."""
        self._tree = None
        for path in (self._own, self._saved):
            with suppress(OSError):
                path.unlink()
        self._unlock()

    async def _write_tree(self) -> None:
        self._unlock()
        oid = (await self._git(["write-tree"])).decode().strip()
        found = await self._store.blocking(lambda: self._store.trees.find(oid, self._within))
        self._tree = found.oid if found is not None and found.mode == DIRECTORY else None

    async def _git(self, words: list[str], *, stdin: bytes = b"", output: Output | None = None) -> bytes:
        env = {"GIT_INDEX_FILE": str(self._own)}
        return await run_git(self._directory, words, cwd=self._top, env=env, stdin=stdin, output=output)

    def _unlock(self) -> None:
        """Nobody else writes to our index: whose lock this is was killed."""
        with suppress(OSError):
            os.unlink(f"{self._own}.lock")

    def _save(self) -> None:
        temporary = self._own.with_suffix(".saved")
        with suppress(FileNotFoundError):
            temporary.unlink()
        _copy(self._own, temporary)
        temporary.replace(self._saved)

    async def _has_bulk(self) -> bool:
        found = re.search(rb"(\d+)\.(\d+)", await run_git(self._directory, ["version"]))
        return found is not None and (int(found[1]), int(found[2])) >= BULK_SINCE


def _names(answer: bytes | Exception) -> list[bytes]:
    if isinstance(answer, Exception):
        raise answer
    return answer.split(b"\0")[:-1]


def _copy(path: Path, to: Path) -> None:
    """The same with the same times: git judges an index by them. git replaces indexes, and never writes into one."""
    try:
        os.link(path, to)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(path, to)
