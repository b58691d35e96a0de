"""Finds what has changed on disk since the last look: all that git would see, and what agents name."""

from __future__ import annotations

import anyio
import anyio.to_thread

from acp_nvim.protocol.diff import FileChange
from acp_nvim.review.contents import Contents
from acp_nvim.review.file_on_disk import look_at
from acp_nvim.review.unapplied import unapplied
from acp_nvim.review.witness import Witness
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, Changed, Snapshot


class Scanner:
    """Compares one directory with what it was; `contents` keeps the bytes of its files."""

    def __init__(self, shadow: Shadow, witness: Witness) -> None:
        self.shadow = shadow
        self.contents = Contents(shadow)
        self._witness = witness
        self._last: Snapshot | None = None
        self._lock = anyio.Lock()

    def __repr__(self) -> str:
        return f"<Scanner {self.shadow!r}>"

    @property
    def last(self) -> Snapshot | None:
        """That of the last look."""
        return self._last

    async def scan_since(self, snapshot: Snapshot) -> None:
        """As `scan`; the last look was that of another Neovim."""
        self._last = self._last or snapshot
        await self.scan()

    async def known(self, path: str) -> Blob | None:
        """What the file was at the last look. Raises `SnapshotError`, also when that look did not see it."""
        found = None if self._last is None else await self.shadow.find(self._last, path)
        if found is None:
            raise SnapshotError("it was not there, or git ignores it")
        return found

    async def scan(self) -> None:
        """Tell the witness what has changed. Raises `SnapshotError`: what has changed is seen when it works again."""
        async with self._lock:
            now = await self.shadow.take()
            with anyio.CancelScope(shield=True):  # what was found is entered
                last, self._last = self._last, now
                if last is not None and last.id != now.id:
                    await self._witness.scanned(await self.shadow.changes(last, now))


class FirstTouch:
    """The files that the agent of one session names: what they were when it did so first.

    They may be ignored by git, or there may be no snapshot.
    """

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._was: dict[str, Blob | None] = {}

    def __repr__(self) -> str:
        return f"<FirstTouch {len(self._was)} files>"

    async def named(self, contents: Contents, path: str) -> None:
        """The agent is about to change the file of that real path, perhaps."""
        if path not in self._was:
            found = await anyio.to_thread.run_sync(look_at, path)
            was = None if found is None else found.blob
            if found is not None and found.data is not None:
                was = contents.put(path, found.data, found.blob.mode)
            self._was.setdefault(path, was)

    async def shown(self, contents: Contents, path: str, change: FileChange) -> None:
        """The agent shows what it does to the file; if that was done before we looked, the diff says what was there."""
        await self.named(contents, path)
        found = await anyio.to_thread.run_sync(look_at, path)
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

    async def scan(self) -> None:
        """Tell the witness which of them are others now; the next turn begins anew."""
        was, self._was = self._was, {}
        await self._witness.scanned([Changed(path, before, None) for path, before in was.items()])
