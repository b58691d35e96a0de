"""Reads and writes the files of entries for the user's decisions."""

from __future__ import annotations

from acp_nvim.review.apply import write_content
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import NEW_FILE, Content
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.workspace.open_files import OpenFiles


class EntryFiles:
    """The files under review; with `save` changed buffers are saved."""

    def __init__(self, tracker: ChangeTracker, files: OpenFiles) -> None:
        self.save = True
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files

    async def entry(self, path: str, *, is_checked: bool = False) -> Entry | None:
        """Return the file's entry, up to date unless it is checked later, and with its texts."""
        if not is_checked:
            await self._tracker.refresh(path)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            await self._ledger.load_texts(entry)
        return entry

    def now(self, entry: Entry) -> Content:
        """Return the present content, with its text stored."""
        entry.store_texts(self._ledger.contents(entry.path))
        return entry.current_content()

    def content(self, entry: Entry, text: str) -> Content:
        """Return a text as the content of the file, with its present mode."""
        like = entry.current or entry.base or NEW_FILE
        return self._ledger.contents(entry.path).put_text(entry.path, text, entry.encoding, like)

    async def write(self, entry: Entry, wanted: Content) -> bool:
        """Write a content; return False if the file was changed meanwhile."""
        contents, was = self._ledger.contents(entry.path), self.now(entry)
        return await write_content(self._files, contents, entry.path, was, wanted, self.save)

    def update_state(self, entry: Entry) -> None:
        """Take the state of the file's buffer as the one that the entry knows."""
        last = self._files.last(entry.path)
        if last is not None:
            entry.state = last.state
