"""The files that are open in the editor: their texts, and changes of them, on disk and by agents."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal
from weakref import WeakValueDictionary

import anyio
import msgspec

from acp_nvim.editor import BufferText, BufferWrite, Editor, FoundOnDisk
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.workspace import disk
from acp_nvim.workspace.buffer_texts import BufferTexts
from acp_nvim.workspace.conflicts import Conflict, Conflicts
from acp_nvim.workspace.difference import difference
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.moved import find_moved
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError

log = logging.getLogger(__name__)


class OpenText(msgspec.Struct, frozen=True):
    """A loaded buffer and its text, see `BufferText`."""

    text: str
    state: str
    encoding: str
    modified: bool
    on_disk: bool


class Followed(msgspec.Struct, frozen=True):
    """What became of a buffer whose file was changed on disk.

    `merged`: with the user's own changes; `conflict`: nothing, the version on disk is kept in `detail`, a file ("" if
    there is none), because of `why`; `moved`: to `detail`; `unreadable`: `detail` says why.
    """

    path: str
    kind: Literal["merged", "conflict", "deleted", "moved", "unreadable"]
    detail: str = ""
    why: str = ""


class OpenFiles:
    """All buffers of files, for all sessions.

    `on_followed` hears what the user should; `directories` tells where files are that may have been renamed.
    """

    def __init__(
        self,
        editor: Editor,
        conflicts: Conflicts,
        on_followed: Callable[[Followed], None],
        directories: Callable[[], Sequence[str]],
    ) -> None:
        self.editor = editor
        self.conflicts = conflicts
        self._on_followed = on_followed
        self._directories = directories
        self._texts = BufferTexts()
        self._unreadable: dict[str, str] = {}
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"<OpenFiles {self._texts!r}>"

    def alone(self, path: str) -> AbstractAsyncContextManager[None]:
        """Nobody else changes the file of that real path for an agent, or brings its buffer up to it, meanwhile."""
        return self._locks.setdefault(path, anyio.Lock())

    async def disk_changed(self, path: str) -> None:
        """The editor has noticed something: the buffer follows."""
        try:
            async with self.alone(path):
                await self.read(path)
        except FileRefusedError as error:
            log.warning("%s cannot be followed: %s", path, error)

    def known(self, path: str) -> tuple[str, str]:
        """State and text that the buffer had when it was last heard of."""
        return self._texts.get(path)

    async def read(self, path: str) -> OpenText | None:
        """The buffer's text, after it was brought up to the file; to be called in `alone`. None: no such buffer."""
        for _ in range(FOLLOW_ATTEMPTS):
            known, text = self._texts.get(path)
            buffer = await self.editor.read_buffer(path, known)
            if buffer is None:
                self._texts.forget(path)
                return None
            if buffer.text is not None:
                text = buffer.text
                self._texts.put(path, buffer.state, text)
            current = OpenText(text, buffer.state, buffer.encoding, buffer.modified, buffer.on_disk)
            if buffer.stale is None or await self._follow(path, current, buffer):
                return current
        raise FileRefusedError(f"{path} is being changed all the time; try again")

    async def write(self, path: str, current: OpenText, text: str, save: bool) -> BufferWrite | None:
        """Make `text` of what the buffer has; see `Editor.write_buffer`."""
        change = difference(current.text, text)
        outcome = await self.editor.write_buffer(path, change, current.state, save)
        if outcome is not None and outcome.state is not None:
            self._texts.put(path, outcome.state, text if outcome.text is None else outcome.text)
        return outcome

    async def _follow(self, path: str, current: OpenText, buffer: BufferText) -> bool:
        """Bring a buffer that is behind up to its file. True: there is nothing to bring, and it stays as it is."""
        try:
            found = await disk.read(path, current.encoding)
        except NoSuchFileError:
            return await self._lose(path, buffer.stamp)
        except FileRefusedError as error:
            if self._unreadable.get(path) != str(error):
                self._unreadable[path] = str(error)
                self._on_followed(Followed(path, "unreadable", str(error)))
            raise
        self._unreadable.pop(path, None)
        text, conflict = await self._common(path, current, found.text)
        outcome = await self.editor.follow_disk(
            path,
            current.state,
            FoundOnDisk(
                stamp=found.stamp,
                encoding=_encoding(found, current.encoding),
                change=None if text == current.text else difference(current.text, text),
                text=None if text == found.text else found.text,
            ),
        )
        if outcome is None or outcome.state is None:
            return False
        self._texts.put(path, outcome.state, text)
        if conflict is not None:
            version = Conflict(path, conflict.base, found.text, by="disk")
            self._on_followed(Followed(path, "conflict", await self.conflicts.keep(version), conflict.why))
        elif text not in (found.text, current.text):
            self._on_followed(Followed(path, "merged"))
        return False

    async def _common(self, path: str, current: OpenText, found: str) -> tuple[str, _NoMerge | None]:
        """What the buffer should have."""
        if not current.modified or current.text == found:
            return found, None
        base = await self.editor.saved_text(path)
        if base is None:
            return current.text, _NoMerge(None, "what the file had before is not known")
        merged = await merge(base, current.text, found)
        if merged.text is None:
            return current.text, _NoMerge(base, merged.why)
        return merged.text, None

    async def _lose(self, path: str, stamp: str | None) -> bool:
        """The file is gone, or goes by another name."""
        new = await find_moved(path, stamp, self._directories()) if stamp else None
        self._texts.forget(path)
        if new is not None and await self.editor.file_moved(path, new):
            self._on_followed(Followed(path, "moved", new))
            return False
        await self.editor.file_gone(path)
        self._on_followed(Followed(path, "deleted"))
        return False


class _NoMerge(msgspec.Struct, frozen=True):
    base: str | None
    why: str


def _encoding(found: disk.DiskText, now: str) -> str:
    """Plain ASCII is in any of the encodings that have it; then the buffer's stays."""
    return now if found.text.isascii() and not now.startswith(("utf-16", "utf-32", "ucs-")) else found.encoding
