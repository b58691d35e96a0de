"""Keeps and rejects changes, and decides conflicts, as the user says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.change import Entry, KeptChange, hunk_rejection, rejection
from acp_nvim.review.conflict_blocks import resolve
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.review.evidence import is_proven
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.placing import put, rename
from acp_nvim.review.workspace import Workspace
from acp_nvim.review.write_ahead import WriteAhead, check_retrievable
from acp_nvim.snapshots.objects import FILE
from acp_nvim.ui import events
from acp_nvim.ui.events import Event
from acp_nvim.ui.review_events import Judged, LeftFile
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError

Choice = Literal["mine", "theirs", "both"]
Action = Literal["keep", "reject", "mine", "theirs", "both"]

LEFT_FILES: Final = 20
"""Files of which one message says why they were left as they are: more lines fill the screen."""


class Decisions:
    """What the user decides of the files under review.

    `save`: what changes in a buffer is saved. `workspace_of` gives the workspace that a path is in; `tell` says
    something about the workspace at a directory in its chats.
    """

    def __init__(
        self,
        ledger: Ledger,
        files: OpenFiles,
        look_at: Callable[[str], Awaitable[None]],
        workspace_of: Callable[[str], Workspace],
        publish: Callable[[Event], None],
        tell: Callable[[str, str], None],
    ) -> None:
        self.save = True
        self._ledger = ledger
        self._files = files
        self._look_at = look_at
        self._workspace_of = workspace_of
        self._publish = publish
        self._tell = tell

    def __repr__(self) -> str:
        return f"<Decisions {self._ledger!r}>"

    async def judge(
        self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None, force: bool
    ) -> None:
        """What the user decided: of hunks, of a file, or of all that a session (or anybody) has changed.

        All: what is proven to be the agent's; `force`: also what nobody knows who did it.
        """
        ahead = WriteAhead("reject", self._workspace_of)
        if path is not None:
            await self._decide(action, [path], ids, ahead)
            return
        entries = self._ledger.open(session)
        if action == "reject":
            entries = await self._looked_at(entries)
        taken = [one for one in entries if action != "reject" or is_proven(one.verdict.by, force)]
        left = [LeftFile(one.path, one.verdict.by, one.verdict.why) for one in entries if one not in taken]
        if action == "reject":
            await self._secure_all(ahead, taken)
        files = await self._decide(action, [one.path for one in taken], None, ahead)
        if action in ("keep", "reject"):
            undo_id = ahead.id(self._workspace_of(files[0]).root) if files else ""
            self._publish(Judged(action=action, files=files, left=left, undo_id=undo_id))

    async def _looked_at(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those that are left, once it is known what the files are now, and who made them so."""
        for entry in entries:
            async with self._files.alone(entry.path):
                await self._look_at(entry.path)
        return [one for one in entries if self._ledger.entries.get(one.path) is one]

    async def _secure_all(self, ahead: WriteAhead, entries: Sequence[Entry]) -> None:
        """At once for many files: each alone would cost a process. Who cannot be secured is refused later, alone."""
        if len(entries) < 2:
            return
        changes: list[KeptChange] = []
        for entry in entries:
            with suppress(FileRefusedError):
                found = rejection(entry, self._ledger.contents(entry.path))
                for change in found:
                    check_retrievable(change)
                changes += found
        with suppress(FileRefusedError):
            await ahead.secure(changes)

    async def _decide(
        self, action: Action, paths: Sequence[str], ids: Collection[int] | None, ahead: WriteAhead
    ) -> list[str]:
        """Do it to these files; returns those of which it could be done. Of the others the user is told why."""
        done: list[str] = []
        problems: list[str] = []
        for path in paths:
            try:
                if action == "keep":
                    await self._keep(path, ids)
                elif action == "reject":
                    await self._reject(path, ids, ahead)
                else:
                    await self._resolve(path, ids, action)
                done.append(path)
            except FileRefusedError as error:
                problems.append(str(error))
        self._say_what_is_in_memory(ahead)
        if problems:
            self._publish(events.Error(text="\n".join(_bounded(problems)), code="review"))
        return done

    def _say_what_is_in_memory(self, ahead: WriteAhead) -> None:
        paths = [one.path for one in ahead.changes if self._ledger.contents(one.path).shadow.is_secret(one.path)]
        for root in dict.fromkeys(self._workspace_of(path).root for path in paths):
            names = _bounded([path for path in paths if self._workspace_of(path).root == root])
            self._tell(
                root,
                f"{', '.join(names)}: looks secret, so that what was rejected of it is not written to the disk. "
                ":AcpRestore undo brings it back only as long as this Neovim runs.",
            )

    async def _keep(self, path: str, ids: Collection[int] | None) -> None:
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

    async def _reject(self, path: str, ids: Collection[int] | None, ahead: WriteAhead) -> None:
        """These hunks become what was there before; None: the whole file does, its name and mode too."""
        for _ in range(FOLLOW_ATTEMPTS):
            names = self._names(path)
            async with self._files.alone(*names):
                entry = await self._entry(path)
                if entry is None:
                    return
                if self._names(path) != names:
                    continue  # it was renamed just now
                if ids is None or entry.text is None:
                    await ahead.secure(rejection(entry, self._ledger.contents(entry.path)))
                    if await self._take_back(entry):
                        return
                    path = entry.path  # its old name, once that is taken back
                    continue
                wanted = self._text(entry, entry.text.rejected(ids))
                await ahead.secure([hunk_rejection(entry, self._now(entry), wanted)])
                if await self._put(entry, wanted):
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was rejected; try again.")

    def _names(self, path: str) -> list[str]:
        """The file's, and the one that it had before: taking back a new name changes both."""
        entry = self._ledger.entries.get(path)
        return [path] if entry is None or entry.old_path is None else [path, entry.old_path]

    async def _resolve(self, path: str, ids: Collection[int] | None, choice: Choice) -> None:
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
            await self._ledger.look(entry)
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
        mode = FILE if blob is None else blob.mode
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
                await self._ledger.look(change)
                change.user(self._now(entry))

    def _seen(self, entry: Entry) -> None:
        last = self._files.last(entry.path)
        if last is not None:
            entry.state = last.state


def _bounded(lines: Sequence[str]) -> list[str]:
    more = len(lines) - LEFT_FILES
    return list(lines) if more <= 0 else [*lines[:LEFT_FILES], f"... and {more} more"]
