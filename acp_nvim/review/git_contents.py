"""Finds out whether git, or jj, gave a file its content: the user's repository had it, and has been active since.

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
from acp_nvim.review.users_work import EMPTY_BLOB, UsersWork, users_work
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.snapshots.users_repository import Enclosing

GIT_INDEX_SECONDS: Final = 10.0
"""Time limit for reading the index of the user's repository: one of 100,000 files takes 0.1 s."""
STASHES: Final = 20
"""Newest stashes of a repository whose files are known: each takes two git processes, once."""
REPOSITORIES: Final = 50
"""Repositories that are kept in memory: a workspace has one, and perhaps submodules and work trees."""

_TICK_NS: Final = 20_000_000
"""The largest difference between the times of two files that one git process writes one after the other."""


class GitContents:
    """Reads the user's repositories that contain files below `root`; `directory` is a git directory of ours."""

    def __init__(self, root: str, directory: Path) -> None:
        self._root = root
        self._directory = directory
        self._repositories: dict[tuple[str, Enclosing | None, bool], _Repository] = {}

    async def look(self) -> None:
        """Read the stashes of the repository of `root`, so that what is later popped from them is known."""
        repository = await self._repository(os.path.join(self._root, "f"))
        if repository is not None:
            await repository.look_at_stashes()

    async def made(self, seen: Observation, is_first: bool) -> str | None:
        """Return which part of git, in words, gave the file its content in `seen`; None if none did.

        With `is_first` it is proven: git had the content for that file, and before the file had it. Without, git may
        have done it: it has the content, or that cannot be found out, and it has been active since. Objects may be
        newer than the file then, as git updates the time of an object when it would write it again.

        A file that is gone has the time of its directory, which may have been changed again after git removed the file:
        then git must have worked after the last scan.
        """
        known = seen.before if seen.after is None else seen.after
        if seen.before == seen.after or known is None:
            return None
        repository = await self._repository(seen.path)
        if repository is None:
            return None
        return await (repository.made(seen, known) if is_first else repository.may_have_made(seen, known))

    async def _repository(self, path: str) -> _Repository | None:
        """Return the innermost repository whose work tree has that file."""
        work = await anyio.to_thread.run_sync(users_work, os.path.dirname(path))
        if work is None:
            return None
        found = self._repositories.pop(work.key, None) or _Repository(self._directory, work)
        self._repositories[work.key] = found
        while len(self._repositories) > REPOSITORIES:
            del self._repositories[next(iter(self._repositories))]
        return found


class _Repository:
    """One repository of the user; `directory` is a git directory of ours."""

    def __init__(self, directory: Path, work: UsersWork) -> None:
        self._directory = directory
        self._work = work
        self._stamp: tuple[int, int, int] | None = None
        self._index: dict[bytes, str] = {}
        self._unmerged: frozenset[bytes] = frozenset()
        self._stashes: dict[str, dict[bytes, str | None]] = {}
        self._looking = anyio.Lock()

    async def made(self, seen: Observation, known: str) -> str | None:
        """See `GitContents.made`, with `is_first`; `known` is the content that git must have had."""
        time = await anyio.to_thread.run_sync(self._work.time_of, known)
        if time is None or time > seen.changed + _TICK_NS:
            return None
        await self.look_at_stashes()
        name = self._work.name_of(seen.path)
        for stash in self._stashes.values():
            if name in stash and stash[name] == seen.after and seen.after is not None:
                return "git stash"
        await self._look_at_index()
        if self._stamp is None or self._stamp[2] < _worked(seen):
            return None  # git has not written since
        return "git" if self._index.get(name) == seen.after else None

    async def may_have_made(self, seen: Observation, known: str) -> str | None:
        """See `GitContents.made`, without `is_first`; `known` is the content that git must have had."""
        work = self._work
        if await anyio.to_thread.run_sync(work.last_work) < _worked(seen):
            return None
        if not work.is_sha256:
            await self._look_at_index()
            name = work.name_of(seen.path)
            if name in self._unmerged or (seen.after and self._index.get(name) == seen.after):
                return work.program
            if seen.after is None and name in self._index:
                return None  # git would have removed it there, too
        if seen.after == EMPTY_BLOB:
            return None  # everybody makes such files, and most repositories have one
        return await anyio.to_thread.run_sync(partial(work.may_have, seen.path, known, is_gone=seen.after is None))

    async def look_at_stashes(self) -> None:
        """Read the stashes that are new."""
        async with self._looking:
            oids = [] if self._work.is_sha256 else await anyio.to_thread.run_sync(self._work.stashes)
            for oid in oids[:STASHES]:
                if oid not in self._stashes:
                    await self._look_at_stash(oid)
            for oid in list(self._stashes)[: -2 * STASHES]:
                del self._stashes[oid]

    async def _look_at_stash(self, oid: str) -> None:
        objects = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": self._work.alternate}
        changed = await self._git(["diff-tree", "-r", "-z", "--no-abbrev", f"{oid}^1", oid], objects)
        new = await self._git(["ls-tree", "-r", "-z", f"{oid}^3"], objects)
        added = {path: words[2].decode() for path, words in _rows(new)}
        self._stashes[oid] = {**_changed(changed), **added}

    async def _look_at_index(self) -> None:
        stamp = await anyio.to_thread.run_sync(self._work.index_stamp)
        if stamp == self._stamp:
            return
        self._index, self._unmerged = {}, frozenset()
        if stamp is not None:
            # without the user's objects: git would write the trees of a sparse index, and so update their times
            answer = await self._git(["ls-files", "-z", "-s", "-c"], {"GIT_INDEX_FILE": self._work.index})
            self._index, self._unmerged = await anyio.to_thread.run_sync(_entries, answer)
        self._stamp = stamp

    async def _git(self, words: list[str], env: dict[str, str]) -> bytes:
        """Run git; return its output, or nothing if it fails."""
        try:
            with anyio.fail_after(GIT_INDEX_SECONDS):
                return await run_git(self._directory, words, cwd=self._work.top, env=env)
        except (SnapshotError, TimeoutError):
            return b""


def _worked(seen: Observation) -> int:
    """Return the time since which git must have been active, if it made the file what it is."""
    return (seen.changed if seen.after is not None or not seen.since else min(seen.changed, seen.since)) - _TICK_NS


def _rows(answer: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield the path and the words of rows such as `<mode> <oid> <stage>`, a tab, and a path."""
    for row in answer.split(b"\0")[:-1]:
        words, _, path = row.partition(b"\t")
        yield path, words.split(b" ")


def _entries(answer: bytes) -> tuple[dict[bytes, str], frozenset[bytes]]:
    """Parse rows of the index; return the merged entries, and the paths of conflicts."""
    merged: dict[bytes, str] = {}
    unmerged: set[bytes] = set()
    for path, (_, oid, stage) in _rows(answer):
        if stage == b"0":
            merged[path] = oid.decode()
        else:
            unmerged.add(path)
    return merged, frozenset(unmerged)


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
