"""The files that an agent names in its tool calls: what they were when it did so first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

import anyio
import anyio.lowlevel
import anyio.to_thread

from acp_nvim.acp.diff import FileChange
from acp_nvim.review.locate import unapplied
from acp_nvim.review.reviews import Reviews
from acp_nvim.snapshots.snapshot import Blob, Changed, SnapshotError
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import Roots

KNOWN_WAIT_SECONDS: Final = 2.0
"""Time that an agent waits for its permission until its files were looked at: one takes a millisecond."""
WAITING: Final = 1000
"""Files that an agent has named, and that are still to be looked at, one after the other: what comes beyond is passed
over, and seen by the snapshots only."""


class NamedFiles:
    """Those of one session below `roots`. They may be ignored by git, or there may be no snapshot: `is_blind`."""

    def __init__(self, reviews: Reviews, roots: Roots, tasks: Tasks) -> None:
        self.is_blind = False
        self._tracker = reviews.tracker
        self._workspaces = reviews.workspaces
        self._roots = roots
        self._tasks = tasks
        self._was: dict[str, Blob | None] = {}
        self._waiting: deque[tuple[str, FileChange | None]] = deque()
        self._looking: anyio.Event | None = None

    def __repr__(self) -> str:
        return f"<NamedFiles {len(self._was)} known, {len(self._waiting)} waiting>"

    def __len__(self) -> int:
        """Number of files that are still to be looked at."""
        return len(self._waiting)

    def add(self, files: Sequence[tuple[str, FileChange | None]]) -> None:
        """The agent says that it works on these files (absolute paths), and what it does to them."""
        self._waiting += islice(files, max(0, WAITING - len(self._waiting)))
        if self._waiting and not is_running(self._looking):
            self._looking = self._tasks.spawn(self._look)

    async def known(self) -> None:
        """Until it is known what the files were: the agent, once allowed to, may change them at once."""
        with anyio.move_on_after(KNOWN_WAIT_SECONDS):
            while self._looking is not None and is_running(self._looking):
                await self._looking.wait()

    async def scan(self) -> None:
        """Tell the tracker which of them are others now; the next turn begins anew."""
        was, self._was = self._was, {}
        await self._tracker.scanned([Changed(path, before, None) for path, before in was.items()])

    async def _look(self) -> None:
        """One after the other: an agent may name a million, and others want to look at files, too."""
        while self._waiting:
            await anyio.lowlevel.checkpoint()  # many may be refused, one after the other
            path, change = self._waiting.popleft()
            with self._tasks.contained("looking at a file that was named"), suppress(NotAllowedError):  # not ours
                await self._look_at(self._roots.resolve(path), change)

    async def _look_at(self, path: str, change: FileChange | None) -> None:
        await self._tracker.named(path)
        await self._note(path)
        if change is not None and not await self._is_in_snapshot(path):
            await self._note_before(path, change)

    async def _is_in_snapshot(self, path: str) -> bool:
        """Then it is known what it was before the turn."""
        if self.is_blind:
            return False
        try:
            await self._workspaces.known(path)
        except SnapshotError:
            return False
        return True

    async def _note(self, path: str) -> None:
        """The agent is about to change the file of that real path, perhaps."""
        if path not in self._was:
            found = await self._tracker.disk.found(path)
            was = None if found is None else found.blob
            if found is not None and found.data is not None:
                was = self._workspaces.contents(path).put(path, found.data, found.blob.mode)
            self._was.setdefault(path, was)

    async def _note_before(self, path: str, change: FileChange) -> None:
        """The agent shows what it does to the file; if that was done before we looked, the diff says what was there."""
        contents = self._workspaces.contents(path)
        found = await self._tracker.disk.found(path)
        if found is None or found.blob != self._was.get(path):
            return
        content = await contents.look(path, found.blob)
        if content.text is None:
            return
        before = await anyio.to_thread.run_sync(unapplied, content.text, change)
        if before is not None:
            is_new = all(piece.old_text is None for piece in change.pieces)
            text = contents.put_text(path, before, content.encoding, found.blob.mode)
            self._was[path] = None if is_new and not before else text.blob
