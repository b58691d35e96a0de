"""The shadow repository of one workspace: takes, compares and keeps snapshots."""

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
from acp_nvim.snapshots.directories import CLOCK_NS, Directories
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, FILE, LEFT_OUT, TreeEntry
from acp_nvim.snapshots.pins import ReaderWriterLock
from acp_nvim.snapshots.snapshot import Blob, Changed, GitFailedError, LimitError, Snapshot, SnapshotError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import enclosing
from acp_nvim.snapshots.work_tree import WorkspaceScanner

SNAPSHOT_SECONDS: Final = 60.0
"""Time limit in seconds for a snapshot; the first of 100,000 files takes a third of it."""
SNAPSHOT_RETRY_SECONDS: Final = 600.0
"""Time in seconds before a workspace beyond a limit is tried again: its ignore rules may have changed."""
FRESH_SECONDS: Final = 600.0
"""Time in seconds for which a cleaning keeps contents and trees that nothing holds."""


class Shadow:
    """The shadow repository of `root`, a real path, in `directory` below the state directory.

    Never inspects the directories `private`. Creates nothing before the first use.
    """

    def __init__(self, directory: Path, root: str, private: Sequence[str] = ()) -> None:
        self.root = root
        self._store = Store(directory)
        self._scanner = WorkspaceScanner(self._store, root, [*private, os.path.realpath(directory)])
        self._lock = ReaderWriterLock()
        self._blocking = Blocking(root)
        self._taking = anyio.Lock()
        self._refused: tuple[float, str] | None = None
        self._fresh: dict[str, tuple[int, float]] = {}  # not held yet: modes and times by id
        self._last: Snapshot | None = None
        self._directories: dict[Snapshot, Directories] = {}  # of the snapshots that may be compared next
        self._cleaning = anyio.CancelScope()

    async def take(self) -> Snapshot:
        """Take a snapshot of all files. Raises `SnapshotError`."""
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
            if not self._directories:
                self._directories[snapshot] = await self._look_at_directories(snapshot)
            return snapshot

    async def _look_at_directories(self, snapshot: Snapshot) -> Directories:
        """Look at all directories of a snapshot; the later ones are looked at as far as files in them differ."""
        names = await comparing.directories(self._store, snapshot)
        return await self._store.blocking(partial(Directories.look, self.root, snapshot.time, names))

    def directories(self, snapshot: Snapshot) -> Directories | None:
        """Return the directories of a snapshot; None if they are not known: it is another host's, or an old one."""
        return self._directories.get(snapshot)

    async def before(self, snapshot: Snapshot, moment: int) -> Snapshot:
        """Return the latest snapshot as of `moment`, a time in nanoseconds since 1970 while it was taken.

        A file whose status is unchanged since then was the same. The earlier content of any other file is unknown, and
        left out. Raises `SnapshotError`.
        """
        async with self._lock.use():
            since = moment - CLOCK_NS
            unknown = await self._store.blocking(partial(_changed_since, self._scanner.looked_at, since))
            start = len(os.path.join(os.fsencode(self.root), b""))
            tree = await self._store.change(snapshot.id, {path[start:]: entry for path, entry in unknown.items()})
            self._fresh[tree or EMPTY] = (DIRECTORY, anyio.current_time())
            return Snapshot(tree or EMPTY, snapshot.time)

    async def changes(self, old: Snapshot, new: Snapshot) -> list[Changed]:
        """Return the files that differ, by path, with renames. Raises `SnapshotError`, `GoneError`.

        Of snapshots of this host the renamed directories are known, if one is compared with the next.
        """
        async with self._lock.use():
            known = self._directories.get(old)
            found, now = await comparing.changes(self._store, self.root, old, new, known)
            if now is not None and known is not None:
                self._directories = {old: known, new: now}
            return found

    async def find(self, snapshot: Snapshot, path: str) -> Blob | None:
        """Return the file at that absolute path in a snapshot. Raises `SnapshotError`, `GoneError`."""
        return await comparing.find(self._store, self.root, snapshot, path)

    async def counts(self, pairs: Sequence[tuple[Blob | None, Blob | None]]) -> list[tuple[int, int] | None]:
        """Return added and removed lines for each pair (before, after); None when it is not text, or not kept.

        Raises `SnapshotError`, `GoneError`.
        """
        async with self._lock.use():
            return await comparing.counts(self._store, pairs)

    async def read(self, oids: Sequence[str]) -> list[bytes]:
        """Return the contents in the order of their ids. Raises `SnapshotError`, `GoneError`."""
        async with self._lock.use():
            return await self._store.read(oids)

    async def store(self, data: Sequence[bytes]) -> list[str]:
        """Store these contents and return their ids. Needs no git. Raises `SnapshotError`."""
        async with self._lock.use():
            oids = await self._store.write(data)
            self._fresh |= dict.fromkeys(oids, (FILE, anyio.current_time()))
            return oids

    def is_secret(self, path: str) -> bool:
        """Whether the content of that file must not be stored."""
        return self._store.secrets.is_secret(path)

    def remember(self, data: bytes) -> bool:
        """Keep the content of a secret file in memory; False when it does not fit."""
        return self._store.secrets.put(data) is not None

    async def hold(self, name: str, oids: Sequence[str], snapshots: Sequence[Snapshot]) -> None:
        """Keep these until `name` is released, or held again with others. Raises `SnapshotError`, `GoneError`."""
        trees = [snapshot.id for snapshot in snapshots]
        async with self._lock.use():
            await pins.hold(self._store, name, oids, trees)
            for oid in (*oids, *trees):
                self._fresh.pop(oid, None)

    async def release(self, names: Iterable[str]) -> None:
        """Release these names, so that a cleaning may remove their objects; ignore unknown names.

        Raises `SnapshotError`.
        """
        async with self._lock.use():
            await pins.release(self._store, list(names))

    async def clean(self, max_bytes: int) -> bool:
        """Remove what is not held, if the repository exceeds `max_bytes` or has doubled since the last cleaning.

        Returns whether it has at most `max_bytes` now. Removes nothing while another host uses the repository, and
        nothing that this host took or stored in the last minutes. A new snapshot cancels it. Raises `SnapshotError`.
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
                await self._scanner.save()
        finally:
            with anyio.CancelScope(shield=True):
                await self._store.blocking(self._store.places.share)

    def _in_use(self) -> dict[str, int]:
        """Return what must stay although no name holds it: modes by id."""
        since = anyio.current_time() - FRESH_SECONDS
        self._fresh = {oid: one for oid, one in self._fresh.items() if one[1] > since}
        trees = self._scanner.indexed() + ([self._last.id] if self._last is not None else [])
        return {oid: mode for oid, (mode, _) in self._fresh.items()} | dict.fromkeys(trees, DIRECTORY)

    async def _size(self) -> int:
        return await self._store.blocking(partial(pins.size, self._store.places.objects))

    def close(self) -> None:
        """Release the repository and its locks; call nothing else afterwards."""
        self._store.places.close()

    def _refuse(self, why: str) -> LimitError:
        self._refused = (anyio.current_time() + SNAPSHOT_RETRY_SECONDS, why)
        return LimitError(why)

    async def _take_watched(self) -> Snapshot:
        """Take a snapshot; fail when git waits for a file that blocks."""
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
            return Snapshot(await self._scanner.tree(), began)
        except GitFailedError:  # leftovers of a killed git or a full disk, or a file that became unreadable
            await self._scanner.forget()
            return Snapshot(await self._scanner.tree(), began)


def _changed_since(paths: Sequence[bytes], since: int) -> dict[bytes, TreeEntry | None]:
    """Return an entry without content for each of the files whose status has changed since then."""
    changed: dict[bytes, TreeEntry | None] = {}
    for path in paths:
        with suppress(OSError):
            if os.lstat(path).st_ctime_ns >= since:
                oid = hashlib.sha1(b"unknown\0" + path, usedforsecurity=False).hexdigest()
                changed[path] = TreeEntry(LEFT_OUT, oid)
    return changed
