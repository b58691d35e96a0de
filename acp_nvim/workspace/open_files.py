"""Reads and changes buffers of files, and updates them when their files change on disk."""

from __future__ import annotations

import logging
import os
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final, Literal
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.contract.editor import BufferText, BufferWrite, Editor, FoundOnDisk, TextChange
from acp_nvim.file_time import is_behind_link
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.workspace import disk
from acp_nvim.workspace.conflicts import Conflict, Conflicts
from acp_nvim.workspace.encoding import encode, is_known, with_mark
from acp_nvim.workspace.line_differences import difference
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.saves import Saves
from acp_nvim.workspace.text_lines import TextLines
from acp_nvim.workspace.text_shape import of_buffer

BUFFER_TEXTS_BYTES: Final = 64 * 1024 * 1024
"""Maximum memory for cached texts of buffers: the largest file that is served fits."""

BUSY_SECONDS: Final = 8.0
"""Time in seconds that a change waits for the user to finish a half-typed command; then the agent must retry."""

BUSY_POLL_SECONDS: Final = 0.05
"""Time in seconds between two checks whether the command is finished."""

FOLLOWED_AT_ONCE: Final = 2
"""Number of buffers updated from disk concurrently: a checkout changes hundreds, each takes Neovim 3 ms."""

EMPTY_SECONDS: Final = 0.2
"""Time in seconds for a truncated file to get its new text, before its buffer is emptied too."""

log = logging.getLogger(__name__)


class OpenText(msgspec.Struct, frozen=True):
    """A loaded buffer and its text, see `BufferText`."""

    text: str
    state: str
    encoding: str
    modified: bool
    on_disk: bool
    fileformat: str | None = None
    fixeol: bool = False


_UNKNOWN = OpenText("", "", "", modified=False, on_disk=False)


def _opened(text: str, found: BufferText) -> OpenText:
    state, encoding = found.state, found.encoding
    return OpenText(text, state, encoding, found.modified, found.on_disk, found.fileformat, found.fixeol)


class BufferTexts:
    """Caches the last known text and state of each buffer; drops the least recently used beyond `max_bytes`."""

    def __init__(self, max_bytes: int = BUFFER_TEXTS_BYTES) -> None:
        self._texts: OrderedDict[str, OpenText] = OrderedDict()
        self._max_bytes = max_bytes
        self._bytes = 0

    def get(self, path: str) -> OpenText:
        """Return the known text of a buffer; all members are "" when nothing is known."""
        if path not in self._texts:
            return _UNKNOWN
        self._texts.move_to_end(path)
        return self._texts[path]

    def put(self, path: str, known: OpenText) -> None:
        """Remember the text of a buffer; drop the least recently used texts when there is no room."""
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


