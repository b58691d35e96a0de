"""Scans a workspace: compares it with the last snapshot, and passes changed files to the tracker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.file_time import is_behind_link, last_change
from acp_nvim.review.contents import Contents
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.snapshots.directories import CLOCK_NS, ChangeTime, change_time
from acp_nvim.snapshots.objects import EMPTY
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, Changed, Snapshot, SnapshotError

MAX_DIRECTORIES: Final = 1000
"""Directories in which to look for a first file when git finds none: that takes 10 ms."""


class Scanner:
    """Scans one directory; `contents` stores the bytes of its files."""

    def __init__(self, shadow: Shadow, tracker: ChangeTracker) -> None:
        self.shadow = shadow
        self.contents = Contents(shadow)
        self._tracker = tracker
        self.last: Snapshot | None = None
        """The snapshot of the last scan; None before the first."""
        self._first_prompt: int | None = None
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
        found = None if self.last is None else await self.shadow.find(self.last, path)
        if found is None:
            raise SnapshotError("it was not there, or git ignores it")
        return found

    async def scan(self) -> None:
        """Pass all changes to the tracker. Raises `SnapshotError`; then the next scan finds those changes, too."""
        async with self._lock:
            now = await self.shadow.take()
            with anyio.CancelScope(shield=True):  # changes that were found are entered
                last, prompt_sent, self._first_prompt = self.last, self._first_prompt, None
                if last is None and prompt_sent is not None:  # as much as is known of what there was before the prompt
                    last = await self.shadow.before(now, prompt_sent)
                if last is not None:
                    changed = await self.shadow.changes(last, now)
                    await self._tracker.scanned(changed)
                    await self._tracker.scanned(await self._others(changed, last, now))
                    await self._tracker.disk.rejudge()
                self.last = now  # set last: meanwhile `known` must return the earlier content
                self.since = now.time - CLOCK_NS

    def change_time(self, path: str) -> ChangeTime:
        """Return when what is at an absolute path has changed, seen from the last scan. Blocks."""
        return change_time(path, None if self.last is None else self.shadow.directories(self.last), self.since)

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
        known = {one.path for one in found} | {one.old_path for one in found}
        others = [path for path in self._tracker.ledger.known_below(self.shadow.root) if path not in known]
        fresh = await anyio.to_thread.run_sync(self._changed_since, others, last)
        return [Changed(path, None, await self.shadow.find(now, path)) for path in fresh]

    def _changed_since(self, paths: Sequence[str], last: Snapshot) -> list[str]:
        """Return the files that have changed since a snapshot, or came with a directory. Blocks."""
        earlier = self.shadow.directories(last)

        @cache
        def is_other(directory: str) -> bool:
            path = os.path.join(directory, "file")
            return is_behind_link(path) or (earlier is not None and earlier.placed(path) is not None)

        since = last.time - CLOCK_NS
        return [one for one in paths if is_other(os.path.dirname(one)) or last_change(one)[0] >= since]


def _has_files(root: str) -> bool:
    """Return whether there are files other than git's. Blocks."""
    for _, directories, names in islice(os.walk(root), MAX_DIRECTORIES):
        if names:
            return True
        directories[:] = [name for name in directories if name != ".git"]
    return False
