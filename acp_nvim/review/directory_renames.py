"""Renames directories for the user: on disk, in buffers, and in the review."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableSet, Sequence
from contextlib import suppress
from typing import Literal

import anyio.to_thread
import msgspec

from acp_nvim.evidence.evidence import Verdict
from acp_nvim.file_time import is_real_directory
from acp_nvim.review.change import Entry
from acp_nvim.review.moved_directories import below
from acp_nvim.review.obstacles import check_above, first_file, remove_emptied, remove_empty
from acp_nvim.review.records import ChangeRecord, Decided, Version
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.renames import Moves, back, naming, ordered
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
        """Rename directories at once, from their present names. Raises `FileRefusedError`; then none was renamed.

        Those with a verdict are under review then, as renames by an agent.
        """
        ledger, given = self._tracker.ledger, verdicts or {}
        named = ordered(moves)
        told = {one: given[move] for one in named for move in moves if one.new == move.new and move in given}
        async with self._files.alone(*below(ledger, [path for one in moves for path in (one.old, one.new)])):
            await anyio.to_thread.run_sync(rename_directories, moves)
            self._workspace_of(moves[0].new).scanner.renames.add(named)
            self._tracker.directories.moved(named, told)
        for one in named:
            await self._files.editor.file_moved(one.old + os.sep, one.new + os.sep)

    async def tell(self, moves: Moves, action: Literal["rejected", "restored"], sessions: Iterable[int]) -> None:
        """Tell the tracker's listeners of directories that were renamed, under their old and their new names."""
        versions = await anyio.to_thread.run_sync(lambda: [_version(one.new) for one in moves])
        was = {move.old: version for move, version in zip(moves, versions, strict=True)}
        now = {move.new: version for move, version in zip(moves, versions, strict=True)}
        self._tracker.on_renamed(naming(moves))
        for path in was | now:
            decided = Decided(path + os.sep, action, was.get(path), now.get(path), frozenset(sessions))
            self._tracker.on_decided(decided)

    async def remove_emptied(self, path: str, made: MutableSet[str]) -> None:
        """Remove the directories that held `path` and are empty now, as far as they are in `made`, and from that."""
        for one in await anyio.to_thread.run_sync(remove_emptied, path, made):
            made.discard(one)


def _version(directory: str) -> Version:
    """Return what identifies a directory, whatever its name is. Blocks."""
    try:
        status = os.lstat(directory)
    except OSError:
        return Version(())
    return Version((status.st_dev, status.st_ino))


def moves_back(entries: Sequence[Entry]) -> list[DirectoryMove]:
    """Return the renames that undo those of directories under review, each with its present and its earlier name."""
    return back([DirectoryMove((one.old_path or one.path).rstrip(os.sep), one.path.rstrip(os.sep)) for one in entries])


def named_at_once(records: Sequence[ChangeRecord], moves: Moves) -> list[ChangeRecord]:
    """Return the records of these renames, which are made at once, with their names as `Moves`."""
    named = {one.new: one for one in ordered(moves)}
    found: list[ChangeRecord] = []
    for record, move in zip(records, moves, strict=True):
        one = named.get(move.new)
        if one is not None:
            names = {"path": one.new + os.sep, "old_path": one.old + os.sep}
            found.append(msgspec.structs.replace(record, **names, joins=bool(found)))
    return found


def rename_directories(moves: Moves) -> None:
    """Rename directories at once: one may get the name of another, also in a circle. Blocks.

    One of several may be gone: only what is known of its files gets another name then. Raises `FileRefusedError`;
    then none was renamed.
    """
    check_moves(moves)
    moves = [one for one in moves if is_real_directory(one.old)]
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
    there = [one for one in moves if is_real_directory(one.old)]
    if not there and len(moves) == 1:
        raise FileRefusedError(f"{moves[0].old} was not renamed: there is no such directory any more")
    for one in there:
        place = _place_now(one.new, moves)
        if all(place != other.old for other in there):
            _check_free(one, place)


def _place_now(new: str, moves: Moves) -> str:
    """Return where the new name is before these renames: directories above it are renamed, too."""
    outer = [one for one in moves if new.startswith(one.new + os.sep)]
    if not outer:
        return new
    innermost = max(outer, key=lambda one: len(one.new))
    return innermost.old + new[len(innermost.new) :]


def _check_free(move: DirectoryMove, place: str) -> None:
    """Raise `InTheWayError` if the place is taken by more than empty directories, and the directory itself."""
    check_above(place)
    if not os.path.lexists(place):
        return
    found: str | None = place
    if is_real_directory(place):
        found = first_file(place, move.old)
    if found is not None:
        raise InTheWayError(
            f"{move.old} was not renamed to {move.new}: {found} is in the way. Keep or reject it first, or move it"
        )


def _in_turn(moves: Moves) -> list[tuple[str, str]]:
    """Return the renames in an order in which each name is free, with other names in between where there is none."""
    found: list[tuple[str, str]] = []
    waiting = [(one.old, one.new) for one in moves]
    names = sorted((name for one in moves for name in (one.old, one.new)), key=len)
    while waiting:
        # a directory takes along what is in it: what is renamed there goes first
        first = [one for one in waiting if not any(old.startswith(one[0] + os.sep) for old, _ in waiting)]
        ready = next((one for one in first if _is_ready(*one, [other for other in waiting if other != one])), None)
        if ready is not None:
            waiting.remove(ready)
            found.append(ready)
            continue
        old, new = first[0]  # what is in between comes last
        outermost = next(name for name in names if f"{old}{os.sep}".startswith(name + os.sep))
        between = f"{outermost}.acp_nvim-{os.urandom(8).hex()}"
        found.append((old, between))
        waiting.remove((old, new))
        waiting.append((between, new))
    return found


def _is_ready(old: str, new: str, others: Sequence[tuple[str, str]]) -> bool:
    """Return whether the new name is free, and all above it is where it belongs, with these renames still to come."""
    above = tuple(name + os.sep for pair in others for name in pair)
    is_taken = any(new == other for other, _ in others)
    return not (is_taken or _is_inside(old, new) or new.startswith(above))


def _is_inside(old: str, new: str) -> bool:
    """Return whether one of the two names is inside the other."""
    return old.startswith(new + os.sep) or new.startswith(old + os.sep)
