"""Restores single files: computes what has to be done, and does it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from acp_nvim.review.apply import write_content
from acp_nvim.review.change import Change, Entry, record_of
from acp_nvim.review.contents import ABSENT, Content, decided_on, is_stored, why_not_stored
from acp_nvim.review.records import ChangeRecord, ReviewState
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.undo_log import UndoLog
from acp_nvim.snapshots.snapshot import GoneError
from acp_nvim.workspace.conflicts import Conflict
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError


class Step(msgspec.Struct, frozen=True):
    """The restore of one file: `was` becomes `wanted`, unless there is a `conflict`; `why` explains the conflict.

    `review` is the review that a rejection ended and that this restore reopens; `made` as in `Change.made`, `in_turn`
    as in `ChangeRecord`.
    """

    path: str
    was: Content
    wanted: Content
    conflict: Conflict | None = None
    why: str | None = None
    review: ReviewState | None = None
    made: list[str] = []
    in_turn: bool = False


class RestoreSteps:
    """Computes steps from the records of changes and the present files, and carries them out."""

    def __init__(self, tracker: ChangeTracker, files: OpenFiles) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files

    async def step(self, path: str, records: Sequence[ChangeRecord]) -> Step | None:
        """Compute the step that undoes `records`, the newest first; None if nothing has to be done."""
        await self._tracker.refresh(path)
        was = await self._current(path)
        now, review, made = was, None, [one for record in records for one in record.made]
        for record in records:
            before = await self._ledger.contents(path).load(path, record.before, was.encoding)
            after = await self._ledger.contents(path).load(path, record.after, was.encoding)
            if not _same(now, after) and _same(now, before):
                continue
            if before.blob is not None and not is_stored(before.blob):
                raise FileRefusedError(f"{path} was left as it is: what it had before {why_not_stored(before.blob)}.")
            if _same(now, after):
                now, review = before, record.review
                continue
            merged = await self._ledger.contents(path).without(path, now, before, after)
            if isinstance(merged, str):
                conflict = Conflict(path, after.text_or_empty, before.text_or_empty, by="restore")
                return Step(path, was, before, conflict, merged)
            now, review = merged, record.review
        is_same = _same(was, now) and not _has_other_mode(was, now)
        in_turn = any(record.in_turn for record in records)
        return None if is_same else Step(path, was, now, review=review, made=made, in_turn=in_turn)

    async def _current(self, path: str) -> Content:
        """Return the content of the file's buffer, else the content on disk."""
        buffer = await self._tracker.read_buffer(path)
        blob = await self._tracker.disk.blob(path)
        if blob is None:
            return ABSENT
        if buffer is not None:
            return self._ledger.contents(path).put_text(path, buffer.text, buffer.encoding, blob)
        return await self._ledger.with_text(path, Content(blob), None)

    async def carry_out(self, step: Step, undo_log: UndoLog) -> bool:
        """Restore one file; return False if it was changed meanwhile."""
        path, contents = step.path, self._ledger.contents(step.path)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            entry.store_texts(contents)
        review = None if entry is None or entry.is_over else entry.review_state()
        change = await self.change(step)
        await undo_log.store([msgspec.structs.replace(record_of(change, contents), review=review)])
        if not await write_content(self._files, contents, path, step.was, step.wanted):
            return False
        of_sessions = [] if review is None else review.sessions
        is_secret = contents.shadow.is_secret(path)
        self._tracker.on_decided(decided_on(path, "restored", (step.was, step.wanted), of_sessions, is_secret))
        await self._enter_in_turns(step)
        if step.review is not None:
            await self._reopen_review(step, step.review)
        elif (entry := self._ledger.entries.get(path)) is not None:
            await self._ledger.load_texts(entry)
            entry.apply_user(await self._ledger.with_text(path, step.wanted, entry.encoding))
        self._ledger.set_on_disk(path, self._tracker.disk.written(path, step.wanted.blob))
        entry = self._ledger.entries.get(path)
        if entry is not None:
            last = self._files.last(path)
            entry.state = None if last is None else last.state
            self._ledger.publish(path)
        return True

    async def _enter_in_turns(self, step: Step) -> None:
        """Enter what was restored in the changes of running turns: as theirs again, where a rejection took it away."""
        entry = self._ledger.entries.get(step.path)
        is_whole = step.was.blob is None or step.wanted.blob is None  # else it is known which lines are the agent's
        for change in self._ledger.changes(step.path, lasting=True):
            if change is not entry:
                await self._ledger.load_texts(change)
                wanted = await self._ledger.with_text(step.path, step.wanted, change.encoding)
                enter = change.apply_agent if step.in_turn and is_whole else change.apply_user
                enter(wanted)

    async def _reopen_review(self, step: Step, before: ReviewState) -> None:
        """Put a change that a rejection took out of the review under review again; the present content is its base."""
        path = step.path
        entry = None if before.old_path is not None else self._ledger.entries.get(path)
        if entry is None:
            base = step.was if before.old_path is None else Content(before.base)
            entry = Entry(path, await self._ledger.with_text(path, base, None), before.old_path)
            self._ledger.entries[path] = entry
        await self._ledger.load_texts(entry)
        entry.verdict, entry.made = before.verdict, step.made
        entry.apply_agent(await self._ledger.with_text(path, step.wanted, None))
        entry.sessions |= set(before.sessions)
        await self._ledger.count_lines([entry])

    async def change(self, step: Step) -> Change:
        """Return the step as a change, with its texts."""
        change = Change(step.path, step.was)
        await self._ledger.load_texts(change)
        change.apply_agent(await self._ledger.with_text(step.path, step.wanted, change.encoding))
        change.made = step.made
        return change

    def why_not(self, path: str, error: Exception) -> str:
        """Return in words why a file was not restored."""
        if isinstance(error, FileRefusedError):
            return str(error)
        if isinstance(error, GoneError) and self._ledger.contents(path).shadow.is_secret(path):
            return f"{path} looks secret: what it had was in memory only, and went with the Neovim that knew it"
        return f"{path} was left as it is: what it had before is not kept any more ({error})"


def _same(one: Content, other: Content) -> bool:
    if one.blob is None or other.blob is None:
        return one.blob is other.blob
    if one.text is not None and other.text is not None and one.encoding == other.encoding:
        return one.text == other.text
    return one.blob.oid == other.blob.oid


def _has_other_mode(one: Content, other: Content) -> bool:
    return one.blob is not None and other.blob is not None and one.blob.has_other_mode(other.blob)
