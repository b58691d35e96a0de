"""Keeps what the files that an agent names in its tool calls were before it changed them."""

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
"""Time that a permission waits until the files that it names were read: each takes a millisecond."""
WAITING: Final = 1000
"""Named files that may wait to be read, one after the other; of more, only the snapshots show changes."""


class NamedFiles:
    """The named files of one session below `roots`, which git may ignore; `is_blind`: there is no snapshot at all."""

    def __init__(self, reviews: Reviews, roots: Roots, tasks: Tasks) -> None:
        self.is_blind = False
        self._tracker = reviews.tracker
        self._workspaces = reviews.workspaces
        self._roots = roots
        self._tasks = tasks
        self._was: dict[str, Blob | None] = {}
        self._waiting: deque[tuple[str, FileChange | None]] = deque()
        self._reading: anyio.Event | None = None

    def __len__(self) -> int:
        """Return the number of files that still have to be read."""
        return len(self._waiting)

    def add(self, files: Sequence[tuple[str, FileChange | None]]) -> None:
        """Queue the files (absolute paths) that a tool call names, with what it does to them."""
        self._waiting += islice(files, max(0, WAITING - len(self._waiting)))
        if self._waiting and not is_running(self._reading):
            self._reading = self._tasks.spawn(self._read_all)

    async def known(self) -> None:
        """Wait until all were read, because an agent may change them as soon as it is allowed to."""
        with anyio.move_on_after(KNOWN_WAIT_SECONDS):
            while self._reading is not None and is_running(self._reading):
                await self._reading.wait()

    async def scan(self) -> None:
        """Pass those that have changed to the tracker, and begin anew."""
        was, self._was = self._was, {}
        found = [Changed(path, before, None) for path, before in was.items()]
        await self._tracker.scanned(found, are_in_snapshot=False)

    async def _read_all(self) -> None:
        """Read one file after the other: an agent may name a million, and others need the disk, too."""
        while self._waiting:
            await anyio.lowlevel.checkpoint()  # many in a row may be refused
            path, change = self._waiting.popleft()
            with self._tasks.contained("looking at a file that was named"), suppress(NotAllowedError):
                await self._look_at(self._roots.resolve(path), change)

    async def _look_at(self, path: str, change: FileChange | None) -> None:
        await self._tracker.before_change(path)
        if path not in self._was:
            blob = await self._tracker.disk.blob(path)
            if blob is not None or not await self._is_in_snapshot(path):  # deleted since: the next snapshot tells
                self._was.setdefault(path, blob)
        if change is not None and not await self._is_in_snapshot(path):
            await self._note_before(path, change)

    async def _is_in_snapshot(self, path: str) -> bool:
        """Return whether the last snapshot has the file, so that its content before the turn is known."""
        if self.is_blind:
            return False
        try:
            await self._workspaces.known(path)
        except SnapshotError:
            return False
        return True

    async def _note_before(self, path: str, change: FileChange) -> None:
        """If the diff of the call is in the file already, store what the file was before it."""
        contents = self._workspaces.contents(path)
        found = await self._tracker.disk.read(path)
        if found is None or found.blob != self._was.get(path):
            return
        content = await contents.load(path, found.blob)
        if content.text is None:
            return
        before = await anyio.to_thread.run_sync(unapplied, content.text, change)
        if before is not None:
            is_new = all(piece.old_text is None for piece in change.pieces)
            text = contents.put_text(path, before, content.encoding, found.blob.mode)
            self._was[path] = None if is_new and not before else text.blob
