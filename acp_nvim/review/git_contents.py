"""Finds out whether git gave a file its content: the user's repository has that content, and git has worked since.

The repository is only read; its index by a git that runs on our own directory, see `snapshots/run_git.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.review.evidence import Observation
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.snapshots.users_repository import Enclosing, enclosing
from acp_nvim.workspace.regular_files import read_regular

GIT_INDEX_SECONDS: Final = 10.0
"""Time limit for reading the index of the user's repository: one of 100,000 files takes 0.1 s."""

_TICK_NS = 20_000_000
"""The largest difference between the times of two files that one git process writes one after the other."""


class GitContents:
    """Reads the user's repository that contains `root`; `directory` is a git directory of the host's own."""

    def __init__(self, root: str, directory: Path) -> None:
        self._root = root
        self._directory = directory
        self._repository: Enclosing | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._index: dict[bytes, str] = {}
        self._stashes: dict[str, dict[bytes, str | None]] = {}

    async def look(self) -> None:
        """Read the newest stash, so that what is later popped from it is known."""
        repository = self._repository = await anyio.to_thread.run_sync(enclosing, self._root)
        oid = await anyio.to_thread.run_sync(_stash, repository.common_dir) if repository is not None else None
        if repository is None or oid is None or oid in self._stashes:
            return
        objects = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(repository.common_dir, "objects")}
        changed = await self._git(repository, ["diff-tree", "-r", "-z", "--no-abbrev", f"{oid}^1", oid], objects)
        new = await self._git(repository, ["ls-tree", "-r", "-z", f"{oid}^3"], objects)
        added = {path: words[2].decode() for path, words in _rows(new)}
        self._stashes[oid] = {**_changed(changed), **added}

    async def made(self, seen: Observation, is_first: bool) -> str | None:
        """Return which part of git, in words, gave the file its content in `seen`; None if none did.

        A file that is gone has the time of its directory, which may have been changed again after git removed the file:
        then git must have worked after the last scan. With `is_first`, objects that are newer than the file do not
        count. Without, they do: git updates the time of an object when it would write it again.
        """
        path, before, after = seen.path, seen.before, seen.after
        known = after if after is not None else before
        if before == after or known is None:
            return None
        await self.look()
        repository = self._repository
        if repository is None or not path.startswith(repository.top.rstrip(os.sep) + os.sep):
            return None
        name = os.fsencode(path[len(repository.top.rstrip(os.sep)) + 1 :])
        if is_first and not await anyio.to_thread.run_sync(partial(_is_older, repository, known, seen.changed)):
            return None
        for stash in self._stashes.values():
            if name in stash and stash[name] == after and after is not None:
                return "git stash"
        await self._look_at_index(repository)
        worked = seen.changed if after is not None or not seen.since else min(seen.changed, seen.since)
        if self._stamp is None or self._stamp[2] < worked - _TICK_NS:
            return None  # git has not written since
        return "git" if self._index.get(name) == after else None

    async def _look_at_index(self, repository: Enclosing) -> None:
        index = os.path.join(repository.git_dir, "index")
        stamp = await anyio.to_thread.run_sync(_stamp, index)
        if stamp == self._stamp:
            return
        self._index = {}
        if stamp is not None:
            words = ["ls-files", "-z", "-s", "-c"]
            # without the user's objects: git would write the trees of a sparse index, and so update their times
            answer = await self._git(repository, words, {"GIT_INDEX_FILE": index})
            self._index = await anyio.to_thread.run_sync(_entries, answer)
        self._stamp = stamp

    async def _git(self, repository: Enclosing, words: list[str], env: dict[str, str]) -> bytes:
        """Run git; return its output, or nothing if it fails."""
        try:
            with anyio.fail_after(GIT_INDEX_SECONDS):
                return await run_git(self._directory, words, cwd=repository.top, env=env)
        except (SnapshotError, TimeoutError):
            return b""


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns) if os.path.isfile(path) else None


def _stash(common_dir: str) -> str | None:
    """Return the newest stash. It is ignored if its ref has no file of its own: git packs it rarely."""
    try:
        line = read_regular(os.path.join(common_dir, "refs", "stash"), 100).strip()
    except OSError:
        return None
    return line.decode("ascii", "replace") if len(line) == 40 and line.isalnum() else None


def _is_older(repository: Enclosing, oid: str, changed: int) -> bool:
    """Return whether git had the content before the file did. Packed objects count as old."""
    try:
        loose = os.lstat(os.path.join(repository.common_dir, "objects", oid[:2], oid[2:]))
    except OSError:
        return True
    return loose.st_mtime_ns <= changed + _TICK_NS


def _rows(answer: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield the path and the words of rows such as `<mode> <oid> <stage>`, a tab, and a path."""
    for row in answer.split(b"\0")[:-1]:
        words, _, path = row.partition(b"\t")
        yield path, words.split(b" ")


def _entries(answer: bytes) -> dict[bytes, str]:
    """Parse rows of the index, without those of conflicts."""
    return {path: oid.decode() for path, (_, oid, stage) in _rows(answer) if stage == b"0"}


def _changed(answer: bytes) -> dict[bytes, str | None]:
    """Parse `:<mode> <mode> <oid> <oid> <status>` rows, each followed by a path."""
    words = answer.split(b"\0")[:-1]
    if words and not words[0].startswith(b":"):
        words = words[1:]
    found: dict[bytes, str | None] = {}
    for row, path in zip(words[::2], words[1::2], strict=False):
        _, _, _, oid, status = row.split(b" ")[:5]
        found[path] = None if status == b"D" else oid.decode()
    return found
