"""The files that are open in the editor: their texts, and changes of them, on disk and by agents."""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, Literal
from weakref import WeakValueDictionary

import anyio
import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.ui.editor import BufferWrite, Editor, FoundOnDisk
from acp_nvim.workspace import disk
from acp_nvim.workspace.conflicts import Conflict, Conflicts
from acp_nvim.workspace.encoding import encode, is_known, with_mark
from acp_nvim.workspace.line_differences import difference
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.saves import Saves
from acp_nvim.workspace.stamps import find_moved

BUFFER_TEXTS_BYTES: Final = 64 * 1024 * 1024
"""Memory for the texts of buffers that agents read again and again: the largest file that is served fits."""

BUSY_SECONDS: Final = 8.0
"""Time that a change of a buffer waits for the user to finish a half typed command; then the agent is told to retry."""

BUSY_POLL_SECONDS: Final = 0.05
"""Time between two looks whether it is finished."""

FOLLOWED_AT_ONCE: Final = 2
"""Buffers that are brought up to their files at the same time: a checkout changes hundreds, each takes Neovim 3 ms."""

EMPTY_SECONDS: Final = 0.2
"""Time for a file that somebody has emptied to get its new text, before its buffer is emptied too."""

log = logging.getLogger(__name__)


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
        """The text known of a buffer; all members are "" when nothing is known."""
        if path not in self._texts:
            return KnownText("", "", "")
        self._texts.move_to_end(path)
        return self._texts[path]

    def put(self, path: str, known: KnownText) -> None:
        """Remember the text of a buffer; the texts used longest ago go when there is no room."""
        self.forget(path)
        self._texts[path] = known
        self._bytes += sys.getsizeof(known.text)
        while self._bytes > self._max_bytes:
            self.forget(next(iter(self._texts)))

    def forget(self, path: str) -> None:
        """Forget the text of a buffer that is gone."""
        known = self._texts.pop(path, None)
        if known is not None:
            self._bytes -= sys.getsizeof(known.text)


class OpenText(msgspec.Struct, frozen=True):
    """A loaded buffer and its text, see `BufferText`."""

    text: str
    state: str
    encoding: str
    modified: bool
    on_disk: bool
    fileformat: str | None = None


class Followed(msgspec.Struct, frozen=True):
    """What became of a buffer whose file was changed on disk.

    `read`: it has the file's text; `merged`: and the user's own changes; `conflict`: nothing, the version on disk is
    kept in `detail`, a file ("" if there is none), because of `why`; `moved`: to `detail`; `unreadable`: `detail` says
    why.
    `before` and `after` are what is known of the file's text, `stamp` is that of `after`; `had` and `has` are the
    buffer's text before and after it, `encoding` is the file's.
    """

    path: str
    kind: Literal["read", "merged", "conflict", "deleted", "moved", "unreadable"]
    detail: str = ""
    why: str = ""
    before: str | None = None
    after: str | None = None
    stamp: str | None = None
    had: str | None = None
    has: str | None = None
    encoding: str = "utf-8"


