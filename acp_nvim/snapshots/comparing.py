"""Compares two snapshots, without the files that were only ignored in one of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Final

import anyio
import msgspec

from acp_nvim.limits import COMPARE_SECONDS
from acp_nvim.snapshots.directories import CLOCK_NS, Directories, inode_at, parents
from acp_nvim.snapshots.found_files import SecretFiles
from acp_nvim.snapshots.moved_rows import GONE, Moved, Row, entry, find_moved, parse_raw, without_moved
from acp_nvim.snapshots.newness import with_unknown
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, LEFT_OUT, TreeEditor, TreeEntry
from acp_nvim.snapshots.permissions import PermissionTable, different, has_same_usual, with_numbers
from acp_nvim.snapshots.renames import renamed_by
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import (
    UNKNOWN,
    Blob,
    Changed,
    DirectoryMove,
    GitFailedError,
    GoneError,
    Snapshot,
    SnapshotError,
)
from acp_nvim.snapshots.store import Store


def without_unchanged(
    trees: TreeEditor,
    root: str,
    changed: Iterable[Changed],
    old: Snapshot,
    new: Snapshot,
    began: int,
    tables: Sequence[Directories] = (),
) -> list[Changed]:
    """Return `changed` without files that exist unchanged since before both snapshots.

    Such a file was ignored in one snapshot; it must not count as created, because rejecting a created file deletes it.
    One that appears, and was ignored before, must be unchanged since the turn began (`began`, in nanoseconds since
    1970). The same holds for the directories above it, which have to be those of both snapshots (`tables`), or
    unchanged as well. Blocks; raises `GoneError`.
    """
    since = min(old.time, new.time) - CLOCK_NS
    appearing = _UnchangedFiles(trees, root, min(since, began - CLOCK_NS), tables)
    leaving = _UnchangedFiles(trees, root, since, tables)
    remaining = [part for one in changed for part in _remaining(appearing, leaving, one, old.id, new.id)]
    return sorted(remaining, key=lambda one: one.path)


def _remaining(
    appearing: _UnchangedFiles, leaving: _UnchangedFiles, one: Changed, old: str, new: str
) -> Iterator[Changed]:
    source = one.old_path or one.path
    appears = one.before is None or one.old_path is not None
    disappears = one.after is None or one.old_path is not None
    kept = appears and appearing.was_there(one.path, old)
    left = disappears and leaving.was_there(source, new)
    if not kept and not left:
        yield one
    elif one.old_path is not None and not left:
        yield Changed(source, one.before, None)
    elif one.old_path is not None and not kept:
        yield Changed(one.path, None, one.after)


class _UnchangedFiles:
    """Looks for files on the disk that have not changed since a time."""

    def __init__(self, trees: TreeEditor, root: str, since: int, tables: Sequence[Directories]) -> None:
        self._trees = trees
        self._root = root
        self._since = since
        self._tables = tables
        self._has_directory = cache(self._find_directory)
        self._is_placed = cache(self._look_at_directory)

    def was_there(self, path: str, without: str) -> bool:
        """Whether the file, and its directories that the tree `without` lacks, are unchanged since `since`."""
        relative = _relative(self._root, path)
        return self._is_old(relative) and all(self._is_placed(without, name) for name in parents(relative))

    def _look_at_directory(self, tree: str, relative: bytes) -> bool:
        """Whether that directory has been there since `since`, and is no link."""
        inode = inode_at(os.path.join(os.fsencode(self._root), relative))
        if inode is None:
            return False
        if self._tables:  # one that was away when a snapshot looked for directories is not known
            is_there = all(inode.is_same(one.inodes.get(relative)) for one in self._tables)
        else:
            is_there = self._has_directory(tree, relative)
        return is_there or self._is_old(relative)

    def _is_old(self, relative: bytes) -> bool:
        try:
            return os.lstat(os.path.join(os.fsencode(self._root), relative)).st_ctime_ns < self._since
        except OSError:
            return False

    def _find_directory(self, tree: str, relative: bytes) -> bool:
        found = self._trees.find(tree, relative)
        return found is not None and found.mode == DIRECTORY


RENAMES: Final = 400
"""Maximum number of deleted and created files that are compared to find renames with edits: 2 s."""

_RAW: Final = ("-r", "-z", "--raw", "--no-abbrev", "--no-rename-empty")

Pair = tuple[Blob | None, Blob | None]


async def changes(
    store: Store,
    root: str,
    old: Snapshot,
    new: Snapshot,
    before: Mapping[str, Blob],
    known: Collection[int],
    directories: Directories | None = None,
    past: Snapshot | None = None,
) -> tuple[list[Changed], Directories | None]:
    """Return the files that differ, by path, with renames; and the directories of `new`.

    `before` are known contents of files that were ignored, by absolute path; `known` are the inodes (modulo
    2 ** 32) of files that were in `old`, perhaps under another name. `directories` are those of `old`; None if they
    are not known: then renamed directories are not found. `past` is the snapshot at the beginning of the turn: what
    its rules ignored is not new. Raises `SnapshotError`, `GoneError`.
    """
    if old.id == new.id:
        return [], None if directories is None else await store.blocking(partial(directories.updated, new.time, ()))
    few = await store.blocking(partial(store.differing, old.id, new.id))
    if few is None:
        rows = list(parse_raw(await _diff_trees(store, _RAW, old.id, new.id)))
    else:
        rows = [Row(path, *entries) for path, entries in sorted(few)]
    began = old if past is None or past.time >= old.time else past
    moved = Moved(None, {}, [], {}, (), ())
    if directories is not None:
        moved = await find_moved(store, directories, old, new, rows, began.time)
    came = {row.path: row for row in rows}
    found = [
        Changed(
            _absolute(root, path),
            _blob(came[move.old].before, store.secrets),
            _blob(came[path].after, store.secrets),
            _absolute(root, move.old),
            DirectoryMove(_absolute(root, move.directory_old), _absolute(root, move.directory_new)),
        )
        for path, move in moved.files.items()
    ]
    names = {one.moved.old: one.moved.new for one in found if one.moved is not None}
    for old_name, new_name in moved.others:
        move = DirectoryMove(_absolute(root, old_name), _absolute(root, new_name))
        found.append(Changed(os.path.join(move.new, ""), None, None, moved=move))
        names[move.old] = move.new
    for path, (old_name, new_name) in moved.shown.items():
        move = DirectoryMove(_absolute(root, old_name), _absolute(root, new_name))
        found.append(Changed(_absolute(root, path), None, _blob(came[path].after, store.secrets), moved=move))
    before = {renamed_by(names, path): blob for path, blob in before.items()} if names else before
    rest = await _with_renames(store, root, old, new, without_moved(rows, moved))
    rest = [part for one in rest for part in _parted(one, names)]
    tables = [one for one in (directories, moved.directories) if one is not None]
    rest = await store.blocking(partial(without_unchanged, store.trees, root, rest, old, new, began.time, tables))
    was = partial(renamed_by, {new_name: old_name for old_name, new_name in names.items()})
    rest = await with_unknown(store, root, rest, began, old, new, before, known, was, moved)
    return sorted([*found, *rest], key=lambda one: one.path), moved.directories


def _parted(one: Changed, names: Mapping[str, str]) -> Iterator[Changed]:
    """Yield a file that is at the place of another one, which a renamed directory had there, as two changes."""
    if one.before is None or one.after is None or one.old_path is not None or renamed_by(names, one.path) == one.path:
        yield one
    else:
        yield Changed(one.path, one.before, None)
        yield Changed(one.path, None, one.after)


async def _with_renames(store: Store, root: str, old: Snapshot, new: Snapshot, rows: Sequence[Row]) -> list[Changed]:
    """Return the rows, with pairs of deleted and created files that are alike as renames."""
    gone = {row.path: row.before for row in rows if row.after is None}
    created = {row.path: row.after for row in rows if row.before is None}
    if gone and created:
        trees = [await store.change(None, gone), await store.change(None, created)]
        old_tree, new_tree = trees[0] or EMPTY, trees[1] or EMPTY
        try:
            answer = await _diff_trees(store, [*_RAW, "-M", f"-l{RENAMES}"], old_tree, new_tree)
        except GoneError:  # what was only in the user's repository is lost: only exact renames are found
            answer = await _diff_trees(store, [*_RAW, "-M100%"], old_tree, new_tree)
        rows = [row for row in rows if row.before is not None and row.after is not None]
        rows += parse_raw(answer)
    return [
        Changed(
            _absolute(root, row.path),
            _blob(row.before, store.secrets),
            _blob(row.after, store.secrets),
            None if row.old_path is None else _absolute(root, row.old_path),
        )
        for row in rows
    ]


async def with_permissions(
    store: Store,
    root: str,
    changed: Sequence[Changed],
    snapshots: tuple[Snapshot, Snapshot],
    tables: tuple[PermissionTable, PermissionTable],
) -> list[Changed]:
    """Return the changes between two snapshots with the permissions of the files, and those of nothing else."""
    found = []
    for one in changed:
        before = with_numbers(one.before, _relative(root, one.old_path or one.path), tables[0])
        after = with_numbers(one.after, _relative(root, one.path), tables[1])
        found.append(msgspec.structs.replace(one, before=before, after=after))
    known = {_relative(root, path) for one in changed for path in (one.path, one.old_path) if path is not None}
    others: dict[bytes, Changed] = {}
    for path, blob in await _with_other_permissions(store, snapshots[1], tables, known):
        before, after = (with_numbers(blob, path, table) for table in tables)
        if before is not None and after is not None and before.has_other_mode(after):
            others[path] = Changed(os.path.join(root, os.fsdecode(path)), before, after)
    # a file may have come with a directory that was hidden: nothing is known of its permissions
    were = await store.find_all(snapshots[0].id, list(others)) if others else []
    found += [one for one, was in zip(others.values(), were, strict=True) if was is not None and was.mode != DIRECTORY]
    return sorted(found, key=lambda one: one.path)


async def _with_other_permissions(
    store: Store, snapshot: Snapshot, tables: tuple[PermissionTable, PermissionTable], known: Collection[bytes]
) -> list[tuple[bytes, Blob | None]]:
    """Return the files of a snapshot whose permissions may differ, but for `known`; paths are below the workspace."""
    if has_same_usual(*tables):
        paths = [path for path in different(*tables) if path not in known]
        entries = await store.find_all(snapshot.id, paths) if paths else []
        return [(path, _found(entry, store.secrets)) for path, entry in zip(paths, entries, strict=True)]
    # another host has found other ones to be usual: all files have to be compared
    rows = await run_git(store.places.directory, ["ls-tree", "-r", "-z", snapshot.id], env=store.borrowing)
    found = [row.partition(b"\t") for row in rows.split(b"\0")[:-1]]
    modes = {path: words.decode().split(" ") for words, _, path in found}
    return [
        (path, _blob(entry(mode, oid), store.secrets)) for path, (mode, _, oid) in modes.items() if path not in known
    ]


async def before(store: Store, root: str, snapshot: Snapshot, looked_at: Sequence[bytes], moment: int) -> Snapshot:
    """Return a snapshot as of `moment`, a time in nanoseconds since 1970 while it was taken.

    The content of files among `looked_at` (absolute paths) that have changed since is left out. Raises `SnapshotError`.
    """
    unknown = await store.blocking(partial(_changed_since, looked_at, moment - CLOCK_NS))
    start = len(os.path.join(os.fsencode(root), b""))
    tree = await store.change(snapshot.id, {path[start:]: entry for path, entry in unknown.items()})
    return msgspec.structs.replace(snapshot, id=tree or EMPTY)


def _changed_since(paths: Sequence[bytes], since: int) -> dict[bytes, TreeEntry | None]:
    """Return an entry without content for each of the files whose status has changed since then."""
    changed: dict[bytes, TreeEntry | None] = {}
    for path in paths:
        with suppress(OSError):
            if os.lstat(path).st_ctime_ns >= since:
                oid = hashlib.sha1(b"unknown\0" + path, usedforsecurity=False).hexdigest()
                changed[path] = TreeEntry(LEFT_OUT, oid)
    return changed


async def find(store: Store, root: str, snapshot: Snapshot, path: str, table: PermissionTable) -> Blob | None:
    """Return the blob under an absolute path in a snapshot; None when there was no file. Raises `SnapshotError`."""
    relative = _relative(root, path)
    return with_numbers(_found(await store.find(snapshot.id, relative), store.secrets), relative, table)


def _found(entry: TreeEntry | None, secrets: SecretFiles) -> Blob | None:
    return None if entry is None or entry.mode == DIRECTORY else _blob(entry, secrets)


async def counts(store: Store, pairs: Sequence[Pair]) -> list[tuple[int, int] | None]:
    """Return the numbers of added and removed lines for each pair; None for a pair that is not text."""
    names = {b"%06d" % number: pair for number, pair in enumerate(pairs)}
    kept = {name: pair for name, pair in names.items() if not _is_left_out(store, pair)}
    old = await _tree(store, {name: pair[0] for name, pair in kept.items()})
    new = await _tree(store, {name: pair[1] for name, pair in kept.items()})
    answer = await _diff_trees(store, ["-r", "-z", "--numstat"], old, new)
    found: dict[bytes, tuple[int, int] | None] = {}
    for row in answer.split(b"\0")[:-1]:
        added, removed, name = row.split(b"\t")
        found[name] = None if added == b"-" else (int(added), int(removed))
    return [None if _is_left_out(store, pair) else found.get(name, (0, 0)) for name, pair in names.items()]


async def _diff_trees(store: Store, how: Sequence[str], old: str, new: str) -> bytes:
    try:
        with anyio.fail_after(COMPARE_SECONDS):
            return await run_git(store.places.directory, ["diff-tree", *how, old, new], env=store.borrowing)
    except TimeoutError as error:
        raise SnapshotError(f"to compare took longer than {COMPARE_SECONDS:g} s") from error
    except GitFailedError as error:
        if await store.missing([old, new]) or "unable to read" in error.said:
            raise GoneError(GONE) from error
        raise


async def _tree(store: Store, files: dict[bytes, Blob | None]) -> str:
    entries: dict[bytes, TreeEntry | None] = {
        path: TreeEntry(blob.mode, blob.oid) for path, blob in files.items() if blob is not None
    }
    return await store.blocking(partial(store.trees.change, None, entries)) or EMPTY


def _is_left_out(store: Store, pair: Pair) -> bool:
    return any(blob is not None and (not blob.oid or blob.oid in store.secrets) for blob in pair)


def _relative(root: str, path: str) -> bytes:
    return os.fsencode(os.path.relpath(path, root))


def _absolute(root: str, path: bytes) -> str:
    return os.path.join(root, os.fsdecode(path))


def _blob(entry: TreeEntry | None, secrets: SecretFiles) -> Blob | None:
    if entry is None:
        return None
    if entry.mode == LEFT_OUT:
        return secrets.blob(entry.oid) or UNKNOWN
    return Blob(entry.oid, entry.mode)
