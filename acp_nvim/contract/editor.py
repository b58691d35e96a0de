"""The interface of an editor, as the core uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from acp_nvim.contract.events import Event


class BufferText(msgspec.Struct, frozen=True):
    """A loaded buffer: what its file has, or what `:write` would write if the buffer is modified.

    `state` identifies the text: equal states mean equal texts; `text` is None if the caller knows the state.
    `modified`: the text is not saved; `on_disk`: the file exists; `stale`: how the file differs from the one that the
    buffer last read or wrote, which had the stamp `stamp`. `encoding` is the file's, as Neovim names it; `fileformat`
    is the option, "unix", "dos" or "mac"; `fixeol`: `:write` would end the last line.
    """

    state: str
    encoding: str
    modified: bool
    on_disk: bool
    text: str | None = None
    stale: str | None = None
    stamp: str | None = None
    fileformat: str | None = None
    fixeol: bool = False


class WholeText(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """Replace the whole text of a buffer by `text`."""

    text: str


class LineChange(msgspec.Struct, frozen=True, tag_field="type", tag="lines"):
    """Replace `count` lines after the first `first` ones by `lines`, which have no line ends."""

    first: int
    count: int
    lines: Sequence[str]


TextChange = WholeText | LineChange


class BufferWrite(msgspec.Struct, frozen=True):
    """The outcome of a change of a buffer.

    On success: `state` is the new state, `text` the buffer's text if autocommands changed it, `stale` whether a program
    such as a formatter has changed the file since. On failure nothing has changed, and one of these is set: `error` is
    the reason, `changed`: the buffer or its file was not in the expected state, `busy`: the user is in the middle of a
    command. `torn`: the buffer is unchanged, but its file is partly written.
    """

    state: str | None = None
    text: str | None = None
    stale: bool = False
    torn: bool = False
    changed: bool = False
    busy: bool = False
    error: str | None = None


class UnopenedFile(msgspec.Struct, frozen=True):
    """A file without a buffer.

    `obstacle`: why it should not be written, because another program edits it; `fixeol` and `mac`: 'fixendofline' of a
    new buffer, and whether 'fileformats' contains "mac".
    """

    obstacle: str | None = None
    fixeol: bool = True
    mac: bool = False


class FoundOnDisk(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of a buffer's file, and the change that brings it into the buffer.

    `text` is that of the file if the buffer will have a different one (and is modified then). `is_ours`: we have
    written the file, so that the undo file of the buffer has to be written as after `:write`.
    """

    stamp: str
    encoding: str
    change: TextChange | None = None
    text: str | None = None
    is_ours: bool = False


class LspEdit(msgspec.Struct, frozen=True):
    """Replaces the text from one position to another: lines and characters count from 0 (LSP "Text Edit")."""

    line: int
    character: int
    end_line: int
    end_character: int
    text: str


class FileEdits(msgspec.Struct, frozen=True):
    """The edits of one file (an absolute path), all of its original text, which its buffer has in the state `state`.

    `is_unended`: the text of its buffer has no line end at its end for language servers, although it would be written
    with one.
    """

    path: str
    edits: list[LspEdit]
    state: str | None = None
    is_unended: bool = False


class WorkspaceEdit(msgspec.Struct, frozen=True):
    """Edits of files that a language server proposes; `encoding` is the unit of characters: "utf-8", "utf-16" or
    "utf-32".
    """

    files: list[FileEdits]
    encoding: str = "utf-16"


class ToolAnswer(msgspec.Struct, frozen=True):
    """The answer of the editor to a tool call of an agent.

    `lines` is the result, after `note`; or `error` tells what to try. `edit` is what a language server proposes, and
    `title` says what it does. `has_debugger`: nvim-dap is loaded.
    """

    lines: list[str] = []
    note: str | None = None
    error: str | None = None
    edit: WorkspaceEdit | None = None
    title: str | None = None
    has_debugger: bool = False


class Editor(Protocol):
    """An editor with buffers, which also shows events. All paths are real paths."""

    def publish(self, event: Event) -> None:
        """Show an event soon. Never waits and never raises; a failure is reported to the user."""

    def next_batch(self) -> float:
        """Return the time (of `anyio.current_time`) before which what is published from now on is not shown."""

    def before_batch(self, publish: Callable[[], None]) -> None:
        """Call `publish` once, before the next events are sent: for a state that changes more often than that."""

    async def told(self, session: int) -> None:
        """Wait until the editor has applied all events of a session (its key) that were published until now."""

    async def read_buffer(self, path: str, known: str) -> BufferText | None:
        """Return the loaded buffer of a file, if there is one; without its text if its state is `known`."""

    async def saved_text(self, path: str) -> str | None:
        """Return the text of the buffer's file when the buffer last read or wrote it; None if it is not known."""

    async def unopened(self, path: str) -> UnopenedFile:
        """Return what the editor knows of a file without a buffer that is about to be written."""

    async def write_buffer(self, path: str, change: TextChange, state: str, save: bool) -> BufferWrite | None:
        """Change the buffer if it is still in `state`, and save it if wanted; None if it is not loaded."""

    async def follow_disk(self, path: str, state: str, found: FoundOnDisk) -> BufferWrite | None:
        """Bring the file's content into the buffer, if both are still in the given states."""

    async def file_gone(self, path: str) -> bool:
        """Mark the buffer of a file that was deleted; False if the file exists again."""

    async def file_moved(self, path: str, new: str) -> bool:
        """Rename the buffer like its file, or those of all files in a directory (both paths end with a slash then).

        Returns False if that is not possible.
        """

    async def file_removed(self, path: str) -> None:
        """Empty the buffer of a file that the user had removed; there is nothing to save."""

    async def stale_buffers(self) -> list[str]:
        """Return the paths of the buffers whose files differ from what they last read or wrote."""

    async def untracked_buffers(self) -> list[str]:
        """Return the paths of loaded buffers that do not follow their files, because no session watches them."""

    async def call_tool(self, call_id: int, tool: str, arguments: dict[str, Any]) -> ToolAnswer | None:
        """Begin a tool call of an agent, with an id; None: the answer comes later, as the message `tool_answered`."""
