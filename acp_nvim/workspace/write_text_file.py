"""Serves `fs/write_text_file`: writes to the buffer, or to the file without one (ACP "File System")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, NoReturn

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.contract.editor import TextChange
from acp_nvim.file_time import LastChange, last_change
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.workspace import disk
from acp_nvim.workspace.conflicts import Conflict
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.line_differences import difference
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.open_files import OpenFiles, OpenText
from acp_nvim.workspace.refusals import ChangedOnDiskError, ConflictError, FileRefusedError, NoSuchFileError
from acp_nvim.workspace.text_shape import TextForm, of_buffer, of_file


class Written(msgspec.Struct, frozen=True):
    """What was written: `how` says whether it was merged; the texts before (None: no file) and after.

    `replaced`: when the replaced state was changed; None when the editor wrote the file. `change` leads from `before`
    to `after`; None if that was not compared.
    """

    how: Literal["clean", "merged"]
    before: str | None
    after: str
    encoding: str
    replaced: LastChange | None = None
    change: TextChange | None = None


async def write_text_file(
    files: OpenFiles,
    seen: LastSeen,
    path: str,
    text: str,
    save: bool,
    on_written: Callable[[Written], Awaitable[None]] | None = None,
) -> Written:
    """Make `text` the text of the file at `path`, a real path that the agent may write.

    What the text does not determine stays as in the file: see `TextForm.applied`. A new file gets the text as it is.
    Edits that the agent has not seen are merged; `on_written` is called before anyone else can change the file. Raises
    `ConflictError` when they cannot be merged, and `FileRefusedError`; nothing is changed then.
    """
    write = _Write(files, seen, path, text, save)
    async with files.alone(path):
        with anyio.CancelScope(shield=True):  # complete and record the write even if the agent cancels
            for _ in range(FOLLOW_ATTEMPTS):
                written = await write.attempt()
                if written is not None and on_written is not None:
                    await on_written(written)
                if written is not None:
                    return written
    raise FileRefusedError(f"{path} is being changed all the time. Nothing was written; try again.")


class _Write:
    def __init__(self, files: OpenFiles, seen: LastSeen, path: str, text: str, save: bool) -> None:
        self._files = files
        self._seen = seen
        self._path = path
        self._asked = text
        self._text = text  # in the form of the file
        self._save = save
        self._first = True

    async def attempt(self) -> Written | None:
        """Write once; None when the buffer or file changed meanwhile."""
        buffer = await self._current()
        if buffer is None:
            return await self._write_file()
        shape = of_buffer(buffer.text, buffer.fileformat, buffer.fixeol)
        self._text = shape.applied(self._asked)
        base = await self._base(buffer.text)
        if base is None:
            base = await self._files.saved(self._path, buffer)
        text = await self._merged(base, buffer.text, shape)
        change = difference(buffer.text, text)
        outcome = await self._files.write(self._path, buffer, text, self._save, change)
        if outcome is not None and outcome.error is not None:
            left = "The file is half written, the buffer has its text" if outcome.torn else "Everything is as it was"
            raise FileRefusedError(f"{self._path} was not written: {outcome.error}. {left}.")
        if outcome is None or outcome.state is None:
            return None
        now = text if outcome.text is None else outcome.text
        if outcome.stale:
            with suppress(FileRefusedError):  # the write itself has succeeded
                now = (await disk.read(self._path, buffer.encoding)).text
        known = change if now == text else None
        return await self._done(text, Written("clean", buffer.text, now, buffer.encoding, change=known))

    async def _current(self) -> OpenText | None:
        """Return the buffer, first as last known if the agent knows that text: the editor detects a newer state.

        For a text without a newline, 'fileformat' decides how lines end, which only the editor knows.
        """
        first, self._first = self._first, False
        last = self._files.last(self._path) if first else None
        if last is not None and "\n" in last.text and self._seen.knows(self._path, last.text):
            return last
        return await self._files.read(self._path)

    async def _base(self, now: str) -> str | None:
        """Return the text that the agent has seen; None when it has seen nothing."""
        base = await self._seen.text(self._path)
        if base is None and self._seen.has(self._path):
            if not self._seen.knows(self._path, now):
                await self._conflict(None, "what you have seen of it is not kept any more")
            return now
        return base

    async def _conflict(self, base: str | None, why: str) -> NoReturn:
        kept = await self._files.conflicts.keep(Conflict(self._path, base, self._text, by="fs/write_text_file"))
        raise ConflictError(self._path, why, kept)

    async def _merged(self, base: str | None, now: str, shape: TextForm) -> str:
        """Return the text to write over `now`."""
        if base is None or base == now:
            return self._text
        merged = await merge(base, now, self._text)
        if merged.text is None:
            await self._conflict(base, merged.why)
        return shape.applied(merged.text)

    async def _write_file(self) -> Written | None:
        unopened = await self._files.editor.unopened(self._path)
        if unopened.obstacle is not None:
            raise FileRefusedError(f"{self._path} was not written: {unopened.obstacle}.")
        try:
            found = await disk.read(self._path)
        except NoSuchFileError:
            found = None
        try:
            if found is None:
                self._text = self._asked
                gone = await anyio.to_thread.run_sync(last_change, self._path)
                await disk.write(self._path, self._text)
                return await self._done(self._text, Written("clean", None, self._text, "utf-8", gone))
            shape = of_file(found.text, unopened.fixeol, unopened.mac)
            self._text = shape.applied(self._asked)
            text = await self._merged(await self._base(found.text), found.text, shape)
            await disk.write(self._path, text, found.encoding, found.stamp)
            return await self._done(
                text, Written("clean", found.text, text, found.encoding, (found.changed, found.size))
            )
        except ChangedOnDiskError:
            return None

    async def _done(self, wanted: str, done: Written) -> Written:
        """Remember the text as the agent takes it to be: its own text, with the changes of a formatter."""
        view = self._text
        if done.after != wanted:
            view = (await merge(wanted, self._text, done.after)).text or self._text
        await self._seen.remember(self._path, view)
        return done if wanted == self._text else msgspec.structs.replace(done, how="merged")
