"""Rejects changes: writes back what files were, and gives directories their old names."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import anyio.to_thread
import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.apply import rename
from acp_nvim.review.change import Entry, hunk_rejection, rejection
from acp_nvim.review.contents import ABSENT, NEW_FILE, Content, decided_on
from acp_nvim.review.directory_renames import DirectoryRenames, check_moves, moves_back, named_at_once
from acp_nvim.review.entry_files import EntryFiles
from acp_nvim.review.obstacles import check_covered, check_way, in_order, is_in_way, missing_above, place_of
from acp_nvim.review.records import ChangeRecord
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.undo_log import UndoLog, check_retrievable
from acp_nvim.review.workspace import Workspace
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError


class Rejections:
    """Rejects changes of files and renames of directories; `workspace_of` maps a path to its workspace."""

    def __init__(
        self, tracker: ChangeTracker, files: OpenFiles, own: EntryFiles, workspace_of: Callable[[str], Workspace]
    ) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files
        self._own = own
        self._directories = DirectoryRenames(tracker, files, workspace_of)
        self._made: set[str] = set()  # directories that agents have made for files that were rejected

    async def store_all(self, undo_log: UndoLog, entries: Sequence[Entry]) -> None:
        """Store many rejections at once, as each costs a process; those that cannot be stored are refused later."""
        if len(entries) < 2:
            return
        changes: list[ChangeRecord] = []
        for entry in entries:
            with suppress(FileRefusedError):
                found = await self._records(entry, undo_log)
                for change in found:
                    check_retrievable(change)
                changes += found
        with suppress(FileRefusedError):
            await undo_log.store(changes)

    async def reject(
        self,
        path: str,
        ids: Collection[int] | None,
        undo_log: UndoLog,
        *,
        clears: bool,
        is_checked: bool = False,
        within: Sequence[str] = (),
    ) -> None:
        """Undo hunks; None: the whole change, with name and mode. Raises `FileRefusedError`, `InTheWayError`.

        With `clears`, what agents have put in its way is rejected first; `within` are the paths for which that is done.
        With `is_checked` the file was compared with its review before. If it has changed since, that is found when it
        is written, and it is compared again.
        """
        for attempt in range(FOLLOW_ATTEMPTS):
            if clears and ids is None:
                await self._clear_way(path, undo_log, [*within, path])
            if path.endswith(os.sep):
                await self._reject_directory(path, undo_log)
                return
            names = self._names(path)
            async with self._files.alone(*names):
                entry = await self._own.entry(path, is_checked=is_checked and not attempt)
                if entry is None:
                    return
                if self._names(path) != names:
                    continue  # renamed just now
                if ids is None or entry.text is None or entry.is_nothing_without(ids):
                    await anyio.to_thread.run_sync(check_way, entry)
                    await undo_log.store(await self._records(entry, undo_log))
                    if await self._reject_whole(entry):
                        return
                    path = entry.path  # the old name, if the rename was undone
                    continue
                wanted = self._own.content(entry, entry.text.rejected(ids))
                await undo_log.store([hunk_rejection(entry, self._own.now(entry), wanted)])
                if await self._apply_rejected(entry, wanted):
                    return
        raise FileRefusedError(f"{path} is being changed all the time. Nothing was rejected; try again.")

    async def _records(self, entry: Entry, undo_log: UndoLog) -> list[ChangeRecord]:
        """Return the records of a rejection, with the directories that it makes: its undo removes them again."""
        records, place = rejection(entry, self._ledger.contents(entry.path)), place_of(entry)
        if place is None:
            return records
        path = records[-1].path  # of what is put back
        known = None if entry.is_directory else undo_log.stored(path)
        if known is not None:
            made = known.made
        else:
            made = [*records[-1].made, *await anyio.to_thread.run_sync(missing_above, place)]
        return [*records[:-1], msgspec.structs.replace(records[-1], made=made)]

    async def _clear_way(self, path: str, undo_log: UndoLog, within: Sequence[str]) -> None:
        """Reject what agents have put where a rejection puts something back; only that, if nothing else is there."""
        entry = self._ledger.entries.get(path)
        target = None if entry is None else place_of(entry)
        if entry is None or target is None:
            return
        others = [one for one in self._ledger.open() if one.path not in within and is_in_way(one, entry, target)]
        if others:
            await anyio.to_thread.run_sync(check_covered, target, [one.path for one in others])
        for one in others:
            await self.reject(one.path, None, undo_log, clears=True, within=within)

    async def _reject_directory(self, path: str, undo_log: UndoLog) -> None:
        """Rename a directory back, and those that have its name, and so on."""
        group: list[Entry] = []
        entry = self._ledger.entries.get(path)
        while entry is not None and entry not in group and entry.old_path is not None:
            group.append(entry)
            entry = self._ledger.entries.get(entry.old_path)
        if not group:
            return
        moves = moves_back(group)
        await anyio.to_thread.run_sync(check_moves, moves)
        records = [change for one in group for change in await self._records(one, undo_log)]
        await undo_log.store(named_at_once(records, moves))
        await self._directories.rename(moves)
        await self._directories.tell(moves, "rejected", {session for one in group for session in one.sessions})
        for one, move in zip(group, moves, strict=True):
            await self._remove_emptied(move.old, one)

    async def _remove_emptied(self, path: str, entry: Entry) -> None:
        """Remove the directories that agents have made for the file that was at `path`, and that are empty now."""
        self._made.update(entry.made)
        await self._directories.remove_emptied(path, self._made)

    def _names(self, path: str) -> list[str]:
        """Return the present and the old name: undoing a rename changes both."""
        entry = self._ledger.entries.get(path)
        return [path] if entry is None or entry.old_path is None else [path, entry.old_path]

    def _tell(self, entry: Entry, was: Content, now: Content) -> None:
        is_secret = self._ledger.contents(entry.path).shadow.is_secret(entry.path)
        self._tracker.on_decided(decided_on(entry.path, "rejected", (was, now), entry.sessions, is_secret))

    async def _apply_rejected(self, entry: Entry, wanted: Content, was: Content | None = None) -> bool:
        """Return False if the file was changed meanwhile; `was`: what its path had before, if not what it has now."""
        was = was or self._own.now(entry)
        if not await self._own.write(entry, wanted):
            return False
        self._tell(entry, was, wanted)
        for change in self._ledger.changes(entry.path, lasting=True):
            if change is not entry:
                change.apply_user(wanted)  # the turn no longer changes that
        entry.apply_agent(wanted)
        if self._own.save or entry.state is None:
            entry.on_disk = self._tracker.disk.written(entry.path, wanted.blob)
        self._own.update_state(entry)
        self._ledger.publish(entry.path)
        if wanted.blob is None:
            await self._remove_emptied(entry.path, entry)
        return True

    async def _reject_whole(self, entry: Entry) -> bool:
        """Return False if the file was changed meanwhile."""
        was = None
        if entry.old_path is not None:
            await self._rename_back(entry, entry.old_path)
            was = ABSENT
        wanted = entry.base_content()
        if entry.text is not None and entry.base is not None:
            wanted = self._ledger.contents(entry.path).put_text(
                entry.path, entry.text.rejected(None), entry.base_encoding, entry.base
            )
        return await self._apply_rejected(entry, wanted, was)

    async def _rename_back(self, entry: Entry, old_path: str) -> None:
        path = entry.path
        await rename(self._files, path, old_path, entry.base or NEW_FILE)
        self._tell(entry, self._own.now(entry), ABSENT)
        await self._remove_emptied(path, entry)
        self._ledger.forget(path, moves=True)
        self._ledger.accounted[path] = None
        entry.path, entry.old_path = old_path, None
        self._ledger.entries[old_path] = entry
        if not entry.is_over:
            self._ledger.publish(old_path)  # before the review of the new name ends
        await self._ledger.apply_user(path, ABSENT)  # ends the change of the turn
        for change in self._ledger.changes(old_path, lasting=True):
            if change is not entry:
                await self._ledger.load_texts(change)
                change.apply_user(self._own.now(entry))

    async def split(self, entry: Entry) -> list[Entry]:
        """Make a new file and a deleted one of a renamed one: they can be rejected one after the other."""
        if entry.is_directory or entry.old_path is None or entry.old_path in self._ledger.entries:
            return [entry]
        await self._ledger.load_texts(entry)
        gone = Entry(entry.old_path, entry.base_content())
        gone.sessions, gone.made, gone.on_disk = set(entry.sessions), [], None
        gone.attribute(entry.verdict)
        gone.apply_agent(ABSENT)
        self._ledger.entries[gone.path] = gone
        entry.old_path = None
        entry.rebase(ABSENT)
        self._ledger.publish(gone.path)
        self._ledger.publish(entry.path)
        return in_order([entry, gone])
