"""Looks at the disk: which files are others than at the last look, and tells the tracker."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.file_time import last_change
from acp_nvim.review.contents import Contents
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.snapshots.comparing import CLOCK_NS
from acp_nvim.snapshots.objects import EMPTY
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, Changed, Snapshot, SnapshotError

DIRECTORIES_LOOKED_AT: Final = 1000
"""In which a first file is looked for when git sees none: that takes 10 ms."""


class Scanner:
    """Compares one directory with what it was; `contents` keeps the bytes of its files."""

    def __init__(self, shadow: Shadow, tracker: ChangeTracker) -> None:
        self.shadow = shadow
        self.contents = Contents(shadow)
        self._tracker = tracker
        self.last: Snapshot | None = None
        """The snapshot of the last look; None before the first."""
        self._first_prompt: int | None = None
        self.since = 0
        """What was changed before that was seen by the last look (nanoseconds since 1970); it is in the ledger."""
        self._lock = anyio.Lock()

    def __repr__(self) -> str:
        return f"<Scanner {self.shadow!r}>"

    async def scan_since(self, snapshot: Snapshot) -> None:
        """As `scan`; the last look was that of another Neovim."""
        if self.last is None:
            self.last, self.since = snapshot, snapshot.time - CLOCK_NS
        await self.scan()

    async def known(self, path: str) -> Blob | None:
        """What the file was at the last look. Raises `SnapshotError`, also when that look did not see it."""
        found = None if self.last is None else await self.shadow.find(self.last, path)
        if found is None:
            raise SnapshotError("it was not there, or git ignores it")
        return found

    async def scan(self) -> None:
        """Tell the tracker what has changed. Raises `SnapshotError`: what has changed is seen when it works again."""
        async with self._lock:
            now = await self.shadow.take()
            with anyio.CancelScope(shield=True):  # what was found is entered
                last = await self._before(now)
                if last is not None:
                    changed = await self.shadow.changes(last, now) if last.id != now.id else []
                    await self._tracker.scanned(changed)
                    await self._tracker.scanned(await self._others(changed, last, now))
                    await self._tracker.disk.judge_again()
                self.last = now  # not before: who asks meanwhile what a file was would be told what it is
                self.since = now.time - CLOCK_NS

    async def sees_nothing(self) -> bool:
        """Whether there are files, and none of them is in the last snapshot: rules ignore them all."""
        if self.last is None or self.last.id != EMPTY:
            return False
        return await anyio.to_thread.run_sync(_has_files, self.shadow.root)

    def not_waited_for(self, moment: int) -> None:
        """A prompt goes out at `moment` (nanoseconds since 1970), before the look that goes on has come to its end."""
        if self.last is None and self._first_prompt is None:
            self._first_prompt = moment

    async def _before(self, now: Snapshot) -> Snapshot | None:
        """What there was before the agents could change anything: the last look, or as much as is known of it."""
        moment, self._first_prompt = self._first_prompt, None
        if self.last is None and moment is not None:
            return await self.shadow.before(now, moment)
        return self.last

    async def _others(self, found: Sequence[Changed], last: Snapshot, now: Snapshot) -> list[Changed]:
        """Files that are what they were at the last look, but not what is known of them: saved since, for example."""
        known = {one.path for one in found} | {one.old_path for one in found}
        others = [path for path in self._tracker.ledger.known_below(self.shadow.root) if path not in known]
        fresh = await anyio.to_thread.run_sync(
            lambda: [one for one in others if last_change(one)[0] >= last.time - CLOCK_NS]
        )
        return [Changed(path, None, await self.shadow.find(now, path)) for path in fresh]


def _has_files(root: str) -> bool:
    """Whether there are files beside those of git. Blocks."""
    for _, directories, names in islice(os.walk(root), DIRECTORIES_LOOKED_AT):
        if names:
            return True
        directories[:] = [name for name in directories if name != ".git"]
    return False
