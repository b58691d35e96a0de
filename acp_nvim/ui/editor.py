"""What the core needs from an editor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from acp_nvim.ui.events import Event


class BufferText(msgspec.Struct, frozen=True):
    """A loaded buffer: what `:write` would write.

    `state` names the text: equal states, equal texts; `text` is None when it is the state that the caller knows.
    `modified`: the file does not have it yet; `on_disk`: there is a file; `stale`: why the file is another one than the
    buffer read or wrote, which had the stamp `stamp`. `encoding` is the file's, as Neovim names it; `fileformat` is the
    option, "unix", "dos" or "mac".
    """

    state: str
    encoding: str
    modified: bool
    on_disk: bool
    text: str | None = None
    stale: str | None = None
    stamp: str | None = None
    fileformat: str | None = None


class WholeText(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """The whole text of a buffer is replaced by `text`."""

    text: str


class LineChange(msgspec.Struct, frozen=True, tag_field="type", tag="lines"):
    """After the first `first` lines, `lines` (without their ends) take the place of `count` lines."""

    first: int
    count: int
    lines: Sequence[str]


TextChange = WholeText | LineChange


class BufferWrite(msgspec.Struct, frozen=True):
    """What became of a change of a buffer.

    Done: `state` is the new one, and `text` what the buffer has when that is not what was asked for (autocommands
    change what is saved); `stale` that a program has changed the file since, as formatters do. Not done, and everything
    is as it was: `error` says why, or `changed` that the buffer or its file was in another state than the caller knows,
    or `busy` that the user is in the middle of a command. `torn`: all but the file, which is half written.
    """

    state: str | None = None
    text: str | None = None
    stale: bool = False
    torn: bool = False
    changed: bool = False
    busy: bool = False
    error: str | None = None


class UnopenedFile(msgspec.Struct, frozen=True):
    """A file that has no buffer.

    `obstacle`: why it should not be written, because somebody else is at it; `fixeol` and `mac`: the 'fixendofline' of
    a new buffer, and whether 'fileformats' has "mac".
    """

    obstacle: str | None = None
    fixeol: bool = True
    mac: bool = False


class FoundOnDisk(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is in the file of a buffer, and what of it is to be brought into the buffer.

    `text` is the file's when the buffer will have another one (and is modified then).
    """

    stamp: str
    encoding: str
    change: TextChange | None = None
    text: str | None = None


class Editor(Protocol):
    """An editor with buffers and something to show events on. Paths are real ones."""

    def publish(self, event: Event) -> None:
        """Show an event soon; never waits and never raises: what cannot be sent is told."""

    async def told(self, session: int) -> None:
        """Wait until the editor knows all that was published of a session (its key) until now."""

    async def read_buffer(self, path: str, known: str) -> BufferText | None:
        """The loaded buffer of that file, if there is one; without its text when its state is `known`."""

    async def saved_text(self, path: str) -> str | None:
        """The text that the buffer's file had when the buffer last read or wrote it, as far as that is known."""

    async def unopened(self, path: str) -> UnopenedFile:
        """What the editor says of a file that has no buffer and is to be written."""

    async def write_buffer(self, path: str, change: TextChange, state: str, save: bool) -> BufferWrite | None:
        """Change the buffer, if it is still in that state; None when it is not loaded."""

    async def follow_disk(self, path: str, state: str, found: FoundOnDisk) -> BufferWrite | None:
        """The buffer stands for the file as it is now, if both are still in these states."""

    async def file_gone(self, path: str) -> bool:
        """There is no such file any more; its buffer stays. False when it is back."""

    async def file_moved(self, path: str, new: str) -> bool:
        """The buffer goes by the new name of its file; False when it cannot."""

    async def file_removed(self, path: str) -> None:
        """There is no such file any more, as the user wanted; its buffer is empty, and there is nothing to save."""

    async def stale_buffers(self) -> list[str]:
        """The paths of the buffers whose files are others than they have read or written."""
