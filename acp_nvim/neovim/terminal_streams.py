"""Terminal output that waits for open terminal buffers; each gets its share, and the oldest excess is dropped."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from acp_nvim.contract.events import TerminalOutput
from acp_nvim.limits import TERMINAL_BYTES
from acp_nvim.terminals.output_tail import start_of_last

TERMINAL_SCROLLBACK: Final = 10_000
"""Lines that an open terminal buffer holds: the more lines Neovim keeps, the slower it adds one."""
TERMINAL_BATCH_BYTES: Final = 16 * 1024
"""Output for open terminal buffers in one batch: Neovim shows it within about 3 ms."""
TERMINAL_BATCH_LINE: Final = 64
"""Added to the size for each newline, in bytes: Neovim takes 10 µs to scroll, as long as for 64 characters."""

Key = tuple[int, int]


class TerminalStreams:
    """The waiting output by session and terminal; it neither waits for other events nor delays them."""

    def __init__(self) -> None:
        self._waiting: dict[Key, _Stream] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, event: TerminalOutput) -> None:
        """Queue the output of a terminal; beyond the limit the oldest output is dropped."""
        key = (event.session, event.terminal)
        stream = self._waiting.get(key)
        if stream is None or event.whole:
            self._waiting[key] = stream = _Stream(event)
        else:
            stream.join(event)
        stream.shorten()

    def take(self, limit: int = TERMINAL_BATCH_BYTES) -> list[dict[str, Any]]:
        """Return the next output, for which Neovim takes about as long as for `limit` bytes of one line."""
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
    """The waiting output of one terminal: an event without its data, and the data."""

    def __init__(self, event: TerminalOutput) -> None:
        self._data = bytearray(event.data)
        self._event = msgspec.structs.replace(event, data=b"")
        self._lines = event.data.count(b"\n")

    def __bool__(self) -> bool:
        return bool(self._data)

    def join(self, event: TerminalOutput) -> None:
        """Append output. If bytes before it were dropped, all waiting output is dropped, too."""
        dropped = self._event.dropped
        if event.dropped:
            dropped += len(self._data) + event.dropped
            self._data.clear()
            self._lines = 0
        self._data += event.data
        self._lines += event.data.count(b"\n")
        self._event = msgspec.structs.replace(event, data=b"", dropped=dropped, whole=self._event.whole)

    def shorten(self) -> None:
        """Drop what exceeds the scrollback or `TERMINAL_BYTES`; only at twice the limit, since moving data costs."""
        if len(self._data) > 2 * TERMINAL_BYTES:
            self._drop(start_of_last(self._data, TERMINAL_BYTES))
        if self._lines > 2 * TERMINAL_SCROLLBACK:
            head = self._data.rsplit(b"\n", TERMINAL_SCROLLBACK + 1)[0]
            self._drop(len(head) + 1)

    def take(self, limit: int) -> tuple[dict[str, Any], int]:
        """Return the event as Lua gets it, and its cost; the last piece tells how the command ended."""
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
