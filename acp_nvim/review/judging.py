"""What the user decides about an agent's changes: to keep them, or to have the file as it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Literal

import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.change import KeptChange
from acp_nvim.review.conflict_blocks import resolve
from acp_nvim.review.contents import ABSENT, FILE_MODE, Content
from acp_nvim.review.entry import Entry
from acp_nvim.review.keeping import hunk_rejection, rejection
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.placing import put, rename
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError

Choice = Literal["mine", "theirs", "both"]
Secure = Callable[[Sequence[KeptChange]], Awaitable[None]]
"""Is called before changes are made, and raises `FileRefusedError` when they could not be undone."""


class Judging:
    """`save`: what changes in a buffer is saved. The methods raise `FileRefusedError`, and nothing has changed then."""

    def __init__(self, ledger: Ledger, files: OpenFiles, look_at: Callable[[str], Awaitable[None]]) -> None:
        self.save = True
        self._ledger = ledger
        self._files = files
        self._look_at = look_at

    def __repr__(self) -> str:
        return f"<Judging {self._ledger!r}>"

    async def keep(self, path: str, ids: Collection[int] | None) -> None:
        """These hunks stay; None: the whole file does."""
        async with self._files.alone(path):
            entry = await self._entry(path)
            if entry is None:
                return
            if ids is None or entry.text is None:
                self._accept(entry)
            else:
                entry.text.keep(ids)
            entry.is_guessed = False  # the user has decided what it was
            self._ledger.tell(path)

    async def reject(self, path: str, ids: Collection[int] | None, secure: Secure) -> None:
        """These hunks become what was there before; None: the whole file does, its name and mode too."""
        async with self._files.alone(path):
            for _ in range(FOLLOW_ATTEMPTS):
                entry = await self._entry(path)
                if entry is None:
                    return
                if ids is None or entry.text is None:
                    await secure(rejection(entry, self._ledger.contents(entry.path)))
                    if await self._take_back(entry):
                        return
                    continue
                wanted = self._text(entry, entry.text.rejected(ids))
                await secure([hunk_rejection(entry, self._now(entry), wanted)])
                if await self._put(entry, wanted):
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was rejected; try again.")

    async def resolve(self, path: str, ids: Collection[int] | None, choice: Choice) -> None:
        """These conflicts become the user's lines, the other version's, or both."""
        async with self._files.alone(path):
            for _ in range(FOLLOW_ATTEMPTS):
                entry = await self._entry(path)
                if entry is None or entry.conflict is None or entry.text is None:
                    return
                blocks = [block for number, block in entry.blocks().items() if ids is None or number in ids]
                conflict, now = entry.conflict, entry.text.current
                base, text = resolve(conflict.base, now, conflict.theirs, blocks, choice)
                if text == now or await self._resolved(entry, text):
                    entry.conflict = msgspec.structs.replace(conflict, base=base)
                    self._settle(entry)
                    self._ledger.tell(path)
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was decided; try again.")

    async def _resolved(self, entry: Entry, text: str) -> bool:
        """The user has decided for that text."""
        was, wanted = self._now(entry), self._text(entry, text)
        if not await put(self._files, self._ledger.contents(entry.path), entry.path, was, wanted, self.save):
            return False
        await self._ledger.user(entry.path, wanted)
        self._seen(entry)
        return True

    def _settle(self, entry: Entry) -> None:
        if not entry.blocks():
            entry.conflict = None
            self._files.conflicts.settle(entry.path)

    async def _entry(self, path: str) -> Entry | None:
        """The file's, as it is now, with its texts."""
        await self._look_at(path)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            await self._ledger.look(path, entry)
        return entry

    def _accept(self, entry: Entry) -> None:
        if entry.text is not None:
            entry.text.keep(None)
        entry.base, entry.old_path = entry.current, None

    def _now(self, entry: Entry) -> Content:
        """What the file is, if nobody has changed it just now."""
        entry.settle(self._ledger.contents(entry.path))
        return Content(entry.current, None if entry.text is None else entry.text.current, entry.encoding)

    def _text(self, entry: Entry, text: str) -> Content:
        blob = entry.current or entry.base
        mode = FILE_MODE if blob is None else blob.mode
        return self._ledger.contents(entry.path).put_text(entry.path, text, entry.encoding, mode)

    async def _put(self, entry: Entry, wanted: Content) -> bool:
        """False when somebody was quicker."""
        was = self._now(entry)
        if not await put(self._files, self._ledger.contents(entry.path), entry.path, was, wanted, self.save):
            return False
        for change in self._ledger.changes(entry.path):
            if change is not entry:
                change.user(wanted)  # what the turn did is undone
        entry.agent(wanted)
        if self.save or entry.state is None:
            entry.on_disk = wanted.blob
        self._seen(entry)
        self._ledger.tell(entry.path)
        return True

    async def _take_back(self, entry: Entry) -> bool:
        """All of it; False when somebody was quicker."""
        if entry.old_path is not None:
            await self._rename_back(entry, entry.old_path)
        wanted = entry.copy_of_base()
        if entry.text is not None and entry.base is not None:
            wanted = self._ledger.contents(entry.path).put_text(
                entry.path, entry.text.rejected(None), entry.encoding, entry.base.mode
            )
        return await self._put(entry, wanted)

    async def _rename_back(self, entry: Entry, old_path: str) -> None:
        path = entry.path
        await rename(self._files, path, old_path)
        self._ledger.forget(path, goes_on=True)
        self._ledger.accounted[path] = None
        entry.path, entry.old_path = old_path, None
        self._ledger.entries[old_path] = entry
        if not entry.is_over:
            self._ledger.tell(old_path)  # there is never nothing left meanwhile
        await self._ledger.user(path, ABSENT)  # for the turn
        for change in self._ledger.changes(old_path):
            if change is not entry:
                await self._ledger.look(old_path, change)
                change.user(self._now(entry))

    def _seen(self, entry: Entry) -> None:
        last = self._files.last(entry.path)
        if last is not None:
            entry.state = last.state
