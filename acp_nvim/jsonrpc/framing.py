"""Splits a byte stream into whole lines, in linear time and within stated bounds."""

from __future__ import annotations

from typing import Final, NamedTuple

from acp_nvim.jsonrpc.bounded_line import BoundedLine, TooMuchError
from acp_nvim.lazy import pattern
from acp_nvim.limits import ENVELOPE_HEAD_BYTES, ENVELOPE_TAIL_BYTES, SCANNED_BYTES

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Size of one message of an agent; the largest seen in practice has 0.6 MB, but whole files travel in one message."""
MESSAGE_BYTES: Final = 20 * 1024 * 1024
"""Bytes kept of one message: two of the largest strings. A file that an agent writes may be larger."""

_WRITES_A_FILE: Final = pattern(rb'"method"\s*:\s*"fs/write_text_file"')
"""The only message that may be as large as a file, and that must not be cut."""

Line = bytes | bytearray
"""One whole line without its newline; it is not modified any more."""


class CutLine(bytearray):
    """A line from which something beyond a bound was dropped, whatever the line itself says of that."""


class SkippedLine(NamedTuple):
    """A line beyond a bound: its first and last bytes, and its size in bytes; `why` if not because of its size."""

    head: bytes
    tail: bytes
    size: int
    why: str = ""


class LineFramer:
    """Collects bytes until a newline ends their line.

    A long line is reduced to what is within bounds (`jsonrpc.bounded_line`). If more than `limit` bytes remain,
    the line is dropped while it arrives; the lines before and after it are not affected.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._long: BoundedLine | None = None
        self._long_limit = limit
        self._long_size = 0
        self._long_tail = b""
        self._skipping: SkippedLine | None = None

    def __repr__(self) -> str:
        return f"<LineFramer pending={self._size}>"

    @property
    def _size(self) -> int:
        if self._skipping is not None:
            return self._skipping.size
        return len(self._begun) if self._long is None else self._long_size

    def feed(self, data: bytes) -> list[list[Line] | SkippedLine]:
        """Return what `data` completes, in order: usually one list with all of its lines."""
        *ended, rest = data.split(b"\n")
        if not ended:
            found: list[list[Line] | SkippedLine] = []
        elif self._size + len(data) > min(self._limit, SCANNED_BYTES):
            found = self._end_each(ended)
        else:
            first = self._begun + ended[0] if self._begun else ended[0]
            self._begun = bytearray()
            found = [[first, *ended[1:]]]
        self._keep(rest)
        return found

    def rest(self) -> bytes:
        """Return the beginning of the line that has not ended yet."""
        if self._skipping is not None:
            return self._skipping.head
        return bytes(self._begun if self._long is None else self._long.kept)

    def _end_each(self, ended: list[bytes]) -> list[list[Line] | SkippedLine]:
        """Complete lines of which one may be long."""
        found: list[list[Line] | SkippedLine] = []
        for piece in ended:
            self._keep(piece)
            whole = self._begun if self._long is None else self._long.end()
            if self._long is not None and self._long.was_cut:
                whole = CutLine(whole)
            found.append([whole] if self._skipping is None else self._skipping)
            self._begun, self._long, self._skipping = bytearray(), None, None
        return found

    def _keep(self, piece: bytes) -> None:
        if self._skipping is not None:
            begun = self._skipping
            tail = (begun.tail + piece)[-ENVELOPE_TAIL_BYTES:]
            self._skipping = begun._replace(tail=tail, size=begun.size + len(piece))
        elif self._long is not None:
            self._scan(self._long, piece)
        else:
            self._begun += piece
            if len(self._begun) > min(self._limit, SCANNED_BYTES):
                self._begin_long()

    def _begin_long(self) -> None:
        begun, self._begun = bytes(self._begun), bytearray()
        writes_a_file = _WRITES_A_FILE.search(begun, 0, ENVELOPE_HEAD_BYTES) is not None
        self._long, self._long_size, self._long_tail = BoundedLine(whole_strings=writes_a_file), 0, b""
        self._long_limit = self._limit if writes_a_file else min(self._limit, MESSAGE_BYTES)
        self._scan(self._long, begun)

    def _scan(self, line: BoundedLine, piece: bytes) -> None:
        """Feed more of a long line; skip the line when it exceeds a bound."""
        self._long_size += len(piece)
        self._long_tail = (self._long_tail + piece[-ENVELOPE_TAIL_BYTES:])[-ENVELOPE_TAIL_BYTES:]
        why = ""
        try:
            line.feed(piece)
        except TooMuchError as error:
            why = str(error)
        if why or len(line.kept) > self._long_limit:
            head = bytes(line.kept[:ENVELOPE_HEAD_BYTES])
            self._skipping = SkippedLine(head, self._long_tail, self._long_size, why)
            self._long = None
