"""Output that waits for open terminal buffers: each gets its share, and what is too much is dropped from the front."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from acp_nvim.limits import TERMINAL_BYTES
from acp_nvim.terminals.output_tail import start_of_last
from acp_nvim.ui.events import TerminalOutput

TERMINAL_SCROLLBACK: Final = 10_000
"""Lines of it that an open terminal buffer holds: with each line that Neovim keeps, the next one costs it more."""
TERMINAL_BATCH_BYTES: Final = 16 * 1024
"""Output for open terminal buffers in one batch: Neovim shows it within about 3 ms."""
TERMINAL_BATCH_LINE: Final = 64
"""What an end of a line counts in it beside its one byte: Neovim takes 10 µs to scroll, as for 64 characters."""

Key = tuple[int, int]


class TerminalStreams:
    """By session and terminal. They do not wait for other events, and other events do not wait for them."""

    def __init__(self) -> None:
        self._waiting: dict[Key, _Stream] = {}

    def __repr__(self) -> str:
        return f"<TerminalStreams {self._waiting}>"

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, event: TerminalOutput) -> None:
        """Queue the output of a terminal, joined with what waits already; beyond the limit the oldest goes."""
        key = (event.session, event.terminal)
        stream = self._waiting.get(key)
        if stream is None or event.whole:
            self._waiting[key] = stream = _Stream(event)
        else:
            stream.join(event)
        stream.shorten()

    def take(self, limit: int = TERMINAL_BATCH_BYTES) -> list[dict[str, Any]]:
        """What goes out with the next batch, taking Neovim about as long as `limit` bytes of one line."""
        batch: list[dict[str, Any]] = []
        for key, stream in list(self._waiting.items()):
            payload, cost = stream.take(limit)
            batch.append(payload)
            del self._waiting[key]
            if stream:
                self._waiting[key] = stream  # behind the others
            limit -= cost
            if limit <= 0:
                break
        return batch


class _Stream:
    """What waits for one terminal: `event` without its data, and that."""

    def __init__(self, event: TerminalOutput) -> None:
        self._data = bytearray(event.data)
        self._event = msgspec.structs.replace(event, data=b"")
        self._lines = event.data.count(b"\n")

    def __repr__(self) -> str:
        return f"<{len(self._data)} bytes, {self._lines} lines>"

    def __bool__(self) -> bool:
        return bool(self._data)

    def join(self, event: TerminalOutput) -> None:
        """More of it. What waits before bytes that were dropped is dropped, too."""
        dropped = self._event.dropped
        if event.dropped:
            dropped += len(self._data) + event.dropped
            self._data.clear()
            self._lines = 0
        self._data += event.data
        self._lines += event.data.count(b"\n")
        self._event = msgspec.structs.replace(event, data=b"", dropped=dropped, whole=self._event.whole)

    def shorten(self) -> None:
        """Neovim keeps no more lines; and who sees so many pass can do without some. Not each time: that costs."""
        if len(self._data) > 2 * TERMINAL_BYTES:
            self._drop(start_of_last(self._data, TERMINAL_BYTES))
        if self._lines > 2 * TERMINAL_SCROLLBACK:
            head = self._data.rsplit(b"\n", TERMINAL_SCROLLBACK + 1)[0]
            self._drop(len(head) + 1)

    def take(self, limit: int) -> tuple[dict[str, Any], int]:
        """The event as Lua gets it, and what it costs. How the command ended goes with the last piece."""
        size = min(len(self._data), max(1, limit))
        while (cost := self._cost(size)) > limit and size > 1:
            size = max(1, size * limit // cost)
        event = msgspec.structs.replace(self._event, data=bytes(self._data[:size]))
        self._lines -= event.data.count(b"\n")
        del self._data[:size]
        if self._data:
            event = msgspec.structs.replace(event, exit_code=None, signal=None)
        self._event = msgspec.structs.replace(self._event, whole=False, dropped=0)
        return msgspec.to_builtins(event, builtin_types=(bytes,)), cost

    def _cost(self, size: int) -> int:
        return size + TERMINAL_BATCH_LINE * self._data.count(b"\n", 0, size)

    def _drop(self, size: int) -> None:
        self._lines -= self._data.count(b"\n", 0, size)
        del self._data[:size]
        self._event = msgspec.structs.replace(self._event, dropped=self._event.dropped + size)
