"""Scans a workspace: compares it with the last snapshot, and passes changed files to the tracker."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.evidence.change_times import ChangeTime, change_time
from acp_nvim.file_time import is_behind_link, is_real_directory, last_change
from acp_nvim.review.contents import Contents, read_disk
from acp_nvim.review.disk_changes import differs
from acp_nvim.review.obstacles import directories_above
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.snapshots.birth import born
from acp_nvim.snapshots.directories import CLOCK_NS, Directories
from acp_nvim.snapshots.objects import EMPTY
from acp_nvim.snapshots.renames import Renames
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, Changed, GoneError, Snapshot, SnapshotError

MAX_DIRECTORIES: Final = 1000
"""Directories in which to look for a first file when git finds none: that takes 10 ms."""


class Scanner:
    """Scans one directory; `contents` stores the bytes of its files, `git` returns the state of its repository."""

    def __init__(self, shadow: Shadow, tracker: ChangeTracker, git: Callable[[], Awaitable[object]]) -> None:
        self.shadow = shadow
        self._git = git
        self.contents = Contents(shadow)
        self._tracker = tracker
        self.last: Snapshot | None = None
        """The snapshot of the last scan; None before the first."""
        self._first_prompt: int | None = None
        self._now: Snapshot | None = None
        self.renames = Renames()
        """Directories that the plugin has renamed since the last scan."""
        self.since = 0
        """Changes before this time (nanoseconds since 1970) are in the ledger."""
        self._lock = anyio.Lock()

    async def scan_since(self, snapshot: Snapshot) -> None:
        """Scan with the last snapshot of another Neovim."""
        if self.last is None:
            self.last, self.since = snapshot, snapshot.time - CLOCK_NS
        await self.scan()

    async def known(self, path: str) -> Blob | None:
        """Return the file's blob in the last snapshot. Raises `SnapshotError` if the snapshot has nothing of it."""
        found = None if self.last is None else await self.shadow.find(self.last, self.renames.was(path))
        if found is None:
            raise SnapshotError("it was not there, or git ignores it")
        return found

    async def scan(self) -> None:
        """Pass all changes to the tracker. Raises `SnapshotError`; then the next scan finds those changes, too."""
        async with self._lock:
            try:
                await self._scan()
            finally:
                self._now = self.last

    async def _scan(self) -> None:
        gone = await self._tracker.directories.missing(self.shadow.root)
        renamed, now = await self._take()
        with anyio.CancelScope(shield=True):  # changes that were found are entered
            last, prompt_sent, self._first_prompt = self.last, self._first_prompt, None
            if last is None and prompt_sent is not None:  # as much as is known of what there was before the prompt
                last = await self.shadow.before(now, prompt_sent)
            if last is not None:
                changed = await self._changes(last, now)
                while await self.shadow.is_torn():
                    renamed, now = await self._take(again=True)
                    changed = await self._changes(last, now)
                await self._tracker.scanned(changed, renames=self.renames, count=renamed)
                await self._tracker.scanned(await self._others(changed, last, now))
                await self._tracker.directories.prune(gone)
                await self._tracker.disk.rejudge(self.shadow.root, self._git)
            self.renames.forget(renamed)
            self.last = now  # set last: meanwhile `known` must return the earlier content
            self.since = now.time - CLOCK_NS

    async def _take(self, *, again: bool = False) -> tuple[int, Snapshot]:
        """Take the snapshot of this scan; return also how many renames were made before it."""
        renamed = self.renames.count
        self._now = await self.shadow.take(self._began(), again=again)
        return renamed, self._now

    def change_time(self, path: str, since: int) -> ChangeTime:
        """Return when what is at an absolute path has changed since the last scan, or a look at `since`. Blocks."""
        return change_time(path, self._earlier, since, self.renames.entered)

    def replaced(self, path: str) -> int | None:
        """Return until when a directory above the file was replaced since the snapshot of this scan. Blocks."""
        return None if self._later is None or self._now is self.last else self._later.replaced(path)

    def made(self, path: str) -> list[str]:
        """Return the directories of a new file that were made, or came there, since the turn began. Blocks.

        A scan in between has not seen those that were empty.
        """
        earlier, began = self._earlier, self._began()
        made = []
        for above in directories_above(path, self.shadow.root):
            birth = born(os.fsencode(above))
            is_new = birth is not None and began is not None and birth > began.time
            has_come = earlier is not None and earlier.came(above) and not self._came_later(above)
            if not (is_new or has_come) or not is_real_directory(above):
                break
            made.append(above)
        return made

    def _came_later(self, path: str) -> bool:
        """Return whether the directory has come after the snapshot that is being looked at. Blocks."""
        return self._later is not None and self._later.has_other(path)

    @property
    def _earlier(self) -> Directories | None:
        """The directories as the last scan has found them, if they are known."""
        return None if self.last is None else self.shadow.directories(self.last)

    @property
    def _later(self) -> Directories | None:
        """The directories as this scan has found them, or the last one, if they are known."""
        return None if self._now is None else self.shadow.directories(self._now)

    async def _changes(self, last: Snapshot, now: Snapshot) -> list[Changed]:
        try:
            return await self.shadow.changes(last, now)
        except GoneError:
            self.last, self.since = now, now.time - CLOCK_NS  # what was before stays unknown, however often we ask
            raise

    def _began(self) -> Snapshot | None:
        """Return the snapshot with which the turn began, or the last one.

        Its ignore rules count, too: what a turn's new rules hide may be the agent's.
        """
        root = self.shadow.root
        began = [turn.began[root] for turn in self._tracker.ledger.logs if turn.active and root in turn.began]
        return min(began, key=lambda one: one.time) if began else self.last

    @property
    def too_many_hidden(self) -> list[str]:
        """Paths of directories that new rules hide, with so many new files that they are not under review."""
        return self.shadow.too_many_hidden

    async def sees_nothing(self) -> bool:
        """Return whether there are files, but rules ignore them all."""
        if self.last is None or self.last.id != EMPTY:
            return False
        return await anyio.to_thread.run_sync(_has_files, self.shadow.root)

    def prompt_sent(self, moment: int) -> None:
        """Note that a prompt was sent at `moment` (nanoseconds since 1970), before the first scan has ended."""
        if self.last is None and self._first_prompt is None:
            self._first_prompt = moment

    async def _others(self, found: Sequence[Changed], last: Snapshot, now: Snapshot) -> list[Changed]:
        """Return files that are unchanged since the last scan, but differ from the ledger: saved since, for example."""
        names = {one.path for one in found} | {one.old_path for one in found if one.old_path is not None}
        known, ledger = {self.renames.now(path) for path in names}, self._tracker.ledger
        others = {path: ledger.on_disk(path) for path in ledger.known_below(self.shadow.root) if path not in known}
        fresh = await anyio.to_thread.run_sync(self._changed_since, others, last)
        return [Changed(path, None, await self.shadow.find(now, path)) for path in fresh]

    def _changed_since(self, known: Mapping[str, Blob | None], last: Snapshot) -> list[str]:
        """Return those of the files that are not what is `known`, and may have changed since a snapshot. Blocks."""
        earlier = self.shadow.directories(last)

        @cache
        def is_other(directory: str) -> bool:
            path = os.path.join(directory, "file")
            return is_behind_link(path) or (earlier is not None and earlier.placed(path) is not None)

        since = last.time - CLOCK_NS
        fresh = (one for one in known if is_other(os.path.dirname(one)) or _is_fresh(one, since))
        return [one for one in fresh if differs(self._blob(one), known[one])]

    def _blob(self, path: str) -> Blob | None:
        found = read_disk(path, self.shadow.root)
        return None if found is None else found.blob


def _is_fresh(path: str, since: int) -> bool:
    """Return whether the file was changed, or deleted, at `since` (nanoseconds since 1970) or later. Blocks."""
    try:
        status = os.lstat(path)
    except OSError:
        return last_change(path)[0] >= since
    return status.st_ctime_ns >= since or (status.st_size == 0 and last_change(path)[0] >= since)  # being truncated


def _has_files(root: str) -> bool:
    """Return whether there are files other than git's. Blocks."""
    for _, directories, names in islice(os.walk(root), MAX_DIRECTORIES):
        if names:
            return True
        directories[:] = [name for name in directories if name != ".git"]
    return False
