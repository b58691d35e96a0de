"""Where the last lines of what was printed begin."""

from __future__ import annotations

from acp_nvim.limits import TERMINAL_LINE_BYTES


def start_of_last(data: bytes | bytearray, limit: int) -> int:
    """Where to cut so that about `limit` bytes are left: behind the end of a line, if there is one near."""
    start = max(0, len(data) - limit)
    return start and ((data.find(b"\n", start - 1, start + TERMINAL_LINE_BYTES) + 1) or start)