class Followed(msgspec.Struct, frozen=True):
    """What happened to a buffer whose file changed on disk.

    `read`: it has the file's text; `merged`: with the user's own changes; `conflict`: it is unchanged because of `why`,
    and the version on disk is kept in the file `detail` ("" if there is none); `moved`: to `detail`; `unreadable`:
    because of `detail`. `before` and `after` are the known texts of the file, `stamp` is that of `after`; `had` and
    `has` are the buffer's texts before and after; `encoding` is the file's.
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

    `on_followed` is called when a buffer has followed its file; `directories` returns where to search for renamed
    files; `on_read` gets the buffer at each read (None: there is none), with its lock held.
    """

    def __init__(
        self,
        editor: Editor,
        conflicts: Conflicts,
        saves: Saves,
        on_followed: Callable[[Followed], Awaitable[None]],
        directories: Callable[[], Sequence[str]],
    ) -> None:
        self.editor = editor
        self.saves = saves
        self.conflicts = conflicts
        self._on_followed = on_followed
        self._directories = directories
        self.on_read: Callable[[str, OpenText | None], Awaitable[None]] = _ignore_read
        self._texts = BufferTexts()
        self._lines = TextLines("")
        self._few = anyio.Semaphore(FOLLOWED_AT_ONCE)
        self._unreadable: dict[str, str] = {}
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def alone(self, *paths: str) -> AsyncIterator[None]:
        """Hold the locks of files, real paths, so that no other agent changes them or their buffers."""
        async with AsyncExitStack() as held:
            for path in sorted(set(paths)):  # sorted, to avoid deadlocks
                await held.enter_async_context(self._locks.setdefault(path, anyio.Lock(fast_acquire=True)))
            yield

    async def wait_until_free(self, directory: str) -> None:
        """Wait until whoever holds the lock of a file below `directory` now (see `alone`) has released it."""
        below = directory.rstrip(os.sep) + os.sep
        for lock in [lock for path, lock in self._locks.items() if path.startswith(below)]:
            async with lock:
                pass

    async def disk_changed(self, path: str) -> None:
        """Update a buffer after the editor noticed a change of its file."""
        try:
            async with self._few, self.alone(path):
                await self.read(path)
        except FileRefusedError as error:
            log.warning("%s cannot be followed: %s", path, error)

    def last(self, path: str) -> OpenText | None:
        """Return the buffer as it was at the last read or write, if known; it may have changed since."""
        known = self._texts.get(path)
        return known if known.state else None

    def unsaved(self, path: str) -> str | None:
        """Return the unsaved text of a buffer as of the last read or write, if it had one."""
        known = self._texts.get(path)
        return known.text if known.modified else None

    async def read(self, path: str) -> OpenText | None:
        """Update the buffer from its file and return its text; None without a buffer. Call it in `alone`.

        If a symbolic link leads to the directory now, the buffer is that of another file.
        """
        if await anyio.to_thread.run_sync(is_behind_link, path):
            self._texts.forget(path)
            await self.on_read(path, None)
            return None
        for _ in range(FOLLOW_ATTEMPTS):
            known = self._texts.get(path)
            buffer = await self.editor.read_buffer(path, known.state)
            if buffer is None:
                self._texts.forget(path)
                await self.on_read(path, None)
                return None
            text = known.text if buffer.text is None else buffer.text
            current = _opened(text, buffer)
            self._texts.put(path, current)
            if buffer.stale is None:
                await self.on_read(path, current)
                return current
            await self._follow(path, current, buffer.stamp)
        raise FileRefusedError(f"{path} is being changed all the time; try again")

    def lines(self, text: str) -> TextLines:
        """Return the lines of a text, as they were last used if it is the same: an agent reads part after part."""
        if self._lines.text is not text:
            self._lines = TextLines(text)
        return self._lines

    async def saved(self, path: str, buffer: OpenText) -> str:
        """Return the text in the file, which is all that an agent can have seen without asking us."""
        if not buffer.modified:
            return buffer.text
        if not buffer.on_disk:
            return ""
        saved = await self.editor.saved_text(path)
        return saved if saved is not None else (await disk.read(path, buffer.encoding)).text

    @staticmethod
    def written(buffer: OpenText) -> str:
        """Return the text that the file has after `:write`, which may end the last line."""
        return of_buffer(buffer.text, buffer.fileformat, buffer.fixeol).applied(buffer.text)

    async def write(
        self, path: str, current: OpenText, text: str, save: bool, change: TextChange | None = None
    ) -> BufferWrite | None:
        """Change the buffer's text to `text`; see `Editor.write_buffer`. `change` leads to it, if that is known."""
        asked, text = text, with_mark(text, current.text, current.encoding)
        if not await self._is_encodable(path, current, text):
            return None
        if change is None or text != asked:
            change = difference(current.text, text)
        outcome = await _when_possible(path, lambda: self.editor.write_buffer(path, change, current.state, save))
        if outcome is not None and outcome.state is not None:
            now = text if outcome.text is None else outcome.text
            self._texts.put(path, msgspec.structs.replace(current, text=now, state=outcome.state))
        if outcome is not None and outcome.torn:
            outcome = msgspec.structs.replace(outcome, torn=not await self._repair(path, current.encoding))
        return outcome

    async def adopt(self, path: str, current: OpenText) -> bool:
        """Let the buffer, which is `current`, have the file that we have just written, as one change that undo reverts.

        Returns True. A buffer that is changed just now follows the file later.
        """
        with suppress(FileRefusedError):
            found = await disk.read(path, current.encoding)
            change = None if current.text == found.text else difference(current.text, found.text)
            on_disk = FoundOnDisk(found.stamp, found.encoding, change, is_ours=True)
            outcome = await _when_possible(path, lambda: self.editor.follow_disk(path, current.state, on_disk))
            self._texts.forget(path)
            if outcome is not None and outcome.state is not None:
                now = await self.editor.read_buffer(path, outcome.state)
                if now is not None and now.state == outcome.state:
                    self._texts.put(path, _opened(found.text, now))
        return True

    async def _is_encodable(self, path: str, current: OpenText, text: str) -> bool:
        """Check that the encoding has all characters: Neovim would write others. False without a buffer."""
        try:
            if is_known(current.encoding):
                encode(path, text, current.encoding)
        except FileRefusedError:
            if await self.editor.read_buffer(path, current.state) is not None:
                raise
            self._texts.forget(path)
            return False
        return True

    async def _repair(self, path: str, encoding: str) -> bool:
        """Restore a file that the editor wrote only partially, if that is possible."""
        saved = await self.editor.saved_text(path)
        try:
            if saved is not None:
                await disk.put_back(path, saved, encoding)
                return True
        except FileRefusedError as error:
            log.error("%s is half written, and could not be mended: %s", path, error)
        return False

    async def _follow(self, path: str, current: OpenText, stamp: str | None) -> None:
        """Update a buffer from its file, which had `stamp` before, unless one of them changes meanwhile."""
        try:
            found = await disk.read(path, current.encoding)
        except NoSuchFileError:
            await self._handle_missing(path, current, stamp)
            return
        except FileRefusedError as error:
            if self._unreadable.get(path) != str(error):
                self._unreadable[path] = str(error)
                await self._on_followed(Followed(path, "unreadable", str(error)))
            raise
        self._unreadable.pop(path, None)
        if await self.saves.wait_until_saved(path):
            return  # the text that was read may be incomplete
        if found.text == "" != current.text and await self._is_being_written(path, found.stamp):
            return
        common = await self._reconcile(path, current, found.text)
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
            followed = await self._followed(path, current, common, found)
            await self._on_followed(
                msgspec.structs.replace(followed, had=current.text, has=text, encoding=found.encoding)
            )

    async def _is_being_written(self, path: str, empty: str) -> bool:
        """Wait briefly for the new text: many programs truncate a file before they write it."""
        await anyio.sleep(EMPTY_SECONDS)
        return await disk.stamp(path) != empty

    async def _reconcile(self, path: str, current: OpenText, found: str) -> _Reconciled:
        """Return the text that the buffer should have."""
        base = await self.editor.saved_text(path) if current.modified else current.text
        if current.text == found:
            return _Reconciled(base, found)
        if base is None:
            return _Reconciled(None, None, "what the file had before is not known")
        merged = await merge(base, current.text, found)
        return _Reconciled(base, merged.text, merged.why)

    async def _followed(self, path: str, current: OpenText, common: _Reconciled, found: disk.DiskText) -> Followed:
        if common.text is None:
            kept = await self.conflicts.keep(Conflict(path, common.base, found.text, by="disk"))
            return Followed(path, "conflict", kept, common.why, common.base, found.text, found.stamp)
        kind: Literal["merged", "read"] = "read" if common.text in (found.text, current.text) else "merged"
        return Followed(path, kind, before=common.base, after=found.text, stamp=found.stamp)

    async def _handle_missing(self, path: str, current: OpenText, stamp: str | None) -> None:
        """Handle a file that was deleted or renamed."""
        new = await disk.find_moved(path, stamp, self._directories()) if stamp else None
        if new is not None and not await self._is_same(path, stamp, new):
            new = None
        self._texts.forget(path)
        if new is not None and await self.editor.file_moved(path, new):
            await self._on_followed(Followed(path, "moved", new))
        elif await self.editor.file_gone(path):
            await self._on_followed(Followed(path, "deleted", had=current.text, encoding=current.encoding))

    async def _is_same(self, path: str, stamp: str | None, new: str) -> bool:
        """Whether `new` is the file that was at `path`: unchanged since, or with the same text."""
        if await disk.stamp(new) == stamp:
            return True
        try:
            return (await disk.read(new)).text == await self.editor.saved_text(path)
        except FileRefusedError:
            return False


async def _ignore_read(path: str, text: OpenText | None) -> None:
    """Ignore a read: the default of `on_read`."""


class _Reconciled(msgspec.Struct, frozen=True):
    """The common text of buffer and file, or None with the reason. `base` is the file's earlier text, if known."""

    base: str | None
    text: str | None
    why: str = ""


async def _when_possible(path: str, change: Callable[[], Awaitable[BufferWrite | None]]) -> BufferWrite | None:
    """Retry a change until the user is not in the middle of a command. Raises `FileRefusedError`."""
    deadline = anyio.current_time() + BUSY_SECONDS
    while True:
        outcome = await change()  # no timeout: the editor carries out every request, so its answer counts
        if outcome is None or not outcome.busy:
            return outcome
        if anyio.current_time() > deadline:
            raise FileRefusedError(f"{path} was not changed: the user is in the middle of a command there; try again")
        await anyio.sleep(BUSY_POLL_SECONDS)
