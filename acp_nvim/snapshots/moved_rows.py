"""Finds which of the files that differ between two trees have come with a renamed directory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final, NamedTuple

import msgspec

from acp_nvim.snapshots.directories import Directories, parents
from acp_nvim.snapshots.index import FEW_PATHS
from acp_nvim.snapshots.objects import DIRECTORY, TreeEditor, TreeEntry
from acp_nvim.snapshots.renames import Move, exchanged, find_origins, lost_places, move_of, moved_files, unhidden_with
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import GitFailedError, GoneError, Snapshot
from acp_nvim.snapshots.store import Store

GONE: Final = "what the files were is not known any more, because the repository was removed or replaced"


class Row(msgspec.Struct, frozen=True):
    """A file that differs between two trees; paths are relative."""

    path: bytes
    before: TreeEntry | None
    after: TreeEntry | None
    old_path: bytes | None = None


def parse_raw(answer: bytes) -> Iterator[Row]:
    """Parse rows of `:<mode> <mode> <oid> <oid> <status>` and one path, or two for a rename."""
    words = iter(answer.split(b"\0")[:-1])
    for row in words:
        old_mode, new_mode, old_oid, new_oid, status = row[1:].decode().split(" ")
        path = next(words)
        before, after = entry(old_mode, old_oid), entry(new_mode, new_oid)
        if status.startswith("R"):
            yield Row(next(words), before, after, path)
        else:
            yield Row(path, before, after)


def entry(mode: str, oid: str) -> TreeEntry | None:
    """Return the entry that git writes as an octal mode and an id; None for no file, whose mode is zero."""
    return None if mode == "000000" else TreeEntry(int(mode, 8), oid)


class Moved(NamedTuple):
    """What has moved with directories: files by their present path, and other directories by both names.

    `shown` are files that were ignored in one of these others, and have not changed; `maybe_new` have changed, or are
    new; `surely_new` are new. `directories` are those of the later snapshot; None if those of the earlier one are not
    known.
    """

    directories: Directories | None
    files: Mapping[bytes, Move]
    others: Sequence[tuple[bytes, bytes]]
    shown: Mapping[bytes, tuple[bytes, bytes]]
    maybe_new: Collection[bytes]
    surely_new: Collection[bytes]


async def find_moved(
    store: Store, earlier: Directories, old: Snapshot, new: Snapshot, rows: list[Row], began: int
) -> Moved:
    """Return what has moved with directories; `earlier` are those of `old`.

    Adds `rows` for files that were made again, as they were, where one was taken along. The turn began at `began`, in
    nanoseconds since 1970. Raises `SnapshotError`, `GoneError`.
    """
    while True:
        moved = await store.blocking(partial(_look_at_directories, store.trees, earlier, old, new, rows, began))
        pairs = {*moved.others, *((move.directory_old, move.directory_new) for move in moved.files.values())}
        same = await _same_in_others(store, earlier, old, new, pairs, {row.path for row in rows})
        if not same:
            break
        rows += same
    left = {before for before, now in pairs if before != now}
    rows[:] = [row for row in rows if row.before != row.after or not left.isdisjoint(parents(row.path))]
    return moved


def _look_at_directories(
    trees: TreeEditor, earlier: Directories, old: Snapshot, new: Snapshot, rows: list[Row], began: int
) -> Moved:
    """Do what `find_moved` does, but for files that are the same. Blocks.

    Directories without a changed file are those of the old snapshot.
    """
    names = {b"", *(name for row in rows for name in parents(row.path))}
    directories = earlier.updated(new.time, names).settled()
    created = [row.path for row in rows if row.after is not None]
    origins = find_origins(earlier, directories, {os.path.dirname(path) for path in created})
    gone = {row.path for row in rows if row.before is not None}
    for path in {move.old for move in map(partial(move_of, origins), created) if move is not None} - gone:
        again = trees.find(old.id, path)
        if again is not None and again.mode != DIRECTORY:
            rows.append(Row(path, again, again))
            gone.add(path)
    moves = moved_files(origins, gone, created)
    others = [path for path in created if path not in moves]
    unhidden = {path: pair for path in others if (pair := unhidden_with(earlier, origins, path)) is not None}
    more = {*unhidden.values()}
    while True:
        pairs = {(move.directory_old, move.directory_new) for move in moves.values()}
        more -= pairs
        with_these = exchanged(earlier, directories, pairs | more)
        # what is gone from these is elsewhere, perhaps ignored
        left = {origin for origin, _ in (*pairs, *more, *with_these)}
        lost = lost_places(gone - {move.old for move in moves.values()}, left)
        if lost.isdisjoint(name for _, name in pairs | more):
            break
        moves = {path: move for path, move in moves.items() if move.directory_new not in lost}
        more = {pair for pair in more if pair[1] not in lost}
    new_ones = {row.path for row in rows if row.before is None and unhidden.get(row.path) in more}
    shown = {path: unhidden[path] for path in new_ones if earlier.is_unchanged(path, began)}
    earlier_names = {path: unhidden[path][0] + path[len(unhidden[path][1]) :] for path in new_ones - shown.keys()}
    surely_new = {path for path, name in earlier_names.items() if earlier.surely_lacked(name)}
    return Moved(directories, moves, [*more, *with_these], shown, earlier_names.keys() - surely_new, surely_new)


async def _same_in_others(
    store: Store,
    earlier: Directories,
    old: Snapshot,
    new: Snapshot,
    pairs: Iterable[tuple[bytes, bytes]],
    known: Collection[bytes],
) -> list[Row]:
    """Return the files but for `known` that are as they were, in a directory that is another one of that name.

    They are new there, and what was in the directory of before is deleted, or is elsewhere. `pairs` are the renames of
    directories: the names of both sides may be those of others now.
    """
    both = {name for pair in pairs if pair[0] != pair[1] for name in pair}
    names = [os.path.join(name, b"") for name in both if name in earlier.inodes and earlier.now(name) is not None]
    if not names:
        return []

    def select(lines: Iterable[bytes]) -> list[Row]:
        found = []
        for line in lines:
            words, _, path = line.partition(b"\t")
            if path not in known and not is_there(os.path.dirname(path)):
                mode, _, oid = words.decode().split(" ")
                found.append(Row(path, entry(mode, oid), entry(mode, oid)))
        return found

    @cache
    def is_there(name: bytes) -> bool:
        inode = earlier.now(name)
        return inode is None or inode.is_same(earlier.inodes.get(name))

    words = [os.fsdecode(name) for name in names] if len(names) <= FEW_PATHS else []
    list_files = partial(run_git, store.places.directory, env=store.borrowing)
    try:
        # a name may begin with a dash
        before, after = [await list_files(["ls-tree", "-r", "-z", "--", tree, *words]) for tree in (old.id, new.id)]
    except GitFailedError as error:
        raise GoneError(GONE) from error
    return await store.blocking(partial(select, {*before.split(b"\0")[:-1]} & {*after.split(b"\0")}))


def without_moved(rows: Sequence[Row], moved: Moved) -> list[Row]:
    """Return the rows without what has moved with directories."""
    sources = {move.old for move in moved.files.values()}
    rest = [
        msgspec.structs.replace(
            row,
            before=None if row.path in sources else row.before,
            after=None if row.path in moved.files or row.path in moved.shown else row.after,
        )
        for row in rows
    ]
    return [row for row in rest if row.before is not None or row.after is not None]
