"""Keeps the texts of finished reviews, for buffers that are loaded again: undo may reopen a review."""

from __future__ import annotations

from typing import Final

from acp_nvim.review.change import Entry
from acp_nvim.snapshots.renames import Naming

MAX_PAST_TEXTS: Final = 200
"""Files whose earlier texts are kept after their review, for buffers that are loaded again."""
MAX_PAST_TEXT_BYTES: Final = 32 * 1024 * 1024
"""Memory for these texts: hundreds of ordinary sources, each with a few versions."""


class PastTexts:
    """Finished reviews by path; the oldest are evicted beyond `count` entries or `max_bytes`."""

    def __init__(self, count: int = MAX_PAST_TEXTS, max_bytes: int = MAX_PAST_TEXT_BYTES) -> None:
        self._entries: dict[str, tuple[Entry, int]] = {}
        self._count = count
        self._max_bytes = max_bytes

    def keep(self, entry: Entry) -> None:
        """Add an entry with nothing left to review, if undo could bring something back."""
        self._entries.pop(entry.path, None)
        if entry.text is None or not entry.text.has_past:
            return
        self._entries[entry.path] = entry, entry.text.size
        while len(self._entries) > self._count or sum(size for _, size in self._entries.values()) > self._max_bytes:
            self._entries.pop(next(iter(self._entries)))

    def follow(self, renamed: Naming) -> None:
        """Let renames of directories give the files their names."""
        for entry, size in [self._entries.pop(path) for path in list(self._entries)]:
            entry.follow(renamed)
            self._entries[entry.path] = entry, size

    def take(self, path: str) -> Entry | None:
        """Remove and return the entry of a file; None if there is none."""
        entry, _ = self._entries.pop(path, (None, 0))
        return entry
