"""Renames directories for the user: on disk, in buffers, and in the review."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, MutableSet, Sequence
from contextlib import suppress

import anyio.to_thread

from acp_nvim.evidence.evidence import Verdict
from acp_nvim.review.change import Entry
from acp_nvim.review.moved_directories import below
from acp_nvim.review.obstacles import check_above, first_file, remove_emptied, remove_empty
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.renames import Moves
from acp_nvim.snapshots.snapshot import DirectoryMove
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.permissions import make_directories
from acp_nvim.workspace.refusals import FileRefusedError, InTheWayError
from acp_nvim.workspace.regular_files import in_words


class DirectoryRenames:
    """Renames directories, with everything in them; `workspace_of` maps a path to its workspace."""

    def __init__(self, tracker: ChangeTracker, files: OpenFiles, workspace_of: Callable[[str], Workspace]) -> None:
        self._tracker = tracker
        self._files = files
        self._workspace_of = workspace_of

    async def rename(self, moves: Moves, verdicts: Mapping[DirectoryMove, Verdict] | None = None) -> None:
        """Rename directories at once. Raises `FileRefusedError`; then none was renamed.

        Those with a verdict are under review then, as renames by an agent.
        """
        ledger = self._tracker.ledger
        async with self._files.alone(*below(ledger, [path for one in moves for path in (one.old, one.new)])):
            await anyio.to_thread.run_sync(rename_directories, moves)
            self._workspace_of(moves[0].new).scanner.renames.add(moves)
            self._tracker.directories.moved(moves, verdicts or {})
        for one in moves:
            await self._files.editor.file_moved(one.old + os.sep, one.new + os.sep)

    async def remove_emptied(self, path: str, made: MutableSet[str]) -> None:
        """Remove the directories that held `path` and are empty now, as far as they are in `made`, and from that."""
        for one in await anyio.to_thread.run_sync(remove_emptied, path, made):
            made.discard(one)


def moves_back(entries: Sequence[Entry]) -> list[DirectoryMove]:
    """Return the renames that undo those of directories under review."""
    return [DirectoryMove(one.path.rstrip(os.sep), (one.old_path or one.path).rstrip(os.sep)) for one in entries]


def rename_directories(moves: Moves) -> None:
    """Rename directories at once: one may get the name of another, also in a circle. Blocks.

    Raises `FileRefusedError`; then none was renamed.
    """
    check_moves(moves)
    done: list[tuple[str, str]] = []
    try:
        for old, new in _in_turn(moves):
            if os.path.isdir(new):
                remove_empty(new)
            make_directories(os.path.dirname(new))
            os.rename(old, new)
            done.append((old, new))
    except OSError as error:
        for old, new in reversed(done):
            with suppress(OSError):
                os.rename(new, old)
        raise in_words(moves[0].old, "renamed", error) from error


def are_made(moves: Moves) -> bool:
    """Return whether directories have these new names already. Blocks."""
    return all(os.path.isdir(one.new) and not os.path.lexists(one.old) for one in moves)


def check_moves(moves: Moves) -> None:
    """Raise `FileRefusedError` if these renames cannot be made at once. Blocks."""
    for one in moves:
        if os.path.islink(one.old) or not os.path.isdir(one.old):
            raise FileRefusedError(f"{one.old} was not renamed: there is no such directory any more")
        if all(one.new != other.old for other in moves):
            _check_free(one)


def _check_free(move: DirectoryMove) -> None:
    """Raise `InTheWayError` if the new name is taken by more than empty directories, and the directory itself."""
    check_above(move.new)
    if not os.path.lexists(move.new):
        return
    found: str | None = move.new
    if os.path.isdir(move.new) and not os.path.islink(move.new):
        found = first_file(move.new, move.old)
    if found is not None:
        raise InTheWayError(
            f"{move.old} was not renamed to {move.new}: {found} is in the way. Keep or reject it first, or move it"
        )


def _in_turn(moves: Moves) -> list[tuple[str, str]]:
    """Return the renames in an order in which each name is free, with other names in between where there is none."""
    found: list[tuple[str, str]] = []
    waiting = [(one.old, one.new) for one in moves]
    while waiting:
        taken = {old for old, _ in waiting}
        free = next(((old, new) for old, new in waiting if new not in taken and not _is_inside(old, new)), None)
        if free is None:
            old, new = waiting.pop(0)
            outer = new if old.startswith(new + os.sep) else old
            between = f"{outer}.acp_nvim-{os.urandom(8).hex()}"
            found.append((old, between))
            waiting.append((between, new))
        else:
            waiting.remove(free)
            found.append(free)
    return found


def _is_inside(old: str, new: str) -> bool:
    """Return whether one of the two names is inside the other."""
    return old.startswith(new + os.sep) or new.startswith(old + os.sep)