class OpenFiles:
    """All buffers of files, for all sessions.

    `on_followed` hears what happened to them on disk; `directories` tells where files are that may have been renamed;
    `on_read` hears what a buffer is, whenever somebody asks (None: there is none), while nobody else changes it.
    """

    def __init__(
        self,
        editor: Editor,
        conflicts: Conflicts,
        on_followed: Callable[[Followed], Awaitable[None]],
        directories: Callable[[], Sequence[str]],
    ) -> None:
        self.editor = editor
        self.saves = Saves()
        self.conflicts = conflicts
        self._on_followed = on_followed
        self._directories = directories
        self.on_read: Callable[[str, OpenText | None], Awaitable[None]] = _nobody
        self._texts = BufferTexts()
        self._few = anyio.Semaphore(FOLLOWED_AT_ONCE)
        self._unreadable: dict[str, str] = {}
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"<OpenFiles {self._texts!r}>"

    @asynccontextmanager
    async def alone(self, *paths: str) -> AsyncIterator[None]:
        """Hold the locks of files, real paths: no other agent changes them, or their buffers, meanwhile."""
        async with AsyncExitStack() as held:
            for path in sorted(set(paths)):  # in one order: who waits for another never has what that one needs
                await held.enter_async_context(self._locks.setdefault(path, anyio.Lock()))
            yield

    async def disk_changed(self, path: str) -> None:
        """The editor has noticed something: the buffer follows."""
        try:
            async with self._few, self.alone(path):
                await self.read(path)
        except FileRefusedError as error:
            log.warning("%s cannot be followed: %s", path, error)

    def last(self, path: str) -> OpenText | None:
        """The buffer as it was when it was last heard of, if it was; it may be another by now."""
        known = self._texts.get(path)
        return OpenText(known.text, known.state, known.encoding, modified=False, on_disk=True) if known.state else None

    async def read(self, path: str) -> OpenText | None:
        """The buffer's text, after it was brought up to the file; to be called in `alone`. None: no such buffer."""
        for _ in range(FOLLOW_ATTEMPTS):
            known = self._texts.get(path)
            buffer = await self.editor.read_buffer(path, known.state)
            if buffer is None:
                self._texts.forget(path)
                await self.on_read(path, None)
                return None
            text = known.text if buffer.text is None else buffer.text
            self._texts.put(path, KnownText(buffer.state, text, buffer.encoding))
            current = OpenText(text, buffer.state, buffer.encoding, buffer.modified, buffer.on_disk, buffer.fileformat)
            if buffer.stale is None:
                await self.on_read(path, current)
                return current
            await self._follow(path, current, buffer.stamp)
        raise FileRefusedError(f"{path} is being changed all the time; try again")

    async def saved(self, path: str, buffer: OpenText) -> str:
        """What is in the file: whoever has asked us for nothing can have seen that."""
        if not buffer.modified:
            return buffer.text
        if not buffer.on_disk:
            return ""
        saved = await self.editor.saved_text(path)
        return saved if saved is not None else (await disk.read(path, buffer.encoding)).text

    async def write(self, path: str, current: OpenText, text: str, save: bool) -> BufferWrite | None:
        """Make `text` of what the buffer has; see `Editor.write_buffer`."""
        text = with_mark(text, current.text, current.encoding)
        if not await self._is_encodable(path, current, text):
            return None
        change = difference(current.text, text)
        outcome = await _when_possible(path, lambda: self.editor.write_buffer(path, change, current.state, save))
        if outcome is not None and outcome.state is not None:
            now = text if outcome.text is None else outcome.text
            self._texts.put(path, KnownText(outcome.state, now, current.encoding))
        if outcome is not None and outcome.torn:
            outcome = msgspec.structs.replace(outcome, torn=not await self._mend(path, current.encoding))
        return outcome

    async def _is_encodable(self, path: str, current: OpenText, text: str) -> bool:
        """Neovim writes other characters for those that an encoding lacks. False: there is no such buffer any more."""
        try:
            if is_known(current.encoding):
                encode(path, text, current.encoding)
        except FileRefusedError:
            if await self.editor.read_buffer(path, current.state) is not None:
                raise
            self._texts.forget(path)
            return False
        return True

    async def _mend(self, path: str, encoding: str) -> bool:
        """The editor could not write all of the file: it gets back what it had, if that is possible."""
        saved = await self.editor.saved_text(path)
        try:
            if saved is not None:
                await disk.put_back(path, saved, encoding)
                return True
        except FileRefusedError as error:
            log.error("%s is half written, and could not be mended: %s", path, error)
        return False

    async def _follow(self, path: str, current: OpenText, stamp: str | None) -> None:
        """Bring a buffer up to its file, which had `stamp` before, unless one of them changes meanwhile."""
        try:
            found = await disk.read(path, current.encoding)
        except NoSuchFileError:
            await self._lose(path, current, stamp)
            return
        except FileRefusedError as error:
            if self._unreadable.get(path) != str(error):
                self._unreadable[path] = str(error)
                await self._on_followed(Followed(path, "unreadable", str(error)))
            raise
        self._unreadable.pop(path, None)
        if await self.saves.wait_until_saved(path):
            return  # what was read may be half of it
        if found.text == "" != current.text and await self._is_being_written(path, found.stamp):
            return
        common = await self._common(path, current, found.text)
        text = current.text if common.text is None else common.text
        on_disk = FoundOnDisk(
            stamp=found.stamp,
            encoding=found.encoding,
            change=None if text == current.text else difference(current.text, text),
            text=None if text == found.text else found.text,
        )
        outcome = await _when_possible(path, lambda: self.editor.follow_disk(path, current.state, on_disk))
        if outcome is not None and outcome.error is not None:
            raise FileRefusedError(f"{path} was changed on disk, and its buffer cannot follow: {outcome.error}")
        if outcome is not None and outcome.state is not None:
            self._texts.forget(path)
            told = await self._told(path, current, common, found)
            await self._on_followed(msgspec.structs.replace(told, had=current.text, has=text, encoding=found.encoding))

    async def _is_being_written(self, path: str, empty: str) -> bool:
        """Many programs empty a file, and then fill it: that is one change."""
        await anyio.sleep(EMPTY_SECONDS)
        return await disk.stamp(path) != empty

    async def _common(self, path: str, current: OpenText, found: str) -> _Common:
        """What the buffer should have."""
        base = await self.editor.saved_text(path) if current.modified else current.text
        if current.text == found:
            return _Common(base, found)
        if base is None:
            return _Common(None, None, "what the file had before is not known")
        merged = await merge(base, current.text, found)
        return _Common(base, merged.text, merged.why)

    async def _told(self, path: str, current: OpenText, common: _Common, found: disk.DiskText) -> Followed:
        if common.text is None:
            kept = await self.conflicts.keep(Conflict(path, common.base, found.text, by="disk"))
            return Followed(path, "conflict", kept, common.why, common.base, found.text, found.stamp)
        kind: Literal["merged", "read"] = "read" if common.text in (found.text, current.text) else "merged"
        return Followed(path, kind, before=common.base, after=found.text, stamp=found.stamp)

    async def _lose(self, path: str, current: OpenText, stamp: str | None) -> None:
        """The file is gone, or goes by another name."""
        new = await find_moved(path, stamp, self._directories()) if stamp else None
        if new is not None and not await self._is_same(path, stamp, new):
            new = None
        self._texts.forget(path)
        if new is not None and await self.editor.file_moved(path, new):
            await self._on_followed(Followed(path, "moved", new))
        elif await self.editor.file_gone(path):
            await self._on_followed(Followed(path, "deleted", had=current.text, encoding=current.encoding))

    async def _is_same(self, path: str, stamp: str | None, new: str) -> bool:
        """Whether `new` is what was at `path`: untouched since, or with the text that it had."""
        if await disk.stamp(new) == stamp:
            return True
        try:
            return (await disk.read(new)).text == await self.editor.saved_text(path)
        except FileRefusedError:
            return False


async def _nobody(path: str, text: OpenText | None) -> None:
    """Who hears nothing."""


class _Common(msgspec.Struct, frozen=True):
    """Buffer and file in one text; None: why not. `base` is what the file had before, if that is known."""

    base: str | None
    text: str | None
    why: str = ""


async def _when_possible(path: str, change: Callable[[], Awaitable[BufferWrite | None]]) -> BufferWrite | None:
    """What becomes of it, as soon as the user is not in the middle of a command. Raises `FileRefusedError`."""
    deadline = anyio.current_time() + BUSY_SECONDS
    while True:
        outcome = await change()  # the editor may take its time, and must be heard: what it is asked it does
        if outcome is None or not outcome.busy:
            return outcome
        if anyio.current_time() > deadline:
            raise FileRefusedError(f"{path} was not changed: the user is in the middle of a command there; try again")
        await anyio.sleep(BUSY_POLL_SECONDS)
