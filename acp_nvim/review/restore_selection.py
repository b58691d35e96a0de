"""Selects the changes that a restore undoes, by the present names of files and directories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import anyio.to_thread
import msgspec

from acp_nvim.contract.review_events import LeftFile
from acp_nvim.evidence.evidence import is_proven
from acp_nvim.file_time import is_real_directory
from acp_nvim.review.records import ChangeRecord, ReviewState
from acp_nvim.review.storage import Checkpoint
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.renames import Moves, after, back, is_directory, name_after, naming, ordered
from acp_nvim.snapshots.snapshot import DirectoryMove
from acp_nvim.workspace.refusals import InTheWayError


class DirectoryUndo(msgspec.Struct, frozen=True):
    """A directory to be renamed back, from `old_path` to `path`; `review` is to be reopened, with `made`."""

    path: str
    old_path: str
    review: ReviewState | None
    made: list[str]

    @property
    def undone(self) -> DirectoryMove:
        """The rename that is undone, by the names of the record."""
        return DirectoryMove(self.path.rstrip(os.sep), self.old_path.rstrip(os.sep))

    def patch(self, root: str) -> str:
        """Return the rename as lines of a diff, with paths relative to `root`."""
        old, new = (os.path.relpath(path, root) for path in (self.old_path, self.path))
        return f"rename from {old}/\nrename to {new}/\n"


class Group(msgspec.Struct):
    """Directories to be renamed back at once, and the files whose names these directories, or their files, have now."""

    undos: list[DirectoryUndo]
    moves: Moves
    """The renames to be undone."""
    records: dict[str, list[ChangeRecord]] = {}


class Selection(msgspec.Struct):
    """The changes to undo by path, the newest first; and the files with changes that are not undone.

    `groups` of directories are renamed after the files have been restored, one after the other; then the files of the
    group follow. `made` are directories that agents have made.
    """

    prompt: str
    undoes: str | None
    records: dict[str, list[ChangeRecord]] = {}
    groups: list[Group] = []
    made: set[str] = set()
    left: dict[str, LeftFile] = {}

    @property
    def count(self) -> int:
        """How much is left to be restored."""
        return len(self.records) + sum(1 + len(group.records) for group in self.groups)

    def take_files(self) -> list[tuple[str, list[ChangeRecord]]]:
        """Remove and return the files: first those that are to be removed, the inner ones before the outer ones."""
        files, self.records = self.records, {}
        new = sorted((path for path, records in files.items() if records[-1].before is None), reverse=True)
        return [(path, files[path]) for path in dict.fromkeys((*new, *files))]

    def check_names(self, path: str) -> None:
        """Raise `InTheWayError` if a directory below `path` is to be renamed: it leaves first, though it is empty.

        Blocks.
        """
        for one in [one for group in self.groups for one in group.undos]:
            if one.old_path.startswith(path + os.sep) and is_real_directory(one.old_path.rstrip(os.sep)):
                raise InTheWayError(f"{path} was left as it is: {one.old_path} is there, and could not be renamed")

    def renamed(self) -> None:
        """Give the rest the names that it has after the first group was renamed, and add the files of the group."""
        group = self.groups.pop(0)
        moves = ordered(back(group.moves))
        renamed = naming(moves)
        self.records = {renamed(path): records for path, records in self.records.items()}
        self.made = {renamed(path + os.sep).rstrip(os.sep) for path in self.made}
        for path, records in group.records.items():
            self.records.setdefault(path, []).extend(records)


async def select(workspace: Workspace, checkpoint_id: str, force: bool) -> Selection:
    """Select a turn and all proven changes since (`force`: unknown, too), or one restore. Raises `LookupError`."""
    since = await anyio.to_thread.run_sync(_back_to, checkpoint_id, workspace.newest_checkpoints())
    chosen = since[-1]
    is_turn = chosen.kind == "turn"
    selecting = _Selecting(Selection(chosen.prompt, None if is_turn else checkpoint_id))
    for one in since if is_turn else [chosen]:
        for changes in reversed(_at_once(one.changes)):
            if is_turn and any(change.in_turn for change in changes):
                continue  # undone with the record of that turn
            is_undone = one.kind != "turn" or all(is_proven(change.by, force) for change in changes)
            selecting.add(changes, is_undone)
    return selecting.selection


def _back_to(checkpoint_id: str, newest: Iterable[Checkpoint]) -> list[Checkpoint]:
    found = []
    for one in newest:
        found.append(one)
        if one.id == checkpoint_id:
            return found
    raise LookupError("there is no such checkpoint any more")


class _Selecting:
    """Goes back through the changes; `_newer` are the renames of directories since, `_kept` those that stay."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self._newer: list[Group] = []
        self._kept: list[Moves] = []

    def add(self, changes: Sequence[ChangeRecord], is_undone: bool) -> None:
        """Add the change before the others: of one file, or of directories that were renamed at once."""
        if is_directory(changes[0].path):
            is_undone = self._add_directories(changes, is_undone)
        elif is_undone:
            is_undone = self._add_file(changes[0])
        if is_undone:
            self.selection.made |= {self._now(path + os.sep).rstrip(os.sep) for one in changes for path in one.made}
        else:
            for one in changes:
                self.selection.left.setdefault(one.path, LeftFile(one.path, one.by, one.why))

    def _add_directories(self, changes: Sequence[ChangeRecord], is_undone: bool) -> bool:
        undos = [DirectoryUndo(one.old_path or one.path, one.path, one.review, one.made) for one in changes]
        moves = [one.undone for one in undos]
        is_undone = is_undone and all(after(one.path, kept) == one.path for one in changes for kept in self._kept)
        groups = self.selection.groups
        if is_undone and groups and _names(groups[-1].moves) == _names(ordered(back(moves))):
            self._newer.remove(groups.pop())  # the one before it has undone that
            return True
        group = Group(undos, moves)
        self._newer.insert(0, group)
        if is_undone:
            groups.append(group)
        else:
            self._kept.insert(0, moves)
        return is_undone

    def _add_file(self, change: ChangeRecord) -> bool:
        review = change.review
        if review is not None and review.old_path is not None:
            old_path = review.old_path
            for group in self._newer:
                old_path = name_after(old_path, naming(group.moves))
            review = msgspec.structs.replace(review, old_path=old_path)
        path, records = change.path, self.selection.records
        for group in self._newer:
            now = after(path, group.moves)
            if now == path and any(path == one.new or path.startswith(one.new + os.sep) for one in group.moves):
                if group not in self.selection.groups:
                    return False  # its name is taken for good
                records = group.records
                break
            path = now
        _add(records.setdefault(path, []), msgspec.structs.replace(change, path=path, review=review))
        return True

    def _now(self, path: str) -> str:
        for group in self._newer:
            path = after(path, group.moves)
        return path


def _names(moves: Moves) -> set[tuple[str, str]]:
    return {(one.old, one.new) for one in moves}


def _at_once(changes: Sequence[ChangeRecord]) -> list[list[ChangeRecord]]:
    """Return the changes one by one, but those together that were made at once."""
    groups: list[list[ChangeRecord]] = []
    for change in changes:
        if change.joins and groups:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _add(newer: list[ChangeRecord], older: ChangeRecord) -> None:
    """Append a change; join it with the next newer one if that directly follows it, which saves a merge."""
    if newer and newer[-1].before == older.after and newer[-1].review is None:
        made = [*newer[-1].made, *older.made]
        newer[-1] = msgspec.structs.replace(newer[-1], before=older.before, review=older.review, made=made)
    else:
        newer.append(older)
