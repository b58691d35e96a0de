"""Files as they are on disk, and as they are known to have been there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio.to_thread

from acp_nvim.review.contents import Content
from acp_nvim.review.file_on_disk import Found, look_at, mode_of
from acp_nvim.review.ledger import Ledger
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.saves import Saves

Known = Callable[[str], Awaitable[Blob | None]]
"""What the last snapshot has of a file. Raises `SnapshotError` when nobody knows."""


class Disk:
    """Puts what it finds into the ledger's contents."""

    def __init__(self, ledger: Ledger, known: Known, saves: Saves) -> None:
        self._ledger = ledger
        self._known = known
        self._saves = saves

    def __repr__(self) -> str:
        return f"<Disk {self._ledger!r}>"

    async def known(self, path: str) -> Blob | None:
        """What the file was when it was last looked at. Raises `SnapshotError` when nobody knows."""
        if path in self._ledger.accounted:
            return self._ledger.accounted[path]
        return await self._known(path)

    async def content(self, path: str) -> Content:
        """The file as it is now, with its text if it is one."""
        return await self._ledger.with_text(path, Content(await self.blob(path)), None)

    async def blob(self, path: str, known: Blob | None = None) -> Blob | None:
        """The file as it is now; `known` is what the shadow repository has already."""
        found = await self.found(path)
        if found is None or found.blob == known:
            return None if found is None else known
        return found.blob if found.data is None else self._ledger.contents(path).put(path, found.data, found.blob.mode)

    async def found(self, path: str) -> Found | None:
        """Read the file as it is now; None when there is none.

        Waits while a Neovim saves it: until then it may be empty, or have a text that nobody has noted as the user's.
        """
        found, is_being_saved = await anyio.to_thread.run_sync(self._look, path)
        if is_being_saved:
            await self._saves.wait_until_saved(path)
            found, _ = await anyio.to_thread.run_sync(self._look, path)
        return found

    def _look(self, path: str) -> tuple[Found | None, bool]:
        """Read the file, and return also whether a Neovim was saving it. Blocks."""
        return look_at(path), self._saves.is_being_saved(path)

    def text(self, path: str, text: str, encoding: str) -> Content:
        """A text that the file has, or may have."""
        return self._ledger.contents(path).put_text(path, text, encoding, mode_of(path))
