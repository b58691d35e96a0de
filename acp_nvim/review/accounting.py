"""Finds out who made a file what it is, where nobody was told: between two looks at the disk."""

from __future__ import annotations

from collections.abc import Container

from acp_nvim.review.contents import Content
from acp_nvim.review.counting import count
from acp_nvim.review.disk import Disk
from acp_nvim.review.entering import Entering
from acp_nvim.review.ledger import Ledger
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.workspace.disk import DiskText
from acp_nvim.workspace.open_files import OpenText


class Accounting:
    """`saving` has the files that the user has written, and who says so has not been heard yet."""

    def __init__(self, ledger: Ledger, disk: Disk, entering: Entering, saving: Container[str]) -> None:
        self._ledger = ledger
        self._disk = disk
        self._entering = entering
        self._saving = saving
        self._heard_of: set[str] = set()

    def __repr__(self) -> str:
        return f"<Accounting {self._ledger!r}>"

    async def account(self, path: str, now: Content, replaced: DiskText | None = None) -> bool:
        """What a file without a buffer is now, if that is news, was done by who works there. False: nobody knows.

        `replaced`: the file with that text, when it has been overwritten since; its times are those of `now`.
        """
        entry = self._ledger.entries.get(path)
        try:
            before = entry.on_disk if entry is not None else await self._disk.known(path)
        except SnapshotError:
            return False
        if before != now.blob and path not in self._saving:
            verdict = await self._entering.enter(path, Content(before), now, replaced=replaced)
            self._ledger.set_on_disk(path, now.blob)
            await count(self._ledger.changes(path), self._ledger.contents)
            self._entering.told(path, verdict)
        return True

    async def buffer_is(self, path: str, buffer: OpenText | None) -> None:
        """What the agents had done to a file before we heard of its buffer is theirs; later the buffer tells."""
        if buffer is None:
            self._heard_of.discard(path)
        elif path not in self._heard_of:
            self._heard_of.add(path)
            await self._opened(path, buffer)

    async def _opened(self, path: str, buffer: OpenText) -> None:
        is_ours = path in self._ledger.entries or not self._ledger.active(path)
        if is_ours or buffer.modified or not buffer.on_disk or path in self._saving:
            return
        try:
            known = await self._disk.known(path)
        except SnapshotError:
            return
        now = await self._disk.blob(path, known)
        if now != known:
            await self.account(path, await self._ledger.with_text(path, Content(now), buffer.encoding))
