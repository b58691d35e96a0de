"""Cut a stream of bytes into whole lines, in linear time and within stated bounds."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from acp_nvim.jsonrpc.bounded_line import BoundedLine, TooMuchError
from acp_nvim.limits import ENVELOPE_HEAD_BYTES, ENVELOPE_TAIL_BYTES, SCANNED_BYTES

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""One message of an agent; the largest seen in the field is 0.6 MB, whole files travel in one message."""
MESSAGE_BYTES: Final = 20 * 1024 * 1024
"""What is kept of one message: two of the largest strings. Files that an agent writes may be larger."""

_WRITES_A_FILE: Final = re.compile(rb'"method"\s*:\s*"fs/write_text_file"')
"""The one message that may be as large as a file, and of which nothing may be left out."""

Line = bytes | bytearray
"""One whole line without its newline; nobody changes it any more."""


class SkippedLine(NamedTuple):
    """What is left of a line that is beyond a bound: its ends, and how many bytes it had; `why`, unless its size."""

    head: bytes
    tail: bytes
    size: int
    why: str = ""


class LineFramer:
    """Collects bytes until a newline ends the line they belong to.

    Of a long line only what is within bounds is kept (`acp_nvim.jsonrpc.bounded_line`). One of which more than `limit`
    bytes are left is dropped while it arrives; those before and after it are whole.
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
        """What `data` completes, in order: mostly one list with all of its lines."""
        *ended, rest = data.split(b"\n")
        if not ended:
            self._keep(rest)
            return []
        one_may_be_long = self._size + len(data) > min(self._limit, SCANNED_BYTES)
        found = self._end_each(ended) if one_may_be_long else self._end_all(ended)
        self._keep(rest)
        return found

    def rest(self) -> bytes:
        """The beginning of a line that has not ended."""
        if self._skipping is not None:
            return self._skipping.head
        return bytes(self._begun if self._long is None else self._long.kept)

    def _end_all(self, ended: list[bytes]) -> list[list[Line] | SkippedLine]:
        if not self._begun:
            return [[*ended]]
        self._begun += ended[0]
        line, self._begun = self._begun, bytearray()
        return [[line, *ended[1:]]]

    def _end_each(self, ended: list[bytes]) -> list[list[Line] | SkippedLine]:
        """The same when one of them may be long."""
        found: list[list[Line] | SkippedLine] = []
        for piece in ended:
            self._keep(piece)
            found.append([self._whole()] if self._skipping is None else self._skipping)
            self._begun, self._long, self._skipping = bytearray(), None, None
        return found

    def _whole(self) -> Line:
        return self._begun if self._long is None else self._long.end()

    def _keep(self, piece: bytes) -> None:
        if self._skipping is not None:
            begun = self._skipping
            tail = (begun.tail + piece)[-ENVELOPE_TAIL_BYTES:]
            self._skipping = begun._replace(tail=tail, size=begun.size + len(piece))
        elif self._long is not None:
            self._scan(piece)
        else:
            self._begun += piece
            if len(self._begun) > min(self._limit, SCANNED_BYTES):
                self._begin_long()

    def _begin_long(self) -> None:
        begun, self._begun = bytes(self._begun), bytearray()
        writes_a_file = _WRITES_A_FILE.search(begun, 0, ENVELOPE_HEAD_BYTES) is not None
        self._long, self._long_size, self._long_tail = BoundedLine(whole_strings=writes_a_file), 0, b""
        self._long_limit = self._limit if writes_a_file else min(self._limit, MESSAGE_BYTES)
        self._scan(begun)

    def _scan(self, piece: bytes) -> None:
        """More of a long line; it is given up when it is beyond a bound."""
        assert self._long is not None
        self._long_size += len(piece)
        self._long_tail = (self._long_tail + piece[-ENVELOPE_TAIL_BYTES:])[-ENVELOPE_TAIL_BYTES:]
        why = ""
        try:
            self._long.feed(piece)
        except TooMuchError as error:
            why = str(error)
        kept = self._long.kept
        if why or len(kept) > self._long_limit:
            self._skipping = SkippedLine(bytes(kept[:ENVELOPE_HEAD_BYTES]), self._long_tail, self._long_size, why)
            self._long = None
