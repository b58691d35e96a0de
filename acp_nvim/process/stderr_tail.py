"""The last lines that a process wrote to its stderr, for the moment it dies."""

from __future__ import annotations

import codecs
import re
from collections import deque

from acp_nvim.limits import STDERR_LINE_CHARS, STDERR_LINES
from acp_nvim.limits.fair_shares import STDERR_READ_LINES

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


class StderrTail:
    """Keeps a bounded number of bounded lines, without colours and control characters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines: deque[str] = deque(maxlen=STDERR_LINES)
        self._open = ""

    def __repr__(self) -> str:
        return f"<StderrTail {len(self._lines)} lines>"

    def feed(self, data: bytes) -> list[str]:
        """Take more bytes; the lines they completed, cleaned: the last `STDERR_READ_LINES` of them."""
        *whole, rest = self._decoder.decode(data).split("\n")
        done: list[str] = []
        if len(whole) > STDERR_READ_LINES:
            whole, self._open = whole[-STDERR_READ_LINES:], ""
        for piece in whole:
            done.append(_clean(self._open + piece))
            self._open = ""
        self._open = (self._open + rest)[: STDERR_LINE_CHARS * 4]
        self._lines.extend(line for line in done if line)
        return done

    def lines(self) -> tuple[str, ...]:
        """Oldest first; an unfinished last line included."""
        last = _clean(self._open)
        return (*self._lines, last) if last else tuple(self._lines)


def _clean(line: str) -> str:
    return _ESCAPES.sub("", line).rstrip()[:STDERR_LINE_CHARS]
