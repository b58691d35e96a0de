"""Cut a stream of bytes into lines, in linear time and within a stated size."""

from __future__ import annotations

from acp_nvim.limits import MAX_LINE_BYTES


class LineFramer:
    """Collects bytes until a newline ends the message they belong to.

    A line longer than `limit` bytes is dropped while it arrives, and counted in `skipped`; those after it are whole.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self.skipped = 0

    def __repr__(self) -> str:
        return f"<LineFramer pending={self._size} skipped={self.skipped}>"

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their newline; empty ones are left out."""
        *ended, rest = data.split(b"\n")
        lines = [self._end(piece) for piece in ended]
        self._keep(rest)
        return [line for line in (raw.rstrip(b"\r") for raw in lines) if line.strip()]

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _end(self, piece: bytes) -> bytes:
        self._keep(piece)
        too_long, line = self._size > self._limit, b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        if too_long:
            self.skipped += 1
            return b""
        return line
