"""Carries out the user's decisions: keeps and rejects changes, resolves conflicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.apply import rename, write_content
from acp_nvim.review.change import ChangeRecord, Entry, hunk_rejection, rejection
from acp_nvim.review.conflict_blocks import resolve
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.review.evidence import is_proven
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.undo_log import UndoLog, check_retrievable
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.objects import FILE
from acp_nvim.ui import events
from acp_nvim.ui.events import Event
from acp_nvim.ui.review_events import Judged, LeftFile
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError

Choice = Literal["mine", "theirs", "both"]
Action = Literal["keep", "reject", "mine", "theirs", "both"]

LEFT_FILES: Final = 20
"""Files that one message lists: more lines fill the screen."""


class Decisions:
    """Carries out the user's decisions on files under review; with `save` changed buffers are saved.

    `workspace_of` maps a path to its workspace; `notify` reports to the chats of the workspace at a directory.
    """

    def __init__(
        self,
        tracker: ChangeTracker,
        files: OpenFiles,
        workspace_of: Callable[[str], Workspace],
        publish: Callable[[Event], None],
        notify: Callable[[str, str], None],
    ) -> None:
        self.save = True
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files
        self._workspace_of = workspace_of
        self._publish = publish
        self._notify = notify

    async def judge(
        self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None, force: bool
    ) -> None:
        """Carry out an action: on hunks, on a file, or on all that a session (None: any) has changed.

        A rejection of all is limited to changes proven to be agents'; `force` includes those of unknown origin.
        """
        undo_log = UndoLog("reject", self._workspace_of)
        if path is not None:
            await self._decide(action, [path], ids, undo_log)
            return
        entries = self._ledger.open(session)
        if action == "reject":
            entries = await self._refreshed(entries)
        taken = [one for one in entries if action != "reject" or is_proven(one.verdict.by, force)]
        left = [LeftFile(one.path, one.verdict.by, one.verdict.why) for one in entries if one not in taken]
        if action == "reject":
            await self._store_all(undo_log, taken)
        files = await self._decide(action, [one.path for one in taken], None, undo_log)
        if action in ("keep", "reject"):
            undo_id = undo_log.checkpoint_id(self._workspace_of(files[0]).root) if files else ""
            self._publish(Judged(action=action, files=files, left=left, undo_id=undo_id))

    async def _refreshed(self, entries: Sequence[Entry]) -> list[Entry]:
        """Bring the entries up to date with the disk; return those that are still under review."""
        for entry in entries:
            async with self._files.alone(entry.path):
                await self._tracker.refresh(entry.path)
        return [one for one in entries if self._ledger.entries.get(one.path) is one]

    async def _store_all(self, undo_log: UndoLog, entries: Sequence[Entry]) -> None:
        """Store many rejections at once, as each costs a process; those that cannot be stored are refused later."""
        if len(entries) < 2:
            return
        changes: list[ChangeRecord] = []
        for entry in entries:
            with suppress(FileRefusedError):
                found = rejection(entry, self._ledger.contents(entry.path))
                for change in found:
                    check_retrievable(change)
                changes += found
        with suppress(FileRefusedError):
            await undo_log.store(changes)

    async def _decide(
        self, action: Action, paths: Sequence[str], ids: Collection[int] | None, undo_log: UndoLog
    ) -> list[str]:
        """Carry out an action on files; return those where it succeeded, and report why others failed."""
        done: list[str] = []
        problems: list[str] = []
        for path in paths:
            try:
                if action == "keep":
                    await self._keep(path, ids)
                elif action == "reject":
                    await self._reject(path, ids, undo_log)
                else:
                    await self._resolve(path, ids, action)
                done.append(path)
            except FileRefusedError as error:
                problems.append(str(error))
        self._warn_of_secrets(undo_log)
        if problems:
            self._publish(events.Error(text="\n".join(_bounded(problems)), code="review"))
        return done

    def _warn_of_secrets(self, undo_log: UndoLog) -> None:
        paths = [one.path for one in undo_log.changes if self._ledger.contents(one.path).shadow.is_secret(one.path)]
        for root in dict.fromkeys(self._workspace_of(path).root for path in paths):
            names = _bounded([path for path in paths if self._workspace_of(path).root == root])
            self._notify(
                root,
                f"{', '.join(names)}: looks secret, so that what was rejected of it is not written to the disk. "
                ":AcpRestore undo brings it back only as long as this Neovim runs.",
            )

    async def _keep(self, path: str, ids: Collection[int] | None) -> None:
        """Accept hunks; None: the whole file."""
        async with self._files.alone(path):
            entry = await self._entry(path)
            if entry is None:
                return
            if entry.text is not None:
                entry.text.keep(ids)
            if ids is None or entry.text is None:
                entry.base, entry.old_path = entry.current, None
            entry.is_guessed = False  # the user has decided on the base
            self._ledger.publish(path)

    async def _reject(self, path: str, ids: Collection[int] | None, undo_log: UndoLog) -> None:
        """Undo hunks; None: the whole change, with name and mode."""
        for _ in range(FOLLOW_ATTEMPTS):
            names = self._names(path)
            async with self._files.alone(*names):
                entry = await self._entry(path)
                if entry is None:
                    return
                if self._names(path) != names:
                    continue  # renamed just now
                if ids is None or entry.text is None:
                    await undo_log.store(rejection(entry, self._ledger.contents(entry.path)))
                    if await self._reject_whole(entry):
                        return
                    path = entry.path  # the old name, if the rename was undone
                    continue
                wanted = self._content(entry, entry.text.rejected(ids))
                await undo_log.store([hunk_rejection(entry, self._now(entry), wanted)])
                if await self._apply_rejected(entry, wanted):
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was rejected; try again.")

    def _names(self, path: str) -> list[str]:
        """Return the present and the old name: undoing a rename changes both."""
        entry = self._ledger.entries.get(path)
        return [path] if entry is None or entry.old_path is None else [path, entry.old_path]

    async def _resolve(self, path: str, ids: Collection[int] | None, choice: Choice) -> None:
        """Resolve conflict blocks with the user's lines, the other version's, or both."""
        async with self._files.alone(path):
            for _ in range(FOLLOW_ATTEMPTS):
                entry = await self._entry(path)
                if entry is None or entry.conflict is None or entry.text is None:
                    return
                blocks = [block for number, block in entry.blocks().items() if ids is None or number in ids]
                conflict, now = entry.conflict, entry.text.current
                base, text = resolve(conflict.base, now, conflict.theirs, blocks, choice)
                if text == now or await self._apply_resolved(entry, text):
                    entry.conflict = msgspec.structs.replace(conflict, base=base)
                    if not entry.blocks():
                        entry.conflict = None
                        self._files.conflicts.settle(path)
                    self._ledger.publish(path)
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was decided; try again.")

    async def _apply_resolved(self, entry: Entry, text: str) -> bool:
        """Return False if the file was changed meanwhile."""
        wanted = self._content(entry, text)
        if not await self._write(entry, wanted):
            return False
        await self._ledger.apply_user(entry.path, wanted)
        self._update_state(entry)
        return True

    async def _entry(self, path: str) -> Entry | None:
        """Return the file's entry, up to date and with its texts."""
        await self._tracker.refresh(path)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            await self._ledger.load_texts(entry)
        return entry

    def _now(self, entry: Entry) -> Content:
        """Return the present content, with its text stored."""
        entry.store_texts(self._ledger.contents(entry.path))
        return entry.current_content()

    def _content(self, entry: Entry, text: str) -> Content:
        blob = entry.current or entry.base
        mode = FILE if blob is None else blob.mode
        return self._ledger.contents(entry.path).put_text(entry.path, text, entry.encoding, mode)

    async def _write(self, entry: Entry, wanted: Content) -> bool:
        contents, was = self._ledger.contents(entry.path), self._now(entry)
        return await write_content(self._files, contents, entry.path, was, wanted, self.save)

    async def _apply_rejected(self, entry: Entry, wanted: Content) -> bool:
        """Return False if the file was changed meanwhile."""
        if not await self._write(entry, wanted):
            return False
        for change in self._ledger.changes(entry.path):
            if change is not entry:
                change.apply_user(wanted)  # the turn no longer changes that
        entry.apply_agent(wanted)
        if self.save or entry.state is None:
            entry.on_disk = wanted.blob
        self._update_state(entry)
        self._ledger.publish(entry.path)
        return True

    async def _reject_whole(self, entry: Entry) -> bool:
        """Return False if the file was changed meanwhile."""
        if entry.old_path is not None:
            await self._rename_back(entry, entry.old_path)
        wanted = entry.base_content()
        if entry.text is not None and entry.base is not None:
            wanted = self._ledger.contents(entry.path).put_text(
                entry.path, entry.text.rejected(None), entry.encoding, entry.base.mode
            )
        return await self._apply_rejected(entry, wanted)

    async def _rename_back(self, entry: Entry, old_path: str) -> None:
        path = entry.path
        await rename(self._files, path, old_path)
        self._ledger.forget(path, moves=True)
        self._ledger.accounted[path] = None
        entry.path, entry.old_path = old_path, None
        self._ledger.entries[old_path] = entry
        if not entry.is_over:
            self._ledger.publish(old_path)  # before the review of the new name ends
        await self._ledger.apply_user(path, ABSENT)  # ends the change of the turn
        for change in self._ledger.changes(old_path):
            if change is not entry:
                await self._ledger.load_texts(change)
                change.apply_user(self._now(entry))

    def _update_state(self, entry: Entry) -> None:
        last = self._files.last(entry.path)
        if last is not None:
            entry.state = last.state


def _bounded(lines: Sequence[str]) -> list[str]:
    more = len(lines) - LEFT_FILES
    return list(lines) if more <= 0 else [*lines[:LEFT_FILES], f"... and {more} more"]
