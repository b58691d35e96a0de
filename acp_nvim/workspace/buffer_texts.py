"""The texts of buffers that are known already, so that an editor need not send them again."""

from __future__ import annotations

import sys
from collections import OrderedDict

from acp_nvim.limits import BUFFER_TEXTS_BYTES


class BufferTexts:
    """The last text known of each buffer, with the state that it is the text of; who was used last stays longest."""

    def __init__(self, max_bytes: int = BUFFER_TEXTS_BYTES) -> None:
        self._texts: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._max_bytes = max_bytes
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<BufferTexts {len(self._texts)} files, {self._bytes} bytes>"

    def get(self, path: str) -> tuple[str, str]:
        """State and text; both "" when nothing is known."""
        if path not in self._texts:
            return "", ""
        self._texts.move_to_end(path)
        return self._texts[path]

    def put(self, path: str, state: str, text: str) -> None:
        """The buffer in `state` has `text`."""
        self.forget(path)
        self._texts[path] = (state, text)
        self._bytes += sys.getsizeof(text)
        while self._bytes > self._max_bytes:
            self.forget(next(iter(self._texts)))

    def forget(self, path: str) -> None:
        """There is no such buffer any more."""
        known = self._texts.pop(path, None)
        if known is not None:
            self._bytes -= sys.getsizeof(known[1])
