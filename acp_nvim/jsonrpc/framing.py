"""Cut a stream of bytes into whole lines, in linear time and within a stated size."""

from __future__ import annotations

from typing import Final, NamedTuple

from acp_nvim.limits import GLIMPSE_HEAD_BYTES, GLIMPSE_TAIL_BYTES, MAX_LINE_BYTES

Block = bytes | bytearray
"""One or more whole lines, without the newline of the last one; nobody changes it any more."""

_NEWLINE: Final = b"\n"


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

    def feed(self, data: bytes) -> list[Block | SkippedLine]:
        """What `data` completes, in order: mostly one block with all of its lines."""
        end = data.rfind(_NEWLINE)
        if end < 0:
            self._keep(data)
            return []
        found = [self._end(data[:end])] if self._size + end <= self._limit else self._end_each(data[:end])
        self._keep(data[end + 1 :])
        return found

    def rest(self) -> bytes:
        """The beginning of a line that has not ended."""
        return bytes(self._begun) if self._skipping is None else self._skipping.head

    def _end_each(self, ended: bytes) -> list[Block | SkippedLine]:
        return [self._end(piece) for piece in ended.split(_NEWLINE)]

    def _end(self, piece: bytes) -> Block | SkippedLine:
        if not self._size and len(piece) <= self._limit:
            return piece
        self._keep(piece)
        ended = self._begun if self._skipping is None else self._skipping
        self._begun, self._skipping = bytearray(), None
        return ended

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
