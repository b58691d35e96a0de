"""Cut a stream of bytes into whole lines, in linear time and within a stated size."""

from __future__ import annotations

from typing import NamedTuple

from acp_nvim.limits import GLIMPSE_HEAD_BYTES, GLIMPSE_TAIL_BYTES, MAX_LINE_BYTES

Line = bytes | bytearray
"""One whole line without its newline; nobody changes it any more."""


class SkippedLine(NamedTuple):
    """What is left of a line over the limit: its ends, and how many bytes it had."""

    head: bytes
    tail: bytes
    size: int


class LineFramer:
    """Collects bytes until a newline ends the line they belong to.

    A line longer than `limit` bytes is dropped while it arrives; those before and after it are whole.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._skipping: SkippedLine | None = None

    def __repr__(self) -> str:
        return f"<LineFramer pending={self._size}>"

    @property
    def _size(self) -> int:
        return len(self._begun) if self._skipping is None else self._skipping.size

    def feed(self, data: bytes) -> list[list[Line] | SkippedLine]:
        """What `data` completes, in order: mostly one list with all of its lines."""
        *ended, rest = data.split(b"\n")
        if not ended:
            self._keep(rest)
            return []
        one_may_be_too_long = self._size + len(data) > self._limit
        found = self._end_each(ended) if one_may_be_too_long else self._end_all(ended)
        self._keep(rest)
        return found

    def rest(self) -> bytes:
        """The beginning of a line that has not ended."""
        return bytes(self._begun) if self._skipping is None else self._skipping.head

    def _end_all(self, ended: list[bytes]) -> list[list[Line] | SkippedLine]:
        if not self._begun:
            return [[*ended]]
        return [[self._end(ended[0]), *ended[1:]]]

    def _end(self, piece: bytes) -> Line:
        self._begun += piece
        line, self._begun = self._begun, bytearray()
        return line

    def _end_each(self, ended: list[bytes]) -> list[list[Line] | SkippedLine]:
        """The same when one of them may be over the limit."""
        found: list[list[Line] | SkippedLine] = []
        for piece in ended:
            self._keep(piece)
            found.append([self._end(b"")] if self._skipping is None else self._skipping)
            self._skipping = None
        return found

    def _keep(self, piece: bytes) -> None:
        if self._skipping is not None:
            begun = self._skipping
            tail = (begun.tail + piece)[-GLIMPSE_TAIL_BYTES:]
            self._skipping = SkippedLine(begun.head, tail, begun.size + len(piece))
            return
        self._begun += piece
        if len(self._begun) > self._limit:
            whole = bytes(self._begun)
            self._skipping = SkippedLine(whole[:GLIMPSE_HEAD_BYTES], whole[-GLIMPSE_TAIL_BYTES:], len(whole))
            self._begun = bytearray()
