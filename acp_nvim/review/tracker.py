"""Enters changes of files into the ledger, as an agent's or the user's."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import anyio.to_thread

from acp_nvim.contract.messages import Edited
from acp_nvim.evidence.evidence import Evidence, Verdict
from acp_nvim.file_time import is_behind_link, is_real_directory
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.review.disk_changes import DiskChanges, LastScans, differs
from acp_nvim.review.ledger import Ledger, TurnLog
from acp_nvim.review.moved_directories import MovedDirectories
from acp_nvim.review.progress import Steps
from acp_nvim.review.records import Decided
from acp_nvim.review.storage import EntryRecord
from acp_nvim.snapshots.renames import Naming, Renames, is_directory
from acp_nvim.snapshots.snapshot import Blob, Changed
from acp_nvim.workspace.open_files import Followed, OpenFiles, OpenText
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.write_text_file import Written

ENTERED_AT_ONCE: Final = 250
"""Changed files that a scan enters before it announces them: git counts the lines of so many at once."""


class ChangeTracker:
    """Receives changes of files. Methods other than `edited`, `saved` and `scanned` are called in `OpenFiles.alone`."""

    def __init__(self, ledger: Ledger, files: OpenFiles, scans: LastScans, evidence: Evidence) -> None:
        self.ledger = ledger
        self._files = files
        self._evidence = evidence
        self._saving: dict[str, int] = {}
        self.scans: list[Steps] = []
        """Scans whose changes are being entered."""
        self.disk = DiskChanges(ledger, files, evidence, scans, self._saving)
        self.directories = MovedDirectories(ledger, files, evidence, self.disk)
        self.on_missing: Callable[[str], None] = lambda path: None
        """Called with a file under review that is gone: a scan shows whether the user has renamed it."""
        self.on_decided: Callable[[Decided], None] = lambda decided: None
        """Called with what the user has decided on the changes of a file, or on the name of a directory."""
        self.on_renamed: Callable[[Naming], None] = lambda renamed: None
        """Called when the user's decision has given directories other names."""

    async def wrote(self, turn: TurnLog, path: str, is_saved: bool, written: Written) -> None:
        """Enter what an agent wrote with `fs/write_text_file`; `is_saved`: on disk, too, and not only in a buffer."""
        before = ABSENT
        if written.before is not None:
            before = self.disk.text(path, written.before, written.encoding)
        after = self.disk.text(path, written.after, written.encoding)
        last, is_known = self._files.last(path), True
        if last is None:
            is_known = await self.disk.account(path, before, written.replaced)
        if before == after and path not in self.ledger.entries:
            self._evidence.found_written(turn.session, path)
            return  # the agent wrote it before: the next scan will find it
        is_known = is_known or path in self.ledger.entries
        verdict = Verdict("agent", f"written by {turn.agent}", (turn.session,))
        made = [] if written.before is not None else await self.disk.made(path)
        entry = await self.ledger.apply_agent(verdict, path, before, after, change=written.change, made=made)
        entry.is_guessed = entry.is_guessed or not is_known
        if last is not None:
            entry.state = last.state
            for one in self.ledger.changes(path):
                if one.text is not None:
                    one.text.note_buffer()
        if is_saved or last is None:
            entry.on_disk = after.blob
        if entry.conflict is not None and entry.conflict.by == "fs/write_text_file":
            self._files.conflicts.settle(path)  # the agent has read the file since
            entry.conflict = None
        self.disk.announce(path, verdict)

    async def followed(self, what: Followed) -> None:
        """Enter that a buffer was updated to match its file."""
        path, text = what.path, partial(self.disk.text, what.path, encoding=what.encoding)
        old = partial(text, like=await self.disk.known_mode(path))
        if what.kind == "moved":
            await self.disk.moved(path, what.detail)
        elif what.kind == "conflict" and what.had is not None and what.after is not None:
            had, after = old(what.had), text(what.after)
            verdict = await self._evidence.judge(await self.disk.observe(path, had, after))
            await self._conflict(path, verdict, had)
            self.ledger.set_on_disk(path, after.blob)
        elif what.kind == "deleted" and what.had is not None:
            if await anyio.to_thread.run_sync(self.is_missing, path):
                self.on_missing(path)
            elif not self.ledger.is_known(path, None, ""):
                await self.disk.changed(path, old(what.had), ABSENT)
        elif what.had is not None and what.has is not None and what.after is not None:
            after = text(what.after)
            if self.ledger.is_known(path, after.blob, what.has):
                return  # the buffer lagged behind: it had the text of a deleted file
            is_known = what.before is None or await self.disk.account(path, old(what.before))
            if what.had != what.has:
                await self.disk.changed(path, old(what.had), text(what.has), after)
                entry = self.ledger.entries.get(path)
                if entry is not None and not (is_known or what.before):  # perhaps just made; text may be the user's
                    entry.is_guessed = True
            self.ledger.set_on_disk(path, after.blob)

    async def refused(self, turn: TurnLog, path: str) -> None:
        """Enter that a text which the agent wrote through the host could not be merged."""
        async with self._files.alone(path):
            await self._conflict(path, Verdict("agent", f"written by {turn.agent}", (turn.session,)))

    async def _conflict(self, path: str, verdict: Verdict, now: Content | None = None) -> None:
        """Enter a version of the file that could not be merged; `now` is the present content, if known."""
        kept = self._files.conflicts.of(path)
        entry = self.ledger.entries.get(path)
        last = self._files.last(path)
        if entry is None:
            if now is None:
                now = await self.disk.content(path) if last is None else self.disk.text(path, last.text, last.encoding)
            entry = self.ledger.entries[path] = Entry(path, now)
            entry.on_disk = await self.disk.blob(path)
        entry.state = entry.state if last is None else last.state
        await self.ledger.load_texts(entry)
        entry.conflict = kept[-1] if kept else None
        if entry.operation is None:
            entry.attribute(verdict)
        entry.sessions |= verdict.live_sessions
        self.ledger.publish(path)

    async def buffer_read(self, path: str, buffer: OpenText | None) -> None:
        """Enter the text of a buffer (None: there is none); what differs from its last known text is the user's."""
        await self.disk.buffer_read(path, buffer)
        entry = self.ledger.entries.get(path)
        if entry is None:
            return
        if buffer is None:
            await self._buffer_closed(path, entry)
            return
        if entry.current is None and not buffer.on_disk:
            entry.state = None
            self.ledger.publish(path)
            return
        await self.ledger.load_texts(entry)
        was, entry.state = entry.state, buffer.state
        for change in self.ledger.changes(path):
            if change.text is not None:
                change.text.set_fileformat(buffer.fileformat)
        if entry.text is not None and entry.text.current != buffer.text:
            now = self.disk.text(path, buffer.text, buffer.encoding)
            if was is None and not buffer.modified:  # the file was changed before it was opened
                await self.disk.changed(path, entry.current_content(), now)
                entry.on_disk = now.blob
            else:
                await self.ledger.apply_user(path, now)
        if was != entry.state:
            self.ledger.publish(path)

    async def _buffer_closed(self, path: str, entry: Entry) -> None:
        """Drop the user's unsaved edits of a closed buffer."""
        if entry.state is None:
            return
        entry.state = None
        if entry.text is not None and entry.on_disk is not None:
            saved = await self.ledger.with_text(path, Content(entry.on_disk), entry.encoding)
            if saved.text is not None and saved.text != entry.text.current:
                await self.ledger.apply_user(path, saved)
        self.ledger.publish(path)

    async def edited(self, edit: Edited) -> None:
        """Enter an edit of a buffer under review."""
        async with self._files.alone(edit.path):
            entry = self.ledger.entries.get(edit.path)
            if entry is None:
                return
            is_same = edit.count == 0 and not edit.lines  # what changed is in no line
            if entry.text is None or entry.state != edit.before or is_same:
                await self.read_buffer(edit.path)  # this calls `buffer_read`
                return
            is_other = False
            for change in self.ledger.changes(edit.path, lasting=True):
                await self.ledger.load_texts(change)
                if change.text is not None:
                    is_other |= change.text.apply_user_lines(edit.first, edit.count, edit.lines)
            entry.state = edit.state
            if is_other or entry.conflict is not None:
                self.ledger.publish(edit.path)

    async def show(self, path: str) -> None:
        """Show the hunks of a file from now on, because the user opens its review."""
        async with self._files.alone(path):
            entry = self.ledger.entries.get(path) or self.ledger.revive(path)
            if entry is not None:
                entry.is_wanted = True
                await self.ledger.load_texts(entry)
                await self.read_buffer(path)
                self.ledger.publish(path)

    def saved(self, path: str) -> Awaitable[None]:
        """Note at once that the user wrote the buffer; awaiting the result enters the content on disk."""
        self._saving[path] = self._saving.get(path, 0) + 1
        return self._saved_now(path)

    async def _saved_now(self, path: str) -> None:
        async with self._files.alone(path):
            self._saving[path] -= 1
            if not self._saving[path]:
                del self._saving[path]
            on_disk = await self.disk.blob(path)
            entry = self.ledger.entries.get(path) or self.ledger.revive(path)
            if entry is None:
                self.ledger.accounted[path] = on_disk
            else:
                is_back = entry.current is None and on_disk is not None
                entry.on_disk, entry.current = on_disk, entry.current or on_disk
                await self.read_buffer(path)
                if is_back:  # a deleted file; its buffer was reported with its text before
                    self.ledger.publish(path)

    async def take_over(self, saved: EntryRecord) -> None:
        """Put a file that a dead host left back under review."""
        path = saved.path
        if is_directory(path):
            self.ledger.entries.setdefault(path, saved.entry())
            return
        async with self._files.alone(path):
            later = self.ledger.entries.get(path)  # the file has changed since, and that was noticed earlier
            entry = self.ledger.entries[path] = saved.entry()
            if later is not None:
                await self.ledger.load_texts(later)
                await self.ledger.load_texts(entry)
                entry.append(later)
                return
            now = await self.disk.blob(path)
            if entry.current != entry.on_disk:  # the old Neovim's unsaved edits are lost
                await self.ledger.apply_user(path, Content(entry.on_disk))
            if differs(entry.on_disk, now):
                await self.disk.enter(path, Content(entry.on_disk), Content(now))
            self.ledger.set_on_disk(path, now)
            await self.read_buffer(path)

    async def scanned(
        self, found: Sequence[Changed], are_in_snapshot: bool = True, renames: Renames | None = None, count: int = 0
    ) -> None:
        """Enter files that differ from the last scan; `are_in_snapshot`: the next one compares with their `after`.

        `renames` are those of directories by the plugin since; the first `count` were made before the scan.
        """
        steps = Steps("collecting", len(found))
        self.scans.append(steps)
        try:
            found = await self.directories.enter(found, renames or Renames(), count)
            if renames is not None:
                found = await self._with_moved(found)
            for first in range(0, len(found), ENTERED_AT_ONCE):
                await self._enter_all(found[first : first + ENTERED_AT_ONCE], are_in_snapshot, steps)
        finally:
            self.scans.remove(steps)

    async def _enter_all(self, found: Sequence[Changed], are_in_snapshot: bool, steps: Steps) -> None:
        news: dict[str, Verdict] = {}
        for one in found:
            steps.done += 1
            if one.old_path is not None:
                await self._renamed(one, one.old_path)
                continue
            async with self._files.alone(one.path):
                verdict = await self._scanned(one, are_in_snapshot)
            if verdict is not None:
                news[one.path] = verdict
        await self.ledger.count_lines([change for path in news for change in self.ledger.changes(path)])
        for path, verdict in news.items():
            self.disk.announce(path, verdict)

    async def _with_moved(self, found: Sequence[Changed]) -> list[Changed]:
        """Take a file under review that is gone, and a new one with its content, for a renamed file."""
        rows = {one.path: one for one in found}
        new = {one.path: one.after for one in found if one.before is None and one.after is not None}
        renamed = {one.old_path for one in found}
        known = {path: entry.on_disk for path, entry in self.ledger.entries.items() if path not in renamed}
        gone = await anyio.to_thread.run_sync(lambda: [one for one in known if self.is_missing(one)]) if new else []
        for path in gone:
            had, name = known[path], os.path.basename(path)
            same = [other for other, blob in new.items() if had is not None and blob.oid == had.oid]
            if same:
                other = next((other for other in same if os.path.basename(other) == name), same[0])
                rows[other] = Changed(other, had, new.pop(other), path)
                rows.pop(path, None)
        return list(rows.values())

    async def _scanned(self, one: Changed, is_in_snapshot: bool) -> Verdict | None:
        """Enter one file; return the verdict to announce, or None."""
        path = one.path
        buffer = await self.read_buffer(path)  # brings the buffer up to the file
        entry = self.ledger.entries.get(path)
        before = entry.on_disk if entry is not None else self.ledger.accounted.get(path, one.before)
        now = await (self.disk.scanned(path, one.after) if is_in_snapshot else self.disk.blob(path, one.after))
        if entry is not None and entry.is_guessed and one.after is not None:
            await self._correct(path, entry, one.before)
        if path in self._saving:  # the user saves it: `saved` will be called
            return None
        if not differs(before, now):
            if is_in_snapshot and differs(now, one.after):  # that state has ended already
                self.ledger.set_on_disk(path, now)
            return None
        verdict: Verdict | None = None
        if entry is not None and buffer is not None and now is None:  # its review has waited for this scan
            verdict = await self.disk.enter(path, entry.current_content(), ABSENT)
        elif entry is None or buffer is None:
            verdict = await self.disk.enter(path, Content(before), Content(now))
            await self.buffer_read(path, buffer)
        elif before is not None and now is not None and before.has_other_mode(now):
            verdict = await self._evidence.judge(await self.disk.observe(path, Content(before), Content(now)))
            self.ledger.mode(verdict, path, now)
        self.ledger.set_on_disk(path, now)
        return verdict

    async def _correct(self, path: str, entry: Entry, before: Blob | None) -> None:
        """Replace a guessed base by that of the snapshot."""
        entry.is_guessed = False
        content = await self.ledger.with_text(path, Content(before), entry.encoding)
        was_right = not any(differs(change.base, before) for change in self.ledger.changes(path))
        for change in self.ledger.changes(path):
            change.rebase(content)
        if not was_right:
            self.disk.announce(path, entry.verdict)

    async def _renamed(self, one: Changed, old_path: str) -> None:
        """Enter a rename of a file, which may be open, under review, or changed as well."""
        async with self._files.alone(old_path):
            await self.read_buffer(old_path)  # renames its buffer, too
        async with self._files.alone(old_path, one.path):
            is_known = old_path in self.ledger.entries or await self.disk.was_there(old_path)  # else it was passing by
            is_free = is_known and not self.ledger.is_taken(one.path, old_path)
            if is_free and await self.disk.read(old_path) is None and await self.disk.read(one.path) is not None:
                await self.disk.moved(old_path, one.path, Content(one.before))
                return
        await self.scanned([Changed(old_path, one.before, None), Changed(one.path, None, one.after)])

    async def before_change(self, path: str) -> None:
        """Enter earlier changes of a file that an agent is about to change: they are not the agent's."""
        last = await self.disk.change_time(path)
        if last.size is not None and last.time >= self.disk.scans.since(path):  # else it may be renamed: a scan tells
            async with self._files.alone(path):
                await self.refresh(path)

    async def refresh(self, path: str) -> None:
        """Read a file from disk, and enter what has changed since it was last known."""
        if is_directory(path) or await self.read_buffer(path) is not None:
            return
        now = await self.disk.content(path)
        if now.blob is None and await anyio.to_thread.run_sync(self.is_missing, path):
            self.on_missing(path)
        else:
            await self.disk.account(path, now)

    def tell_kept(self, entry: Entry) -> None:
        """Call `on_decided` for a file of which the user has kept something."""
        self.on_decided(Decided(entry.path, "kept", sessions=frozenset(entry.sessions)))

    def is_missing(self, path: str) -> bool:
        """Return whether there should be a file under review, or a renamed directory, but there is none. Blocks."""
        entry = self.ledger.entries.get(path)
        if entry is None or (entry.on_disk is None and not entry.is_directory):
            return False
        is_there = is_real_directory(path)
        if is_there or entry.is_directory:
            return is_there != entry.is_directory
        return not os.path.lexists(path) or is_behind_link(path)

    async def gone(self, path: str) -> None:
        """Enter that a missing file was deleted, because no scan has found it elsewhere."""
        async with self._files.alone(path):
            if not is_directory(path) and await anyio.to_thread.run_sync(self.is_missing, path):
                entry = self.ledger.entries[path]
                await self.ledger.load_texts(entry)
                await self.disk.changed(path, entry.current_content(), ABSENT)
                self.ledger.set_on_disk(path, None)

    async def read_buffer(self, path: str) -> OpenText | None:
        """Return the buffer of a file, brought up to the file; None if there is none, or the file is no text."""
        try:
            return await self._files.read(path)
        except FileRefusedError:
            return None
