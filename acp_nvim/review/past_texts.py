"""Texts of files whose review is over: undo in a buffer that is loaded again may bring back what agents wrote."""

from __future__ import annotations

from acp_nvim.limits.review import PAST_BYTES, PAST_TEXTS
from acp_nvim.review.entry import Entry


class PastTexts:
    """By path; the oldest go when there are more than `count`, or more than `max_bytes`."""

    def __init__(self, count: int = PAST_TEXTS, max_bytes: int = PAST_BYTES) -> None:
        self._entries: dict[str, tuple[Entry, int]] = {}
        self._count = count
        self._max_bytes = max_bytes

    def __repr__(self) -> str:
        return f"<PastTexts of {len(self._entries)} files>"

    def keep(self, entry: Entry) -> None:
        """Nothing is left of it to review. What was accepted does not come back, and need not be kept."""
        self._entries.pop(entry.path, None)
        if entry.text is None or not entry.text.has_past:
            return
        self._entries[entry.path] = entry, entry.text.size
        while len(self._entries) > self._count or sum(size for _, size in self._entries.values()) > self._max_bytes:
            self._entries.pop(next(iter(self._entries)))

    def take(self, path: str) -> Entry | None:
        """That of the file, once; None when nothing is known of it."""
        entry, _ = self._entries.pop(path, (None, 0))
        return entry
