"""Finds lines of a text by their numbers."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from acp_nvim.workspace.text_shape import is_mac

_BLOCK: Final = 4096
"""Characters whose line ends are counted at once, in 3 µs: a line is then looked for in so many."""


class TextLines:
    """A text in which lines are looked for: the line ends are counted once, and only as far as one is looked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._end = "\r" if is_mac(text) else "\n"
        self._counts: list[int] = []  # of the line ends in the first block, in the first two, and so on

    def __repr__(self) -> str:
        return f"<TextLines {len(self.text)} characters, {len(self._counts)} blocks counted>"

    def cut(self, line: int | None, limit: int | None) -> str:
        """Return lines `line` to `line + limit - 1` with their ends; nothing past the end. Line 0 counts as 1."""
        first = max(line or 1, 1) - 1
        start = self._after(first)
        return self.text[start:] if limit is None else self.text[start : self._after(first + max(limit, 0))]

    def _after(self, count: int) -> int:
        """Return the position after the `count`-th line end, or the length of the text if there are fewer."""
        if count == 0:
            return 0
        counts, blocks = self._counts, -(-len(self.text) // _BLOCK)
        while len(counts) < blocks and (not counts or counts[-1] < count):
            at = len(counts) * _BLOCK
            counts.append((counts[-1] if counts else 0) + self.text.count(self._end, at, at + _BLOCK))
        block = bisect_left(counts, count)
        if block == blocks:
            return len(self.text)
        at = block * _BLOCK
        for _ in range(count - (counts[block - 1] if block else 0)):
            at = self.text.find(self._end, at) + 1
        return at
