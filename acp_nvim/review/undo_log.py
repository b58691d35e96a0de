"""Stores what a rejection or a restore is about to change, before it is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from acp_nvim.review.contents import LOST, NOT_STORED, is_stored, why_not_stored
from acp_nvim.review.records import ChangeRecord, CheckpointKind, joined
from acp_nvim.review.storage import Checkpoint
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.renames import is_directory
from acp_nvim.snapshots.snapshot import GoneError, SnapshotError
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.regular_files import system_words


class UndoLog:
    """The checkpoints of one rejection or restore: one in each workspace with changed files.

    `is_in_turn` tells whether a turn that is not recorded yet has changed a path.

    They are on the disk before the files are changed, so that a kill at any moment loses nothing. A record of a change
    that was not made does no harm: its undo finds the file unchanged.
    """

    def __init__(
        self,
        kind: CheckpointKind,
        workspace_of: Callable[[str], Workspace],
        is_in_turn: Callable[[str], bool],
        prompt: str = "",
        undoes: str | None = None,
    ) -> None:
        self._kind = kind
        self._prompt = prompt
        self._undoes = undoes
        self._workspace_of = workspace_of
        self._is_in_turn = is_in_turn
        self._made: dict[str, Checkpoint] = {}
        self._stored: dict[str, ChangeRecord] = {}  # by path, as thousands are looked up

    @property
    def changes(self) -> list[ChangeRecord]:
        """The changes in all its checkpoints, including those that were not made after all."""
        return [change for made in self._made.values() for change in made.changes]

    def stored(self, path: str) -> ChangeRecord | None:
        """Return the last change of a file that is stored."""
        return self._stored.get(path)

    def checkpoint_id(self, root: str) -> str:
        """Return the id of the checkpoint in the workspace at `root`; "" if there is none."""
        made = self._made.get(root)
        return "" if made is None else made.id

    async def store(self, changes: Sequence[ChangeRecord]) -> None:
        """Store changes that are about to be made, so that they can be undone.

        Raises `FileRefusedError` if the old or the new content cannot be stored: then they must not be made.
        """
        changes = [msgspec.structs.replace(one, in_turn=self._began_in_turn(one)) for one in changes]
        new = [change for change in changes if is_directory(change.path) or self._stored.get(change.path) != change]
        by_root: dict[str, list[ChangeRecord]] = {}
        for change in new:
            check_retrievable(change)
            by_root.setdefault(self._workspace_of(change.path).root, []).append(change)
        for some in by_root.values():
            try:
                await self._store(self._workspace_of(some[0].path), some)
            except GoneError as error:
                raise FileRefusedError(f"{some[0].path} was left as it is: what it had before is {LOST}.") from error
            except (OSError, SnapshotError) as error:
                raise FileRefusedError(
                    f"{some[0].path} was left as it is: what it has now cannot be stored, so that nothing could bring "
                    f"it back: {system_words(error) if isinstance(error, OSError) else error}"
                ) from error

    async def add_empty(self, workspace: Workspace) -> None:
        """If nothing had to be undone, record that, so that the next undo goes further back. Raises `OSError`."""
        if not self.checkpoint_id(workspace.root) and self._undoes is not None:
            await workspace.checkpoints.add(self._checkpoint([]))

    async def _store(self, workspace: Workspace, changes: Sequence[ChangeRecord]) -> None:
        before = self._made.get(workspace.root)
        made = self._checkpoint(changes)
        known: list[ChangeRecord] = []
        if before is not None:
            made = msgspec.structs.replace(made, id=before.id, time=before.time)
            known = before.changes
        whole = msgspec.structs.replace(made, changes=joined([*known, *changes]))
        await workspace.store(whole)
        await workspace.checkpoints.add(made)
        self._made[workspace.root] = whole
        self._stored |= {change.path: change for change in changes}

    def _began_in_turn(self, change: ChangeRecord) -> bool:
        known = self._stored.get(change.path)
        return (known is not None and known.in_turn) or any(
            self._is_in_turn(path) for path in (change.path, change.old_path) if path is not None
        )

    def _checkpoint(self, changes: Sequence[ChangeRecord]) -> Checkpoint:
        return Checkpoint(kind=self._kind, agent="", prompt=self._prompt, changes=list(changes), undoes=self._undoes)


def check_retrievable(change: ChangeRecord) -> None:
    """Raise `FileRefusedError` unless both versions of the file are stored (secret ones in memory)."""
    if change.after is not None and not is_stored(change.after):
        raise FileRefusedError(f"{change.path} was left as it is: what it had before {why_not_stored(change.after)}.")
    if change.before is not None and not is_stored(change.before):
        raise FileRefusedError(
            f"{change.path} was left as it is: what it has now is {NOT_STORED}, so that nothing could bring it back. "
            "Change or delete it yourself, if you want to."
        )
