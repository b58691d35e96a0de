"""The end of what a terminal printed, as text of a limited size (ACP "Terminals", Executing Commands)."""

from __future__ import annotations

import codecs
import re
from typing import Final

from acp_nvim.limits import TERMINAL_LINE_BYTES

ESCAPE_CHARS: Final = 4096
"""The longest escape sequence that is waited for; what is longer was none."""

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, the cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: titles, links, questions to the terminal
    r"|\x1b(?:[ -/]*[0-~])?"
)

_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")

_CONTINUED = range(0x80, 0xC0)
"""The bytes of UTF-8 that no character begins with."""


def start_of_last(data: bytes | bytearray, limit: int) -> int:
    """Where to cut so that about `limit` bytes are left: behind the end of a line, if there is one near."""
    start = max(0, len(data) - limit)
    return start and ((data.find(b"\n", start - 1, start + TERMINAL_LINE_BYTES) + 1) or start)


class PlainText:
    """The text as it is without them; all else stays, carriage returns too."""

    def __init__(self) -> None:
        self._held = ""

    def __repr__(self) -> str:
        return f"<PlainText holds {self._held!r}>"

    def feed(self, text: str) -> str:
        """Take more text. What may be the beginning of a sequence is held back until more is known."""
        text, self._held = self._held + text, ""
        if "\x1b" not in text:
            return text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - ESCAPE_CHARS))
        if unfinished is not None:
            self._held, text = text[unfinished.start() :], text[: unfinished.start()]
        return _SEQUENCES.sub("", text)

    def flush(self) -> str:
        """The text that was held back; nothing more comes."""
        held, self._held = self._held, ""
        return _SEQUENCES.sub("", held)


class OutputTail:
    """Keeps the last `limit` bytes (of UTF-8) of the text that is fed in any pieces, without escape sequences."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.truncated = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._plain = PlainText()
        self._kept = bytearray()

    def __repr__(self) -> str:
        return f"<OutputTail {min(len(self._kept), self.limit)} of {self.limit} bytes truncated={self.truncated}>"

    def feed(self, data: bytes) -> None:
        """Take more of what the command wrote, in any pieces; beyond the limit the oldest text goes."""
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
