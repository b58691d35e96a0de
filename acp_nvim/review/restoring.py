"""Goes back to a moment: undoes what agents did since, and nothing that the user did."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.change import Change, Entry, InReview, KeptChange, kept
from acp_nvim.review.checkpoints import Checkpoint
from acp_nvim.review.contents import Content
from acp_nvim.review.evidence import Verdict, is_proven
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.patch import patch
from acp_nvim.review.placing import put
from acp_nvim.review.undoing import Step, Undoing
from acp_nvim.review.workspace import Workspace
from acp_nvim.review.write_ahead import WriteAhead
from acp_nvim.snapshots.snapshot import GoneError, SnapshotError
from acp_nvim.ui.review_events import LeftFile, PlannedFile, Restored, RestorePlan
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError


class Done(msgspec.Struct):
    """What was done: the real paths of files that were changed, or in conflict, and what went wrong in words."""

    paths: list[str] = []
    conflicts: list[str] = []
    problems: list[str] = []


class Restoring:
    """Takes back what turns have changed. `workspace_of` gives the workspace that a path is in."""

    def __init__(
        self,
        ledger: Ledger,
        files: OpenFiles,
        look_at: Callable[[str], Awaitable[None]],
        workspace_of: Callable[[str], Workspace],
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._undoing = Undoing(ledger, files, look_at)
        self._workspace_of = workspace_of

    def __repr__(self) -> str:
        return f"<Restoring {self._ledger!r}>"

    async def plan(self, workspace: Workspace, checkpoint_id: str, force: bool) -> RestorePlan:
        """What a restore would do; `force`: also to what nobody knows who did it."""
        try:
            chosen = await _chosen(workspace, checkpoint_id, force)
        except LookupError as error:
            return RestorePlan(id=checkpoint_id, files=[], patch="", problem=f"Nothing was changed: {error}")
        files, patches = [], []
        for path, records in chosen.records.items():
            try:
                async with self._files.alone(path):
                    step = await self._undoing.step(path, records)
            except (FileRefusedError, SnapshotError) as error:
                files.append(PlannedFile(path, "modify", note=self._not_restored(path, error)))
                continue
            if step is None:
                continue
            change, is_conflict = await self._change(step), step.conflict is not None
            operation, note = change.operation or "modify", step.why or change.note
            files.append(PlannedFile(path, operation, change.added, change.removed, note=note, conflict=is_conflict))
            patches.append("" if is_conflict else patch(change, workspace.root))
        return RestorePlan(id=checkpoint_id, files=files, patch="".join(patches), left=chosen.left)

    async def restore(self, workspace: Workspace, checkpoint_id: str, force: bool) -> Restored:
        """Do it, and return what was done; a file that cannot be changed does not keep the others from it."""
        try:
            chosen = await _chosen(workspace, checkpoint_id, force)
        except LookupError as error:
            problem = f"Nothing was changed: {error}"
            return Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], problem=problem)
        undoes = checkpoint_id if chosen.checkpoint.kind != "turn" else None
        ahead = WriteAhead("restore", self._workspace_of, chosen.checkpoint.prompt, undoes)
        done = Done()
        for path, records in chosen.records.items():
            async with self._files.alone(path):
                try:
                    await self._restore(path, records, done, ahead)
                except (FileRefusedError, SnapshotError) as error:
                    done.problems.append(self._not_restored(path, error))
        if not done.problems:
            await ahead.mark(workspace)
        return Restored(
            id=checkpoint_id,
            undo_id=ahead.id(workspace.root) if done.paths else "",
            files=done.paths,
            conflicts=done.conflicts,
            problem="\n".join(done.problems) or None,
            left=chosen.left,
        )

    async def _restore(self, path: str, records: Sequence[KeptChange], done: Done, ahead: WriteAhead) -> None:
        for _ in range(FOLLOW_ATTEMPTS):
            step = await self._undoing.step(path, records)
            if step is None:
                return
            if step.conflict is not None:
                await self._files.conflicts.keep(step.conflict)
                done.conflicts.append(path)
                return
            if await self._do(step, ahead):
                done.paths.append(path)
                return
        raise FileRefusedError(f"{path} is being changed all the time. It was left as it is.")

    async def _do(self, step: Step, ahead: WriteAhead) -> bool:
        """False when somebody was quicker."""
        path, contents = step.path, self._ledger.contents(step.path)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            entry.settle(contents)
        review = None if entry is None or entry.is_over else entry.in_review()
        change = await self._change(step)
        await ahead.secure([msgspec.structs.replace(kept(change, contents), review=review)])
        if not await put(self._files, contents, path, step.was, step.wanted):
            return False
        if step.review is None:
            await self._ledger.user(path, step.wanted)
        else:
            await self._review_again(step, step.review)
        entry = self._ledger.entries.get(path)
        last = self._files.last(path)
        self._ledger.set_on_disk(path, step.wanted.blob)
        if entry is not None:
            entry.state = None if last is None else last.state
            self._ledger.tell(path)
        return True

    async def _change(self, step: Step) -> Change:
        """What it does to the file."""
        change = Change(step.path, step.was)
        await self._ledger.look(change)
        change.agent(await self._ledger.with_text(step.path, step.wanted, change.encoding))
        return change

    async def _review_again(self, step: Step, before: InReview) -> None:
        """What a rejection had taken out of the review is in it again: what there is now was accepted."""
        path = step.path
        entry = None if before.old_path is not None else self._ledger.entries.get(path)
        for change in self._ledger.changes(path):
            await self._ledger.look(change)
            if change is not entry:
                change.user(await self._ledger.with_text(path, step.wanted, change.encoding))
        if entry is None:
            base = step.was if before.old_path is None else Content(before.base)
            entry = Entry(path, await self._ledger.with_text(path, base, None), before.old_path)
            self._ledger.entries[path] = entry
        entry.verdict = Verdict(before.by, before.why)
        entry.agent(await self._ledger.with_text(path, step.wanted, None))
        entry.sessions |= set(before.sessions)
        await self._ledger.count_lines([entry])

    def _not_restored(self, path: str, error: Exception) -> str:
        if isinstance(error, FileRefusedError):
            return str(error)
        if isinstance(error, GoneError) and self._ledger.contents(path).shadow.is_secret(path):
            return f"{path} looks secret: what it had was in memory only, and went with the Neovim that knew it"
        return f"{path} was left as it is: what it had before is not kept any more ({error})"


class _Chosen(msgspec.Struct):
    """What is to be undone in each file, the newest first; and the files of which something is left as it is."""

    checkpoint: Checkpoint
    records: dict[str, list[KeptChange]] = {}
    left: list[LeftFile] = []


async def _chosen(workspace: Workspace, checkpoint_id: str, force: bool) -> _Chosen:
    """A turn and all since, as far as it is proven to be the agents' (or `force`); or just a restore, all of it.

    Raises `LookupError`.
    """
    moments = await workspace.all_checkpoints()
    at = next((number for number, one in enumerate(moments) if one.id == checkpoint_id), None)
    if at is None:
        raise LookupError("there is no such checkpoint any more")
    chosen = _Chosen(moments[at])
    left: dict[str, LeftFile] = {}
    for one in reversed(moments[at:] if moments[at].kind == "turn" else [moments[at]]):
        for change in one.changes:
            if one.kind != "turn" or is_proven(change.by, force):
                _add(chosen.records.setdefault(change.path, []), change)
            else:
                left.setdefault(change.path, LeftFile(change.path, change.by, change.why))
    chosen.left = list(left.values())
    return chosen


def _add(newer: list[KeptChange], older: KeptChange) -> None:
    """What follows right after another is one with it: a merge less."""
    if newer and newer[-1].before == older.after and newer[-1].review is None:
        newer[-1] = msgspec.structs.replace(newer[-1], before=older.before)
    else:
        newer.append(older)
