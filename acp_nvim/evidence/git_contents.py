"""Finds out whether git, or jj, gave a file its content: the user's repository had it, and has been active since.

The repository is only read; its index by a git that runs on our own directory, see `snapshots/run_git.py`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.evidence.evidence import Observation
from acp_nvim.evidence.users_work import EMPTY_BLOB, UsersWork, content_at, users_work
from acp_nvim.file_time import next_tick
from acp_nvim.snapshots.objects import BLOB, object_id
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.snapshots.users_objects import is_id
from acp_nvim.snapshots.users_repository import Enclosing

GIT_INDEX_SECONDS: Final = 10.0
"""Time limit for reading the index of the user's repository: one of 100,000 files takes 0.1 s."""
STASHES: Final = 20
"""Newest stashes of a repository whose files are known: each takes two git processes, once."""
REPOSITORIES: Final = 50
"""Repositories that are kept in memory: a workspace has one, and perhaps submodules and work trees."""

MOMENTS: Final = 100
"""Times of git's work that are remembered of a repository: those of what a scan has not found yet are needed."""

_TICK_NS: Final = 20_000_000
"""The largest difference between the times of two files that one git process writes one after the other."""

ReadContent = Callable[[str], Awaitable[bytes]]
"""Returns the content with that id that a file had once. Raises `SnapshotError` if it is not kept."""


class GitContents:
    """Reads the user's repositories that contain files below `root`.

    `directory` is a git directory of ours, `read` returns what files had that have changed again.
    """

    def __init__(self, root: str, directory: Path, read: ReadContent) -> None:
        self._root = root
        self._directory = directory
        self._read = read
        self._repositories: dict[tuple[str, Enclosing | None, bool], _Repository] = {}
        self._noting = anyio.Lock()
        self._is_wanted = False  # another `note`

    def at(self, directory: str) -> GitContents:
        """Return the same for the repository that contains another directory."""
        return GitContents(directory, self._directory, self._read)

    async def changed_files(self, below: str) -> list[str]:
        """Return the tracked files that git would have to look at, if `below` is in a repository, and not its top.

        They differ from the user's index, or only their times do. Nothing is returned if git cannot read the index.
        """
        repository = await self._repository(os.path.join(self._root, "f"))
        if repository is None or repository.top == below:
            return []
        return await repository.changed_files()

    async def look(self) -> None:
        """Read the stashes of the repository of `root`, so that what is later popped from them is known."""
        repository = await self._repository(os.path.join(self._root, "f"))
        if repository is not None:
            await repository.look_at_stashes()

    async def state(self) -> object:
        """Return what is equal as long as the repositories, by which `made` decides, have seen no work."""
        await self.look()
        known = list(self._repositories.values())
        return await anyio.to_thread.run_sync(lambda: frozenset(one.state() for one in known))

    async def note(self) -> None:
        """Note when git has worked last, because an agent may have changed files: what git does later is told apart.

        Several calls that wait for one another are one.
        """
        self._is_wanted = True
        async with self._noting:
            if self._is_wanted:
                self._is_wanted = False
                await self._repository(os.path.join(self._root, "f"))
                moment = await anyio.to_thread.run_sync(next_tick)
                for one in list(self._repositories.values()):
                    await anyio.to_thread.run_sync(one.note, moment)

    async def made(self, seen: Observation, is_first: bool) -> str | None:
        """Return which part of git, in words, gave the file its content in `seen`; None if none did.

        With `is_first` it is proven: git had the content for that file, and before the file had it. Without, git may
        have done it: it has the content, or that cannot be found out, and it has been active since. Objects may be
        newer than the file then, as git updates the time of an object when it would write it again.

        A file that is gone has the time of its directory, which may have been changed again after git removed the file:
        then git must have worked after the last scan. So it must if the file has changed again since `seen`.

        Git has not made what it had not worked for when `note` was called after the change.
        """
        known = seen.before if seen.after is None else seen.after
        if seen.before == seen.after or known is None:
            return None
        repository = await self._repository(seen.path)
        if repository is None or repository.rested(seen):
            return None
        return await (repository.made(seen, known) if is_first else repository.may_have_made(seen, known))

    async def _repository(self, path: str) -> _Repository | None:
        """Return the innermost repository whose work tree has that file."""
        work = await anyio.to_thread.run_sync(users_work, os.path.dirname(path))
        if work is None:
            return None
        found = self._repositories.pop(work.key, None) or _Repository(self._directory, work, self._read)
        self._repositories[work.key] = found
        while len(self._repositories) > REPOSITORIES:
            del self._repositories[next(iter(self._repositories))]
        return found


