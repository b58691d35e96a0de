"""Restores files to a checkpoint: undoes what agents did since, and nothing that the user did."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.apply import write_content
from acp_nvim.review.change import Change, ChangeRecord, Entry, ReviewState, record_of
from acp_nvim.review.contents import ABSENT, NOT_STORED, Content, is_stored
from acp_nvim.review.evidence import Verdict, is_proven
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.undo_log import UndoLog
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.snapshot import GoneError, SnapshotError
from acp_nvim.ui.review_events import LeftFile, PlannedFile, Restored, RestorePlan
from acp_nvim.workspace.conflicts import Conflict
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError


class _Step(msgspec.Struct, frozen=True):
    """The restore of one file: `was` becomes `wanted`, unless there is a `conflict`; `why` explains the conflict.

    `review` is the review that a rejection ended and that this restore reopens.
    """

    path: str
    was: Content
    wanted: Content
    conflict: Conflict | None = None
    why: str | None = None
    review: ReviewState | None = None


class _Selection(msgspec.Struct):
    """The changes to undo by path, the newest first; and the files with changes that are not undone."""

    prompt: str
    undoes: str | None
    records: dict[str, list[ChangeRecord]] = {}
    left: list[LeftFile] = []


class Restoring:
    """Plans and carries out restores; `workspace_of` maps a path to its workspace."""

    def __init__(self, tracker: ChangeTracker, files: OpenFiles, workspace_of: Callable[[str], Workspace]) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files
        self._workspace_of = workspace_of

    async def plan(self, workspace: Workspace, checkpoint_id: str, force: bool) -> RestorePlan:
        """Return what a restore would do; `force` includes changes of unknown origin."""
        try:
            selection = await _select(workspace, checkpoint_id, force)
        except LookupError as error:
            return RestorePlan(id=checkpoint_id, files=[], patch="", problem=f"Nothing was changed: {error}")
        files, patches = [], []
        for path, records in selection.records.items():
            try:
                async with self._files.alone(path):
                    step = await self._step(path, records)
            except (FileRefusedError, SnapshotError) as error:
                files.append(PlannedFile(path, "modify", note=self._not_restored(path, error)))
                continue
            if step is None:
                continue
            change, is_conflict = await self._change(step), step.conflict is not None
            operation, note = change.operation or "modify", step.why or change.note
            files.append(PlannedFile(path, operation, change.added, change.removed, note=note, conflict=is_conflict))
            patches.append("" if is_conflict else change.patch(workspace.root))
        return RestorePlan(id=checkpoint_id, files=files, patch="".join(patches), left=selection.left)

    async def restore(self, workspace: Workspace, checkpoint_id: str, force: bool) -> Restored:
        """Restore all files that can be restored, and return what was done; failures of single files are reported."""
        try:
            selection = await _select(workspace, checkpoint_id, force)
        except LookupError as error:
            problem = f"Nothing was changed: {error}"
            return Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], problem=problem)
        undo_log = UndoLog("restore", self._workspace_of, selection.prompt, selection.undoes)
        done = Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], left=selection.left)
        problems = []
        for path, records in selection.records.items():
            async with self._files.alone(path):
                try:
                    await self._restore(path, records, done, undo_log)
                except (FileRefusedError, SnapshotError) as error:
                    problems.append(self._not_restored(path, error))
        if not problems:
            await undo_log.add_empty(workspace)
        done.undo_id = undo_log.checkpoint_id(workspace.root) if done.files else ""
        done.problem = "\n".join(problems) or None
        return done

    async def _restore(self, path: str, records: Sequence[ChangeRecord], done: Restored, undo_log: UndoLog) -> None:
        for _ in range(FOLLOW_ATTEMPTS):
            step = await self._step(path, records)
            if step is None:
                return
            if step.conflict is not None:
                await self._files.conflicts.keep(step.conflict)
                done.conflicts.append(path)
                return
            if await self._carry_out(step, undo_log):
                done.files.append(path)
                return
        raise FileRefusedError(f"{path} is being changed all the time. It was left as it is.")

    async def _step(self, path: str, records: Sequence[ChangeRecord]) -> _Step | None:
        """Compute the step that undoes `records`, the newest first; None if nothing has to be done."""
        await self._tracker.refresh(path)
        was = await self._current(path)
        now, review = was, None
        for record in records:
            before = await self._ledger.contents(path).load(path, record.before, was.encoding)
            after = await self._ledger.contents(path).load(path, record.after, was.encoding)
            if not _same(now, after) and _same(now, before):
                continue
            if before.blob is not None and not is_stored(before.blob):
                raise FileRefusedError(f"{path} was left as it is: what it had before was {NOT_STORED}.")
            if _same(now, after):
                now, review = before, record.review
                continue
            merged = await self._merge(path, now, before, after)
            if isinstance(merged, str):
                conflict = Conflict(path, after.text_or_empty, before.text_or_empty, by="restore")
                return _Step(path, was, before, conflict, merged)
            now, review = merged, record.review
        return None if _same(was, now) and _mode(was) == _mode(now) else _Step(path, was, now, review=review)

    async def _merge(self, path: str, now: Content, before: Content, after: Content) -> Content | str:
        """Return the file without the agent's change; or, in words, why they conflict."""
        if now.blob is None:
            return "deleted since"
        if before.blob is None:
            return "made anew, and changed since"
        if after.blob is None:
            return "there again"
        if now.text is None or before.text is None or after.text is None:
            return "no text, and changed since"
        merged = await merge(after.text, now.text, before.text)
        if merged.text is None:
            return merged.why
        mode = before.blob.mode if now.blob.mode == after.blob.mode else now.blob.mode
        return self._ledger.contents(path).put_text(path, merged.text, now.encoding, mode)

    async def _current(self, path: str) -> Content:
        """Return the content of the file's buffer, else the content on disk."""
        buffer = await self._tracker.read_buffer(path)
        blob = await self._tracker.disk.blob(path)
        if blob is None:
            return ABSENT
        if buffer is not None:
            return self._ledger.contents(path).put_text(path, buffer.text, buffer.encoding, blob.mode)
        return await self._ledger.with_text(path, Content(blob), None)

    async def _carry_out(self, step: _Step, undo_log: UndoLog) -> bool:
        """Restore one file; return False if it was changed meanwhile."""
        path, contents = step.path, self._ledger.contents(step.path)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            entry.store_texts(contents)
        review = None if entry is None or entry.is_over else entry.review_state()
        change = await self._change(step)
        await undo_log.store([msgspec.structs.replace(record_of(change, contents), review=review)])
        if not await write_content(self._files, contents, path, step.was, step.wanted):
            return False
        if step.review is None:
            await self._ledger.apply_user(path, step.wanted)
        else:
            await self._reopen_review(step, step.review)
        self._ledger.set_on_disk(path, step.wanted.blob)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            last = self._files.last(path)
            entry.state = None if last is None else last.state
            self._ledger.publish(path)
        return True

    async def _change(self, step: _Step) -> Change:
        change = Change(step.path, step.was)
        await self._ledger.load_texts(change)
        change.apply_agent(await self._ledger.with_text(step.path, step.wanted, change.encoding))
        return change

    async def _reopen_review(self, step: _Step, before: ReviewState) -> None:
        """Put a change that a rejection took out of the review under review again; the present content is its base."""
        path = step.path
        entry = None if before.old_path is not None else self._ledger.entries.get(path)
        for change in self._ledger.changes(path):
            await self._ledger.load_texts(change)
            if change is not entry:
                change.apply_user(await self._ledger.with_text(path, step.wanted, change.encoding))
        if entry is None:
            base = step.was if before.old_path is None else Content(before.base)
            entry = Entry(path, await self._ledger.with_text(path, base, None), before.old_path)
            self._ledger.entries[path] = entry
        entry.verdict = Verdict(before.by, before.why)
        entry.apply_agent(await self._ledger.with_text(path, step.wanted, None))
        entry.sessions |= set(before.sessions)
        await self._ledger.count_lines([entry])

    def _not_restored(self, path: str, error: Exception) -> str:
        if isinstance(error, FileRefusedError):
            return str(error)
        if isinstance(error, GoneError) and self._ledger.contents(path).shadow.is_secret(path):
            return f"{path} looks secret: what it had was in memory only, and went with the Neovim that knew it"
        return f"{path} was left as it is: what it had before is not kept any more ({error})"


