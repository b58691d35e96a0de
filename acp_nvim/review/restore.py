"""Restores files to a checkpoint: undoes what agents did since, and nothing that the user did."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import anyio.to_thread

from acp_nvim.contract.review_events import CheckpointView, PlannedFile, Restored, RestorePlanned
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.checkpoint_views import checkpoint_views
from acp_nvim.review.directory_renames import DirectoryRenames, are_made, check_moves, named_at_once
from acp_nvim.review.progress import Progress, Steps
from acp_nvim.review.records import ChangeRecord
from acp_nvim.review.restore_selection import DirectoryUndo, Selection, select
from acp_nvim.review.restore_steps import RestoreSteps
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.undo_log import UndoLog
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.renames import back
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError, InTheWayError


class Restoring:
    """Plans and carries out restores; `workspace_of` maps a path to its workspace."""

    def __init__(
        self, tracker: ChangeTracker, files: OpenFiles, workspace_of: Callable[[str], Workspace], progress: Progress
    ) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._files = files
        self._progress = progress
        self._steps = RestoreSteps(tracker, files)
        self._directories = DirectoryRenames(tracker, files, workspace_of)

    async def listed(self, workspace: Workspace) -> list[CheckpointView]:
        """Return what can be restored, the newest first."""
        return await anyio.to_thread.run_sync(checkpoint_views, workspace.newest_checkpoints())

    async def plan(self, workspace: Workspace, checkpoint_id: str, force: bool) -> RestorePlanned:
        """Return what a restore would do; `force` includes changes of unknown origin."""
        try:
            selection = await select(workspace, checkpoint_id, force)
        except LookupError as error:
            return RestorePlanned(id=checkpoint_id, files=[], patch="", problem=f"Nothing was changed: {error}")
        with self._progress.shown("planning") as steps:
            return await self._plan(workspace, checkpoint_id, selection, steps)

    async def _plan(
        self, workspace: Workspace, checkpoint_id: str, selection: Selection, steps: Steps
    ) -> RestorePlanned:
        steps.begin("planning", len(selection.records))
        files, patches = [], []
        for path, records in selection.records.items():
            steps.done += 1
            try:
                async with self._files.alone(path):
                    step = await self._steps.step(path, records)
            except (FileRefusedError, SnapshotError) as error:
                files.append(PlannedFile(path, "modify", note=self._steps.why_not(path, error)))
                continue
            if step is None:
                continue
            change, is_conflict = await self._steps.change(step), step.conflict is not None
            operation, note = change.operation or "modify", step.why or change.note
            files.append(PlannedFile(path, operation, change.added, change.removed, note=note, conflict=is_conflict))
            patches.append("" if is_conflict else change.patch(workspace.root))
        for one in [one for group in selection.groups for one in group.undos]:
            files.append(PlannedFile(one.path, "rename", old_path=one.old_path))
            patches.append(one.patch(workspace.root))
        return RestorePlanned(id=checkpoint_id, files=files, patch="".join(patches), left=[*selection.left.values()])

    async def restore(self, workspace: Workspace, checkpoint_id: str, force: bool) -> Restored:
        """Restore all files that can be restored, and return what was done; failures of single files are reported."""
        try:
            selection = await select(workspace, checkpoint_id, force)
        except LookupError as error:
            problem = f"Nothing was changed: {error}"
            return Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], problem=problem)
        undo_log = UndoLog(  # as the turns are
            "restore", lambda path: workspace, self._ledger.is_in_turn, selection.prompt, selection.undoes
        )
        done = Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], left=[*selection.left.values()])
        problems: list[str] = []
        with self._progress.shown("restoring") as steps:
            steps.begin("restoring", selection.count)
            blocked, before = list[str](), -1
            while selection.count not in (0, before):  # what is in the way may be restored meanwhile
                before = selection.count
                blocked = await self._restore_files(selection, done, undo_log, problems, steps)
                blocked += await self._rename_directories(selection, done, undo_log, problems)
        problems += blocked
        if not problems:
            await undo_log.add_empty(workspace)
        done.undo_id = undo_log.checkpoint_id(workspace.root) if done.files else ""
        done.problem = "\n".join(problems) or None
        return done

    async def _restore_files(
        self, selection: Selection, done: Restored, undo_log: UndoLog, problems: list[str], steps: Steps
    ) -> list[str]:
        """Restore the files of the selection; what is in the way of those that remain in it is returned in words."""
        blocked = {}
        for path, records in selection.take_files():
            async with self._files.alone(path):
                try:
                    await anyio.to_thread.run_sync(selection.check_names, path)
                    await self._restore(path, records, done, undo_log)
                except InTheWayError as error:
                    blocked[path] = str(error)
                    selection.records[path] = records
                except (FileRefusedError, SnapshotError) as error:
                    problems.append(self._steps.why_not(path, error))
            if path not in blocked:
                await self._remove_emptied(path, selection)
            steps.done = min(steps.done + 1, steps.total)
        return list(blocked.values())

    async def _rename_directories(
        self, selection: Selection, done: Restored, undo_log: UndoLog, problems: list[str]
    ) -> list[str]:
        """Rename directories, one group after the other, up to one that has something in its way: return the reason."""
        while selection.groups:
            group = selection.groups[0].undos
            try:
                await self._rename(group, undo_log)
            except InTheWayError as error:
                return [str(error)]
            except FileRefusedError as error:
                problems.append(str(error))
                selection.groups.clear()  # the earlier ones are named as after this one
                return []
            selection.renamed()
            done.files += [one.path for one in group]
            for one in group:
                await self._remove_emptied(one.old_path, selection)
                await self._remove_emptied(os.path.join(one.path, "file"), selection)
        return []

    async def _remove_emptied(self, path: str, selection: Selection) -> None:
        """Remove the directories that held `path` and are empty now, if agents have made them.

        Those that are still to be renamed are removed after that.
        """
        waiting = {one.old_path.rstrip(os.sep) for group in selection.groups for one in group.undos}
        made = selection.made - waiting
        await self._directories.remove_emptied(path, made)
        selection.made = made | (selection.made & waiting)

    async def _rename(self, group: Sequence[DirectoryUndo], undo_log: UndoLog) -> None:
        moves = back([one.undone for one in group])
        if await anyio.to_thread.run_sync(are_made, moves):
            return
        await anyio.to_thread.run_sync(check_moves, moves)
        records: list[ChangeRecord] = []
        for one in group:
            entry = self._ledger.entries.get(one.old_path)
            review = None if entry is None or entry.is_over else entry.review_state()
            records.append(ChangeRecord(one.path, None, None, old_path=one.old_path, operation="rename", review=review))
        await undo_log.store(named_at_once(records, moves))
        pairs = list(zip(group, moves, strict=True))
        verdicts = {move: one.review.verdict for one, move in pairs if one.review is not None}
        await self._directories.rename(moves, verdicts)
        reviews = [one.review for one in group if one.review is not None]
        await self._directories.tell(moves, "restored", {session for one in reviews for session in one.sessions})
        for one, move in pairs:
            entry = self._ledger.entries.get(move.new + os.sep)
            if entry is not None and one.review is not None:
                entry.sessions, entry.made = set(one.review.sessions), one.made
                self._ledger.publish(entry.path)

    async def _restore(self, path: str, records: Sequence[ChangeRecord], done: Restored, undo_log: UndoLog) -> None:
        for _ in range(FOLLOW_ATTEMPTS):
            step = await self._steps.step(path, records)
            if step is None:
                return
            if step.conflict is not None:
                await self._files.conflicts.keep(step.conflict)
                done.conflicts.append(path)
                return
            if await self._steps.carry_out(step, undo_log):
                done.files.append(path)
                return
        raise FileRefusedError(f"{path} is being changed all the time. It was left as it is.")
