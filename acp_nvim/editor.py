"""What the core needs from an editor."""

from __future__ import annotations

from typing import Protocol

import msgspec

from acp_nvim.events import Event


class BufferText(msgspec.Struct, frozen=True):
    """A loaded buffer: what `:write` would write, which state that was, and whether the file has it yet."""

    text: str
    tick: int
    modified: bool


class BufferWrite(msgspec.Struct, frozen=True):
    """What became of a write into a buffer.

    `error` says why it failed (None: it did not); `changed` that the buffer was in another state than expected, and
    is as it was.
    """

    tick: int | None = None
    saved: bool = False
    changed: bool = False
    error: str | None = None


class Editor(Protocol):
    """An editor with buffers and something to show events on."""

    def publish(self, event: Event) -> None:
        """Show it soon; never waits."""

    async def read_buffer(self, path: str) -> BufferText | None:
        """The loaded buffer of that file (real path), if there is one."""

    async def write_buffer(self, path: str, text: str, tick: int, save: bool) -> BufferWrite | None:
        """Make `text` the buffer's text, if the buffer is still in state `tick`; None when it is not loaded."""
