"""One workspace's shadow repository: takes snapshots, tells what differs, keeps contents."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from acp_nvim.snapshots import comparing, pins
from acp_nvim.snapshots.blocking import Blocking
from acp_nvim.snapshots.comparing import CLOCK_NS
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, FILE, LEFT_OUT, TreeEntry
from acp_nvim.snapshots.pins import ReaderWriterLock
from acp_nvim.snapshots.snapshot import Blob, Changed, GitFailedError, LimitError, Snapshot, SnapshotError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import enclosing
from acp_nvim.snapshots.work_tree import Whole

SNAPSHOT_SECONDS: Final = 60.0
"""Time for a snapshot; the first of 100,000 files takes a third of it."""
SNAPSHOT_RETRY_SECONDS: Final = 600.0
"""Time before a workspace that is beyond a limit is tried again: the user may have told git to ignore something."""
FRESH_SECONDS: Final = 600.0
"""Time for which contents and trees that nobody has held are kept when a shadow repository is cleaned."""


class Shadow:
    """The shadow repository of `root`, a real path; `directory` is its place in the state directory.

    Directories in `private` are never looked at. Nothing is made before the first use.
    """

    def __init__(self, directory: Path, root: str, private: Sequence[str] = ()) -> None:
        self.root = root
        self._store = Store(directory)
        self._whole = Whole(self._store, root, [*private, os.path.realpath(directory)])
        self._lock = ReaderWriterLock()
        self._blocking = Blocking(root)
        self._taking = anyio.Lock()
        self._refused: tuple[float, str] | None = None
        self._fresh: dict[str, tuple[int, float]] = {}  # what nobody has had the time to hold: modes and times by id
        self._last: Snapshot | None = None
        self._cleaning = anyio.CancelScope()

    def __repr__(self) -> str:
        return f"<Shadow of {self.root} in {self._store.places.directory}>"

    async def take(self) -> Snapshot:
        """All files as they are now. Raises `SnapshotError`."""
        self._cleaning.cancel()  # it can be done later
        async with self._taking, self._lock.use():
            if self._refused is not None and anyio.current_time() < self._refused[0]:
                raise LimitError(self._refused[1])
            try:
                with anyio.fail_after(SNAPSHOT_SECONDS):
                    snapshot = await self._take_watched()
            except TimeoutError as error:
                raise self._refuse(f"it took longer than {SNAPSHOT_SECONDS:g} s") from error
            except LimitError as error:
                raise self._refuse(str(error)) from error
            self._fresh[snapshot.id] = (DIRECTORY, anyio.current_time())
            self._last = snapshot
            return snapshot

    async def before(self, snapshot: Snapshot, moment: int) -> Snapshot:
        """What the last snapshot says of a moment while it was taken, in nanoseconds since 1970.

        A file whose status has not changed since then was the same. Of any other one that was read it is not known
        what it was: its content is left out. Raises `SnapshotError`.
        """
        async with self._lock.use():
            since = moment - CLOCK_NS
            unknown = await self._store.blocking(partial(_changed_since, self._whole.looked_at, since))
            start = len(os.path.join(os.fsencode(self.root), b""))
            tree = await self._store.change(snapshot.id, {path[start:]: entry for path, entry in unknown.items()})
            self._fresh[tree or EMPTY] = (DIRECTORY, anyio.current_time())
            return Snapshot(tree or EMPTY, snapshot.time)

    async def changes(self, old: Snapshot, new: Snapshot) -> list[Changed]:
        """The files that differ, by path; renames are found. Raises `SnapshotError`, `GoneError`."""
        async with self._lock.use():
            return await comparing.changes(self._store, self.root, old, new)

    async def find(self, snapshot: Snapshot, path: str) -> Blob | None:
        """The file at that absolute path as it was then. Raises `SnapshotError`, `GoneError`."""
        return await comparing.find(self._store, self.root, snapshot, path)

    async def counts(self, pairs: Sequence[tuple[Blob | None, Blob | None]]) -> list[tuple[int, int] | None]:
        """For each file, before and after: lines added and removed; None when it is not text, or not kept.

        Raises `SnapshotError`, `GoneError`.
        """
        async with self._lock.use():
            return await comparing.counts(self._store, pairs)

    async def read(self, oids: Sequence[str]) -> list[bytes]:
        """The contents, in that order. Raises `SnapshotError`, `GoneError`."""
        async with self._lock.use():
            return await self._store.read(oids)

    async def store(self, data: Sequence[bytes]) -> list[str]:
        """Keep these contents too; returns their ids. Needs no git. Raises `SnapshotError`."""
        async with self._lock.use():
            oids = await self._store.write(data)
            self._fresh |= dict.fromkeys(oids, (FILE, anyio.current_time()))
            return oids

    def is_secret(self, path: str) -> bool:
        """Whether the content of that file must not be stored."""
        return self._store.secrets.is_secret(path)

    def remember(self, data: bytes) -> bool:
        """Keep the content of a file with secrets in memory; False when it is too much."""
        return self._store.secrets.put(data) is not None

    async def hold(self, name: str, oids: Sequence[str], snapshots: Sequence[Snapshot]) -> None:
        """Keep these until `name` is released, or held again with others. Raises `SnapshotError`, `GoneError`."""
        trees = [snapshot.id for snapshot in snapshots]
        async with self._lock.use():
            await pins.hold(self._store, name, oids, trees)
            for oid in (*oids, *trees):
                self._fresh.pop(oid, None)

    async def release(self, names: Iterable[str]) -> None:
        """Let the next cleaning remove what was kept by these names; others are ignored. Raises `SnapshotError`."""
        async with self._lock.use():
            await pins.release(self._store, list(names))

    async def clean(self, max_bytes: int) -> bool:
        """When it has more bytes, or has doubled since the last time, remove what is not held.

        Returns whether it has no more than `max_bytes` now. Nothing is removed while another host uses it. What this
        host took or stored in the last minutes and never held stays. A snapshot that is taken meanwhile stops it.
        Raises `SnapshotError`.
        """
        with anyio.CancelScope() as self._cleaning:
            async with self._taking, self._lock.alone():
                size = await self._size()
                if size > min(max_bytes, await self._store.blocking(self._store.places.worth_cleaning)):
                    await self._clean()
                    size = await self._size()
                return size <= max_bytes
        return False

    async def _clean(self) -> None:
        try:
            if await self._store.blocking(self._store.places.alone):
                await self._store.blocking(self._store.places.forget_saved)
                await pins.clean(self._store, self._in_use())
                size = await self._size()
                await self._store.blocking(partial(self._store.places.was_cleaned, size))
                await self._whole.save()
        finally:
            with anyio.CancelScope(shield=True):
                await self._store.blocking(self._store.places.share)

    def _in_use(self) -> dict[str, int]:
        """What must stay although no name holds it: modes by id."""
        since = anyio.current_time() - FRESH_SECONDS
        self._fresh = {oid: one for oid, one in self._fresh.items() if one[1] > since}
        trees = self._whole.indexed() + ([self._last.id] if self._last is not None else [])
        return {oid: mode for oid, (mode, _) in self._fresh.items()} | dict.fromkeys(trees, DIRECTORY)

    async def _size(self) -> int:
        return await self._store.blocking(partial(pins.size, self._store.places.objects))

    def close(self) -> None:
        """Give up the repository and its locks; nothing else may be called afterwards."""
        self._store.places.close()

    def _refuse(self, why: str) -> LimitError:
        self._refused = (anyio.current_time() + SNAPSHOT_RETRY_SECONDS, why)
        return LimitError(why)

    async def _take_watched(self) -> Snapshot:
        """Give up when git waits for a file that it will never get."""
        await self._store.blocking(self._blocking.check)
        repository = await self._store.blocking(partial(enclosing, self.root))
        taken: list[Snapshot | Exception] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._blocking.watch, tasks.cancel_scope, repository.top if repository else self.root)
            try:
                taken.append(await self._take())
            except Exception as error:  # a group would wrap it
                taken.append(error)
            tasks.cancel_scope.cancel()
        if not taken:
            self._blocking.check()
            raise SnapshotError(f"git waited for a file in {self.root} that it could not read")
        if isinstance(taken[0], Exception):
            raise taken[0]
        return taken[0]

    async def _take(self) -> Snapshot:
        began = time.time_ns()
        try:
            return Snapshot(await self._whole.tree(), began)
        except GitFailedError:  # what a killed git or a full disk left, or a file that became unreadable just now
            await self._whole.forget()
            return Snapshot(await self._whole.tree(), began)


def _changed_since(paths: Sequence[bytes], since: int) -> dict[bytes, TreeEntry | None]:
    """An entry without content for each of these files whose status has changed since then."""
    changed: dict[bytes, TreeEntry | None] = {}
    for path in paths:
        with suppress(OSError):
            if os.lstat(path).st_ctime_ns >= since:
                oid = hashlib.sha1(b"unknown\0" + path, usedforsecurity=False).hexdigest()
                changed[path] = TreeEntry(LEFT_OUT, oid)
    return changed
