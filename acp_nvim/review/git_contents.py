"""What git has for a file of the user's repository: a file that became just that was changed by git.

The repository is only read: its index by a git that runs on our own directory, see `snapshots/run_git.py`.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.review.evidence import Seen
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.snapshots.users_repository import Enclosing, enclosing
from acp_nvim.workspace.regular_files import read_regular

GIT_INDEX_SECONDS: Final = 10.0
"""Time to read the index of the user's repository: one of 100,000 files takes 0.1 s."""

_STASH = os.path.join("refs", "stash")
_TICK_NS = 20_000_000
"""How far the times of two files may be apart that one git has written, one after the other."""


class GitContents:
    """Reads the user's repository that `root` is in; `directory` is a git directory of ours."""

    def __init__(self, root: str, directory: Path) -> None:
        self._root = root
        self._directory = directory
        self._repository: Enclosing | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._index: dict[bytes, str] = {}
        self._stashes: dict[str, dict[bytes, str | None]] = {}

    def __repr__(self) -> str:
        return f"<GitContents of {self._root}>"

    async def look(self) -> None:
        """Note what is stashed: what is taken from the stash later has been in it now."""
        self._repository = await anyio.to_thread.run_sync(enclosing, self._root)
        if self._repository is not None:
            await self._look_at_stash(self._repository)

    async def made(self, seen: Seen, is_first: bool) -> str | None:
        """In words, which part of git has the file as it was `seen`, and made it so; None if none has.

        A file that is gone has the time of its directory, which may have been changed again after git has removed the
        file: then git has worked after the last look at it. With `is_first`, what git was given after that does not
        count: the file was there first. Without, it does: git gives an object a new time when it would write it again.
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
            return None  # git has done nothing since
        return "git" if self._index.get(name) == after else None

    async def _look_at_index(self, repository: Enclosing) -> None:
        index = os.path.join(repository.git_dir, "index")
        stamp = await anyio.to_thread.run_sync(_stamp, index)
        if stamp == self._stamp:
            return
        self._index = {}
        if stamp is not None:
            words = ["ls-files", "-z", "-s", "-c"]
            answer = await self._git(repository, words, {"GIT_INDEX_FILE": index})
            self._index = await anyio.to_thread.run_sync(_entries, answer)
        self._stamp = stamp

    async def _look_at_stash(self, repository: Enclosing) -> None:
        oid = await anyio.to_thread.run_sync(_stash, repository.common_dir)
        if oid is None or oid in self._stashes:
            return
        changed = await self._git(repository, ["diff-tree", "-r", "-z", "--no-abbrev", f"{oid}^1", oid], {})
        new = await self._git(repository, ["ls-tree", "-r", "-z", f"{oid}^3"], {})
        self._stashes[oid] = {**_changed(changed), **_listed(new)}

    async def _git(self, repository: Enclosing, words: list[str], env: dict[str, str]) -> bytes:
        """What git says; nothing where it cannot."""
        env = {**env, "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(repository.common_dir, "objects")}
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
    """The newest stash. Where it is not in a file of its own it is passed over: git packs it rarely."""
    try:
        line = read_regular(os.path.join(common_dir, _STASH), 100).strip()
    except OSError:
        return None
    return line.decode("ascii", "replace") if len(line) == 40 and line.isalnum() else None


def _is_older(repository: Enclosing, oid: str, changed: int) -> bool:
    """Whether git had these contents before the file did. Packed ones are old: git packs what is many."""
    try:
        loose = os.lstat(os.path.join(repository.common_dir, "objects", oid[:2], oid[2:]))
    except OSError:
        return True
    return loose.st_mtime_ns <= changed + _TICK_NS


def _entries(answer: bytes) -> dict[bytes, str]:
    """`<mode> <oid> <stage>` and a path; of a conflict there is nothing."""
    found = {}
    for row in answer.split(b"\0")[:-1]:
        what, _, path = row.partition(b"\t")
        _, oid, stage = what.split(b" ")
        if stage == b"0":
            found[path] = oid.decode()
    return found


def _changed(answer: bytes) -> dict[bytes, str | None]:
    """`:<mode> <mode> <oid> <oid> <status>` and a path."""
    words = answer.split(b"\0")[:-1]
    if words and not words[0].startswith(b":"):
        words = words[1:]
    return {path: None if row.split(b" ")[4] == b"D" else row.split(b" ")[3].decode() for row, path in _pairs(words)}


def _listed(answer: bytes) -> dict[bytes, str | None]:
    rows = [row.partition(b"\t") for row in answer.split(b"\0")[:-1]]
    return {path: what.split(b" ")[2].decode() for what, _, path in rows}


def _pairs(words: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(words[::2], words[1::2], strict=False))
