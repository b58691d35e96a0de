"""Keeps the end of a terminal's output as text of a limited size (ACP "Terminals", Executing Commands)."""

from __future__ import annotations

import codecs
from typing import Final

from acp_nvim.lazy import pattern
from acp_nvim.limits import TERMINAL_LINE_BYTES

ESCAPE_CHARS: Final = 4096
"""Maximum length of an escape sequence in characters; longer text is not one."""

_SEQUENCES = pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, the cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: titles, links, queries
    r"|\x1b(?:[ -/]*[0-~])?"
)

_UNFINISHED = pattern(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")

_CONTINUED = range(0x80, 0xC0)
"""The bytes in UTF-8 that do not begin a character."""


def start_of_last(data: bytes | bytearray, limit: int) -> int:
    """Return where to cut `data` to keep about `limit` bytes: after a line end if there is one near."""
    start = max(0, len(data) - limit)
    return start and ((data.find(b"\n", start - 1, start + TERMINAL_LINE_BYTES) + 1) or start)


class PlainText:
    """Removes escape sequences from text; keeps all other characters, with carriage returns."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Add text, and return it without sequences; the possible beginning of a sequence is held back."""
        text, self._held = self._held + text, ""
        if "\x1b" not in text:
            return text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - ESCAPE_CHARS))
        if unfinished is not None:
            self._held, text = text[unfinished.start() :], text[: unfinished.start()]
        return _SEQUENCES.sub("", text)

    def flush(self) -> str:
        """Return the text that was held back, at the end of the input."""
        held, self._held = self._held, ""
        return _SEQUENCES.sub("", held)


class OutputTail:
    """Keeps the last `limit` bytes (in UTF-8) of the text that is fed, without escape sequences."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.truncated = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._plain = PlainText()
        self._kept = bytearray()

    def __repr__(self) -> str:
        return f"<OutputTail {min(len(self._kept), self.limit)} of {self.limit} bytes truncated={self.truncated}>"

    def feed(self, data: bytes) -> None:
        """Add a chunk of what the command wrote; beyond the limit the oldest text is dropped."""
        self._keep(self._plain.feed(self._decoder.decode(data)))

    def flush(self) -> None:
        """Take what looks unfinished as it is, at the end of the output."""
        self._keep(self._plain.feed(self._decoder.decode(b"", final=True)) + self._plain.flush())

    @property
    def text(self) -> str:
        """At most `limit` bytes of text, which begin with a whole character."""
        start = max(0, len(self._kept) - self.limit)
        if self.truncated:
            while start < len(self._kept) and self._kept[start] in _CONTINUED:
                start += 1
        return self._kept[start:].decode()

    def _keep(self, text: str) -> None:
        self._kept += text.encode()
        self.truncated = self.truncated or len(self._kept) > self.limit
        if len(self._kept) > 2 * self.limit:  # not each time: it moves the rest
            del self._kept[: len(self._kept) - self.limit]
