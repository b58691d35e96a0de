"""The end of what a terminal printed, as text of a limited size (ACP "Terminals", Executing Commands)."""

from __future__ import annotations

import codecs

from acp_nvim.terminals.plain_text import PlainText

_CONTINUED = range(0x80, 0xC0)
"""The bytes of UTF-8 that no character begins with."""


class OutputTail:
    """Of bytes that come in any pieces: the last `limit` bytes of their text in UTF-8, without escape sequences."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.truncated = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._plain = PlainText()
        self._kept = bytearray()

    def __repr__(self) -> str:
        return f"<OutputTail {min(len(self._kept), self.limit)} of {self.limit} bytes truncated={self.truncated}>"

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self._keep(self._plain.feed(self._decoder.decode(data)))

    def flush(self) -> None:
        """Nothing more is expected: what looks unfinished is all there is."""
        self._keep(self._plain.feed(self._decoder.decode(b"", final=True)) + self._plain.flush())

    @property
    def text(self) -> str:
        """At most `limit` bytes; it begins with a whole character."""
        start = max(0, len(self._kept) - self.limit)
        if self.truncated:
            while start < len(self._kept) and self._kept[start] in _CONTINUED:
                start += 1
        return self._kept[start:].decode()

    def _keep(self, text: str) -> None:
        self._kept += text.encode()
        self.truncated = self.truncated or len(self._kept) > self.limit
        if len(self._kept) > 2 * self.limit:  # not each time: moving the rest costs
            del self._kept[: len(self._kept) - self.limit]