async def _select(workspace: Workspace, checkpoint_id: str, force: bool) -> _Selection:
    """Select a turn and all proven changes since (`force`: unknown, too), or one restore. Raises `LookupError`."""
    checkpoints = await workspace.all_checkpoints()
    at = next((number for number, one in enumerate(checkpoints) if one.id == checkpoint_id), None)
    if at is None:
        raise LookupError("there is no such checkpoint any more")
    chosen = checkpoints[at]
    is_turn = chosen.kind == "turn"
    selection = _Selection(chosen.prompt, None if is_turn else checkpoint_id)
    left: dict[str, LeftFile] = {}
    for one in reversed(checkpoints[at:] if is_turn else [chosen]):
        for change in one.changes:
            if one.kind != "turn" or is_proven(change.by, force):
                _add(selection.records.setdefault(change.path, []), change)
            else:
                left.setdefault(change.path, LeftFile(change.path, change.by, change.why))
    selection.left = list(left.values())
    return selection


def _add(newer: list[ChangeRecord], older: ChangeRecord) -> None:
    """Append a change; join it with the next newer one if that directly follows it, which saves a merge."""
    if newer and newer[-1].before == older.after and newer[-1].review is None:
        newer[-1] = msgspec.structs.replace(newer[-1], before=older.before)
    else:
        newer.append(older)


def _same(one: Content, other: Content) -> bool:
    if one.blob is None or other.blob is None:
        return one.blob is other.blob
    if one.text is not None and other.text is not None:
        return one.text == other.text
    return one.blob.oid == other.blob.oid


def _mode(content: Content) -> int | None:
    return None if content.blob is None else content.blob.mode