class _Repository:
    """One repository of the user; `directory` and `read` are those of `GitContents`."""

    def __init__(self, directory: Path, work: UsersWork, read: ReadContent) -> None:
        self._directory = directory
        self._work = work
        self._read = read
        self._stamp: tuple[int, int, int] | None = None
        self._index: dict[bytes, str] = {}
        self._unmerged: frozenset[bytes] = frozenset()
        self._stashes: dict[str, dict[bytes, str | None]] = {}
        self._stash_stamp: list[int] = []
        self._looking = anyio.Lock()
        self._noted: deque[tuple[int, float]] = deque(maxlen=MOMENTS)

    @property
    def top(self) -> str:
        """The path of its work tree."""
        return self._work.top

    def state(self) -> object:
        """See `GitContents.state`. Blocks."""
        return self._work.key, self._work.last_work(), tuple(self._work.stash_stamp())

    def note(self, moment: int) -> None:
        """See `GitContents.note`; what was changed before has an earlier time than `moment`. Blocks."""
        worked = self._work.last_work()
        if self._noted and self._noted[-1][1] == worked:
            self._noted.pop()
        self._noted.append((moment, worked))

    def rested(self, seen: Observation) -> bool:
        """Return whether git had done nothing when it was noted after the change, so that it has not made it."""
        return any(moment > seen.changed and worked < _worked(seen) for moment, worked in self._noted)

    async def changed_files(self) -> list[str]:
        """See `GitContents.changed_files`."""
        words = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"]
        answer = await self._git(words, {"GIT_INDEX_FILE": self._work.index})
        return [os.path.join(self.top, os.fsdecode(name)) for name in answer.split(b"\0")[:-1]]

    async def made(self, seen: Observation, known: str) -> str | None:
        """See `GitContents.made`, with `is_first`; `known` is the content that git must have had."""
        await self.look_at_stashes()
        await self._look_at_index()
        part = self._part_with(seen)
        if part is None:
            return None
        had = partial(self._work.had, known, seen.changed + _TICK_NS, is_used=seen.after is not None)
        return part if await anyio.to_thread.run_sync(had) else None

    def _part_with(self, seen: Observation) -> str | None:
        """Return the part of git that has the content for that file now, or had it in a stash."""
        name = self._work.name_of(seen.path)
        for stash in self._stashes.values():
            if name in stash and stash[name] == seen.after and seen.after is not None:
                return "git stash"
        if self._work.is_sha256 or self._stamp is None or self._stamp[2] < _worked(seen):
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
        if await anyio.to_thread.run_sync(work.has, known):
            return work.program
        if seen.after is None:
            return await anyio.to_thread.run_sync(work.may_have_removed, seen.path)
        data = await self._content(seen.path, seen.after)
        if data is None:
            return f"{work.program} perhaps"
        return await anyio.to_thread.run_sync(work.may_have_written, seen.path, data)

    async def _content(self, path: str, after: str) -> bytes | None:
        """Return the content of the file whose id is `after`, also if it has changed again; None if that is lost."""
        data = await anyio.to_thread.run_sync(content_at, path)
        if not is_id(after) or (data is not None and object_id(BLOB, data) == after):
            return data  # what is not kept is not to be found elsewhere
        try:
            return await self._read(after)
        except SnapshotError:
            return None

    async def look_at_stashes(self) -> None:
        """Read the stashes that are new."""
        async with self._looking:
            stamp = await anyio.to_thread.run_sync(self._work.stash_stamp)
            if stamp == self._stash_stamp:
                return
            oids = await anyio.to_thread.run_sync(self._work.stashes)
            for oid in oids[:STASHES]:
                if oid not in self._stashes:
                    await self._look_at_stash(oid)
            for oid in list(self._stashes)[: -2 * STASHES]:
                del self._stashes[oid]
            self._stash_stamp = stamp

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
    is_known = seen.after is not None and not seen.is_past  # else it may have been earlier
    return (seen.changed if is_known or not seen.since else min(seen.changed, seen.since)) - _TICK_NS


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
