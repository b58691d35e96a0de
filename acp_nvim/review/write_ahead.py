"""Writes down what a rejection or a restore is about to change, before it is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from acp_nvim.review.change import KeptChange
from acp_nvim.review.checkpoints import Checkpoint, CheckpointKind
from acp_nvim.review.contents import NOT_STORED, is_stored
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.regular_files import system_words


class WriteAhead:
    """The checkpoints of one rejection or restore, one in each workspace that it changes files of.

    They are on the disk before the files are changed, so that a kill at any moment loses nothing. What is written of a
    file that was not changed after all does no harm: to undo it finds the file as it was.
    """

    def __init__(
        self,
        kind: CheckpointKind,
        workspace_of: Callable[[str], Workspace],
        prompt: str = "",
        undoes: str | None = None,
    ) -> None:
        self._kind = kind
        self._prompt = prompt
        self._undoes = undoes
        self._workspace_of = workspace_of
        self._made: dict[str, Checkpoint] = {}

    def __repr__(self) -> str:
        return f"<WriteAhead {self._kind}: {len(self.changes)} changes>"

    @property
    def changes(self) -> list[KeptChange]:
        """The changes in all its checkpoints; some of them may not have been made after all."""
        return [change for made in self._made.values() for change in made.changes]

    def id(self, root: str) -> str:
        """Return the id of the checkpoint in the workspace at `root`; "" when nothing of it was changed."""
        made = self._made.get(root)
        return "" if made is None else made.id

    async def secure(self, changes: Sequence[KeptChange]) -> None:
        """Make sure that these changes can be undone: to be called before they are made.

        Raises `FileRefusedError` when what goes, or what is to come, is kept nowhere: then they must not be made.
        """
        new = [change for change in changes if change not in self.changes]
        for change in new:
            check_retrievable(change)
        by_root: dict[str, list[KeptChange]] = {}
        for change in new:
            by_root.setdefault(self._workspace_of(change.path).root, []).append(change)
        for some in by_root.values():
            try:
                await self._write(self._workspace_of(some[0].path), some)
            except (OSError, SnapshotError) as error:
                raise FileRefusedError(
                    f"{some[0].path} was left as it is: what it has now cannot be stored, so that nothing could bring "
                    f"it back: {system_words(error) if isinstance(error, OSError) else error}"
                ) from error

    async def mark(self, workspace: Workspace) -> None:
        """There was nothing to undo: say so, that the next undo goes further back. Raises `OSError`."""
        if not self.id(workspace.root) and self._undoes is not None:
            await workspace.checkpoints.add(self._checkpoint([]))

    async def _write(self, workspace: Workspace, changes: Sequence[KeptChange]) -> None:
        before = self._made.get(workspace.root)
        made = self._checkpoint(changes)
        if before is not None:
            made = msgspec.structs.replace(made, id=before.id, time=before.time)
        known = {change.path: change for change in (before.changes if before is not None else [])}
        all_of_it = msgspec.structs.replace(made, changes=list((known | {one.path: one for one in changes}).values()))
        await workspace.store(all_of_it)
        await workspace.checkpoints.add(made)
        self._made[workspace.root] = all_of_it

    def _checkpoint(self, changes: Sequence[KeptChange]) -> Checkpoint:
        return Checkpoint(kind=self._kind, agent="", prompt=self._prompt, changes=list(changes), undoes=self._undoes)


def check_retrievable(change: KeptChange) -> None:
    """Raises `FileRefusedError` unless both versions of the file are kept, those with secrets in memory."""
    if change.after is not None and not is_stored(change.after):
        raise FileRefusedError(f"{change.path} was left as it is: what it had before was {NOT_STORED}.")
    if change.before is not None and not is_stored(change.before):
        raise FileRefusedError(
            f"{change.path} was left as it is: what it has now is {NOT_STORED}, so that nothing could bring it back. "
            "Change or delete it yourself, if you want to."
        )
