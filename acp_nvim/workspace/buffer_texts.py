"""The texts of buffers that are known already, so that an editor need not send them again."""

from __future__ import annotations

import sys
from collections import OrderedDict

import msgspec

from acp_nvim.limits import BUFFER_TEXTS_BYTES


class KnownText(msgspec.Struct, frozen=True):
    """A buffer in that state has that text, in an encoding."""

    state: str
    text: str
    encoding: str


class BufferTexts:
    """The last text known of each buffer, with the state that it is the text of; who was used last stays longest."""

    def __init__(self, max_bytes: int = BUFFER_TEXTS_BYTES) -> None:
        self._texts: OrderedDict[str, KnownText] = OrderedDict()
        self._max_bytes = max_bytes
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<BufferTexts {len(self._texts)} files, {self._bytes} bytes>"

    def get(self, path: str) -> KnownText:
        """All "" when nothing is known."""
        if path not in self._texts:
            return KnownText("", "", "")
        self._texts.move_to_end(path)
        return self._texts[path]

    def put(self, path: str, known: KnownText) -> None:
        """That is what the buffer has."""
        self.forget(path)
        self._texts[path] = known
        self._bytes += sys.getsizeof(known.text)
        while self._bytes > self._max_bytes:
            self.forget(next(iter(self._texts)))

    def forget(self, path: str) -> None:
        """There is no such buffer any more."""
        known = self._texts.pop(path, None)
        if known is not None:
            self._bytes -= sys.getsizeof(known.text)
