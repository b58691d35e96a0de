"""The shadow repository of one workspace: takes, compares and keeps snapshots."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import msgspec

from acp_nvim.file_time import next_tick
from acp_nvim.snapshots import comparing, pins
from acp_nvim.snapshots.blocking import Blocking
from acp_nvim.snapshots.directories import CLOCK_NS, Directories, FirstDirectories, is_torn
from acp_nvim.snapshots.hidden_files import REMEMBERED_FILES, Earlier, directories_in
from acp_nvim.snapshots.ignored_files import IgnoredFiles
from acp_nvim.snapshots.kept_objects import KeptObjects
from acp_nvim.snapshots.objects import DIRECTORY, FILE
from acp_nvim.snapshots.permissions import PermissionTable, decode
from acp_nvim.snapshots.pins import ReaderWriterLock
from acp_nvim.snapshots.run_git import together
from acp_nvim.snapshots.snapshot import Blob, Changed, GitFailedError, GoneError, LimitError, Snapshot, SnapshotError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import enclosing
from acp_nvim.snapshots.workspace_scanner import WorkspaceScanner

SNAPSHOT_SECONDS: Final = 60.0
"""Time limit in seconds for a snapshot; the first of 100,000 files takes a third of it."""
SNAPSHOT_RETRY_SECONDS: Final = 600.0
"""Time in seconds before a workspace beyond a limit is tried again: its ignore rules may have changed."""
FRESH_SECONDS: Final = 600.0
"""Time in seconds for which a cleaning keeps contents and trees that nothing holds."""
MANY_FRESH: Final = 1000
"""Contents and trees that nothing holds, of which the old ones are forgotten."""
RETAKE_NS: Final = 500_000_000
"""For how long a snapshot is taken again, in nanoseconds, while files get other names all the time."""
KEPT_TABLES: Final = 20
"""Snapshots whose directories are stored for other hosts, of which the ids are known: those of running turns."""


class Shadow:
    """The shadow repository of `root`, a real path, in `directory` below the state directory.

    Never inspects the directories `private`. Creates nothing before the first use.
    """

    def __init__(self, directory: Path, root: str, private: Sequence[str] = ()) -> None:
        self.root = root
        self._store = Store(directory)
        self._scanner = WorkspaceScanner(self._store, root, [*private, os.path.realpath(directory)])
        self._ignored = IgnoredFiles(self._store.loose)
        self._kept = KeptObjects(self._store)
        self._lock = ReaderWriterLock()
        self._blocking = Blocking(root)
        self._taking = anyio.Lock()
        self._in_idle = anyio.Lock()  # long work that nothing waits for; taken before the other locks
        self._refused: tuple[float, str] | None = None
        self._fresh: dict[str, tuple[int, float]] = {}  # not held yet: modes and times by id
        self._last: Snapshot | None = None
        self._before: Snapshot | None = None  # the one before it
        self._began = 0  # when it began: later than any time of a file that was changed before
        self._torn_until = 0  # it is taken again until then
        self._past: Snapshot | None = None  # at the beginning of the turn
        self._directories: dict[Snapshot, Directories] = {}  # of the snapshots that may be compared next
        self._kept_directories: dict[Snapshot, str] = {}
        self._tables: list[tuple[str, PermissionTable]] = []
        self._cleaning = anyio.CancelScope()

    async def take(self, past: Snapshot | None = None, *, again: bool = False) -> Snapshot:
        """Take a snapshot of all files. Raises `SnapshotError`.

        It includes files that are ignored now, but were not at the snapshot `past`, an earlier one of this host.
        `again`: the last one does not count, see `is_torn`.
        """
        self._cleaning.cancel()  # it can be done later
        async with self._taking, self._lock.use():
            if self._refused is not None and anyio.current_time() < self._refused[0]:
                raise LimitError(self._refused[1])
            try:
                with anyio.fail_after(SNAPSHOT_SECONDS):
                    snapshot = await self._take_watched(past, again=again)
            except TimeoutError as error:
                raise self._refuse(f"it took longer than {SNAPSHOT_SECONDS:g} s") from error
            except LimitError as error:
                raise self._refuse(str(error)) from error
            directories = self._directories.pop(snapshot, None)  # of a first snapshot
            snapshot = msgspec.structs.replace(snapshot, permissions=await self._store_table())
            if directories is not None:
                self._directories[snapshot] = directories
            self._fresh[snapshot.id] = (DIRECTORY, anyio.current_time())
            self._fresh[snapshot.rules] = (FILE, anyio.current_time())
            if len(self._fresh) > MANY_FRESH:
                self._drop_old_fresh()
            self._last, self._past = snapshot, past
            return snapshot

    async def is_torn(self) -> bool:
        """Return whether names have changed since the last snapshot began: it is to be taken again.

        What is looked at since then is another state. While names change all the time, it counts after half a second.
        """
        if time.time_ns() >= self._torn_until:
            return False
        return await self._store.blocking(partial(is_torn, self._scanner.looked_at, self.root, self._began))

    def directories(self, snapshot: Snapshot) -> Directories | None:
        """Return the directories of a snapshot; None if they are not known: it is another host's, or an old one."""
        return self._directories.get(snapshot)

    async def keep_directories(self, snapshot: Snapshot) -> str:
        """Store the directories of a snapshot for `take_directories` of another host; return their id.

        "" if they are not known. Raises `SnapshotError`.
        """
        if snapshot not in self._kept_directories:
            found = self._directories.get(snapshot)
            if found is None:
                return ""
            [oid] = await self.store([await self._store.blocking(found.encode)])
            self._kept_directories[snapshot] = oid
            while len(self._kept_directories) > KEPT_TABLES:
                del self._kept_directories[next(iter(self._kept_directories))]
        return self._kept_directories[snapshot]

    async def take_directories(self, snapshot: Snapshot, oid: str) -> None:
        """Read the directories of a snapshot of another host, if they are kept: else `oid` is ""."""
        if not oid:
            return
        with suppress(SnapshotError, ValueError):
            [data] = await self.read([oid])
            found = await self._store.blocking(partial(Directories.decode, self.root, snapshot.time, data))
            self._directories[snapshot] = found

    async def remember_ignored(self) -> None:
        """Remember the contents of ignored files, for when they are not ignored any more, and their directories.

        Takes as long as finding new files, and reads those that have changed. Raises `SnapshotError`.
        """
        async with self._lock.use():
            last, paths = self._last, await self._scanner.ignored()
            if last is not None and (known := self._directories.get(last)) is not None:
                all_in: dict[bytes, frozenset[bytes]] = {}
                inner = await self._store.blocking(lambda: [*directories_in(b"", paths, REMEMBERED_FILES, all_in)])
                hidden = [*paths, *(name + b"/" for name in inner)]
                found = await self._store.blocking(partial(known.with_hidden, hidden, all_in))
                if self._directories.get(last) is known:  # no other scan has ended meanwhile
                    self._directories[last] = found
            files = [path for path in paths if not path.endswith(b"/")]
            await self._store.blocking(partial(self._ignored.renew, files))

    async def keep_objects(self, room: int) -> bool:
        """Copy what is only in the user's repository, for when that is removed, if it takes at most `room` bytes.

        Return whether all of the last snapshot is kept. Raises `SnapshotError`.
        """
        if self._last is None:
            return False
        async with self._in_idle, self._lock.use():
            return await self._kept.keep(self._last.id, room)

    @property
    def too_many_hidden(self) -> list[str]:
        """Paths of directories that the last snapshot left out: new rules ignore them, and they have many new files."""
        return list(self._scanner.too_many)

    async def look_at_permissions(self) -> None:
        """Look at the permissions of all files, which the first snapshot of a large workspace has no time for.

        Does nothing when they are known. Raises `SnapshotError`.
        """
        async with self._in_idle:
            since = 0 if self._last is None else self._last.time - CLOCK_NS
            for work_tree in self._scanner.unseen():
                async with self._lock.use():
                    found = await self._scanner.read_permissions(work_tree, since)
                async with self._taking, self._lock.use():
                    await self._scanner.all_read(work_tree, found)

    async def _store_table(self) -> str:
        """Return the id of the present table of permissions, which is stored if it is new."""
        table = self._scanner.permissions.table
        if not self._tables or self._tables[-1][1] is not table:
            [oid] = await self._store.write([await self._store.blocking(table.encode)])
            self._tables = [*self._tables[-2:], (oid, table)]
        oid = self._tables[-1][0]
        self._fresh[oid] = (FILE, anyio.current_time())
        return oid

    async def _table(self, snapshot: Snapshot) -> PermissionTable:
        """Return the permissions of the files of a snapshot, as far as they are known."""
        found = next((table for oid, table in self._tables if oid == snapshot.permissions), None)
        if found is None and snapshot.permissions:
            with suppress(GoneError, ValueError):
                [data] = await self._store.read([snapshot.permissions])
                found = await self._store.blocking(partial(decode, data))
        return self._scanner.permissions.completed(found or PermissionTable())

    async def before(self, snapshot: Snapshot, moment: int) -> Snapshot:
        """Return the latest snapshot as of `moment`, a time in nanoseconds since 1970 while it was taken.

        A file whose status is unchanged since then was the same. The earlier content of any other file is unknown, and
        left out. Raises `SnapshotError`.
        """
        async with self._lock.use():
            found = await comparing.before(self._store, self.root, snapshot, self._scanner.looked_at, moment)
            self._fresh[found.id] = (DIRECTORY, anyio.current_time())
            return found

    async def changes(self, old: Snapshot, new: Snapshot) -> list[Changed]:
        """Return the files that differ, by path, with renames. Raises `SnapshotError`, `GoneError`.

        Of snapshots of this host the renamed directories are known, if one is compared with the next.
        """
        async with self._lock.use():
            known, past = self._directories.get(old), self._past
            ignored = self._ignored.at(old.time if past is None else min(old.time, past.time))
            try:
                found, latest = await comparing.changes(
                    self._store, self.root, old, new, ignored, self._scanner.known, known, past
                )
            except Exception as error:
                if isinstance(error, GoneError) or not isinstance(error, SnapshotError):
                    self._directories = {}  # the next snapshot is a first one, and this one is compared without them
                raise
            if latest is not None and known is not None:
                self._directories = {old: known, new: latest}
            tables = await self._table(old), await self._table(new)
            return await comparing.with_permissions(self._store, self.root, found, (old, new), tables)

    async def find(self, snapshot: Snapshot, path: str) -> Blob | None:
        """Return the file at that absolute path in a snapshot. Raises `SnapshotError`, `GoneError`."""
        return await comparing.find(self._store, self.root, snapshot, path, await self._table(snapshot))

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

    def note_private(self, path: str) -> None:
        """Take a file outside of the workspace for secret from now on, if only its owner may read it. Blocks."""
        self._store.secrets.note_private(path)

    def remember(self, data: bytes) -> bool:
        """Keep the content of a secret file in memory; False when it does not fit."""
        return self._store.secrets.put(data) is not None

    async def hold(self, name: str, oids: Sequence[str], snapshots: Sequence[Snapshot], *, whole: bool = True) -> None:
        """Keep these until `name` is released, or held again with others; without `whole`, those that are not lost.

        Raises `SnapshotError`, `GoneError`.
        """
        trees = [snapshot.id for snapshot in snapshots]
        beside = [oid for snapshot in snapshots for oid in (snapshot.rules, snapshot.permissions) if oid]
        oids = [*oids, *beside]
        async with self._lock.use():
            await pins.hold(self._store, name, oids, trees, whole=whole)
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
            async with self._in_idle, self._taking, self._lock.alone():
                size = await self._size()
                if size > min(max_bytes, await self._store.blocking(self._store.places.worth_cleaning)):
                    await self._alone(self._clean)
                    size = await self._size()
                if await self._store.blocking(self._kept.are_outgrown):
                    await self._alone(partial(self._store.blocking, self._kept.drop))
                return size <= max_bytes
        return False

    async def _clean(self) -> None:
        await self._store.blocking(self._store.places.forget_saved)
        await pins.clean(self._store, self._in_use())
        size = await self._size()
        await self._store.blocking(partial(self._store.places.was_cleaned, size))
        await self._scanner.save()

    async def _alone(self, act: Callable[[], Awaitable[None]]) -> None:
        """Call `act` unless another host uses the repository."""
        try:
            if await self._store.blocking(self._store.places.alone):
                await act()
        finally:
            with anyio.CancelScope(shield=True):
                await self._store.blocking(self._store.places.share)

    def _in_use(self) -> dict[str, int]:
        """Return what must stay although no name holds it: modes by id."""
        self._drop_old_fresh()
        last = [self._last] if self._last is not None else []
        trees = self._scanner.indexed() + [one.id for one in last]
        files = [*self._ignored.oids, *(oid for oid, _ in self._tables), *(one.rules for one in last if one.rules)]
        used = {oid: mode for oid, (mode, _) in self._fresh.items()}
        return used | dict.fromkeys(files, FILE) | dict.fromkeys(trees, DIRECTORY)

    def _drop_old_fresh(self) -> None:
        since = anyio.current_time() - FRESH_SECONDS
        self._fresh = {oid: one for oid, one in self._fresh.items() if one[1] > since}

    async def _size(self) -> int:
        return await self._store.blocking(partial(pins.size, self._store.places.objects))

    def close(self) -> None:
        """Release the repository and its locks; call nothing else afterwards."""
        self._store.places.close()

    def _refuse(self, why: str) -> LimitError:
        self._refused = (anyio.current_time() + SNAPSHOT_RETRY_SECONDS, why)
        return LimitError(why)

    async def _take_watched(self, past: Snapshot | None, *, again: bool) -> Snapshot:
        """Take a snapshot; fail when git waits for a file that blocks."""
        await self._store.blocking(self._blocking.check)
        repository = await self._store.blocking(partial(enclosing, self.root))
        taken: list[Snapshot | Exception] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._blocking.watch, tasks.cancel_scope, repository.top if repository else self.root)
            try:
                taken.append(await self._take(past, again=again))
            except Exception as error:  # a group would wrap it
                taken.append(error)
            tasks.cancel_scope.cancel()
        if not taken:
            self._blocking.check()
            raise SnapshotError(f"git waited for a file in {self.root} that it could not read")
        if isinstance(taken[0], Exception):
            raise taken[0]
        return taken[0]

    async def _take(self, past: Snapshot | None, *, again: bool) -> Snapshot:
        if not again:
            self._before, self._torn_until = self._last, 0
        self._began = await self._store.blocking(next_tick)
        first = FirstDirectories(self.root, self._began)
        snapshot = await self._take_once(past, first, again=again)
        if not self._directories:  # the later ones are looked at as far as files in them differ
            self._directories[snapshot] = await first.complete(self._store, snapshot.id)
        elif not again:
            self._torn_until = time.time_ns() + RETAKE_NS  # on a slow machine, too, it is taken again
        while await self.is_torn():
            self._began = await self._store.blocking(next_tick)  # not torn by what was done before
            snapshot = await self._take_once(past, first, again=True)
        kept = [one.time for one in (past, self._before) if one is not None]
        await self._store.blocking(partial(self._ignored.note, snapshot.time, kept))
        return snapshot

    async def _take_once(self, past: Snapshot | None, first: FirstDirectories, *, again: bool) -> Snapshot:
        refreshed = partial(self._store.blocking, self._ignored.refresh)
        _, taken = await together(refreshed, partial(self._tree, past, first, again=again))
        return Snapshot(taken[0], self._began, taken[1])

    async def _tree(self, past: Snapshot | None, first: FirstDirectories, *, again: bool) -> tuple[str, str]:
        last = self._before
        earlier = Earlier(past, last, None if last is None else self._directories.get(last))
        try:
            return await self._scanner.tree(earlier, first, again=again)
        except (GitFailedError, GoneError):
            # leftovers of a killed git or a full disk, a file that became unreadable, objects that the user removed
            await self._scanner.forget()
            return await self._scanner.tree(earlier, first, again=again)
