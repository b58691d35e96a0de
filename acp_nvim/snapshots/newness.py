"""Tells files that are new from those that were there before, where an earlier snapshot did not look."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from acp_nvim.snapshots.birth import is_older
from acp_nvim.snapshots.directories import CLOCK_NS, parents
from acp_nvim.snapshots.earlier_rules import RULES, ignored
from acp_nvim.snapshots.moved_rows import Moved
from acp_nvim.snapshots.objects import TreeEditor
from acp_nvim.snapshots.snapshot import UNKNOWN, Blob, Changed, Snapshot
from acp_nvim.snapshots.store import Store


async def with_unknown(
    store: Store,
    root: str,
    changed: Sequence[Changed],
    began: Snapshot,
    old: Snapshot,
    new: Snapshot,
    before: Mapping[str, Blob],
    known: Collection[int],
    was: Callable[[str], str],
    with_directories: Moved,
) -> list[Changed]:
    """Return `changed` with what is known of the files that seem to be new, but may have been there before.

    That are those which the rules ignored when the turn `began` (what only later rules ignore is seen all the same),
    and those that were created before the earlier snapshot `old` and are none of the `known` inodes (modulo 2 ** 32):
    they were moved here from where no snapshot looks. Rejecting a new file deletes it, so these are not new.
    `with_directories` tells which files have come with a directory that was ignored as a whole, and are new or not.
    `before` are contents of ignored files, by absolute path; `was` returns the name of a path in `old`, which the rules
    ignored. Raises `SnapshotError`.
    """
    top = os.path.join(os.fsencode(root), b"")
    appeared = {os.fsencode(one.path)[len(top) :]: one for one in changed if _appears(one)}
    if not appeared:
        return list(changed)
    there: frozenset[bytes] = frozenset()
    may_differ = began.rules != new.rules or any(_is_rule(row) for row in changed)
    if may_differ or await store.blocking(partial(_are_rules_touched, store.trees, top, began, appeared)):
        maybe_there = appeared.keys() - with_directories.surely_new
        names = {path: os.fsencode(was(appeared[path].path))[len(top) :] for path in maybe_there}
        by_rules = await ignored(store, began, names.values())
        there = frozenset(path for path, name in names.items() if name in by_rules)
    created = [os.fsencode(one.path) for one in appeared.values()]
    moved = await store.blocking(partial(_moved_here, created, old.time - CLOCK_NS, known))
    not_new = [*(top + one for one in (*there, *with_directories.maybe_new)), *moved]
    old_ones = {*map(os.fsdecode, not_new), *before}
    return sorted((part for one in changed for part in _judged(one, old_ones, before)), key=lambda one: one.path)


def _appears(one: Changed) -> bool:
    return one.after is not None and (one.before is None or one.old_path is not None)


def _is_rule(one: Changed) -> bool:
    names = (one.path, one.old_path or one.path)
    return any(os.fsencode(os.path.basename(name)) == RULES for name in names)


def _are_rules_touched(trees: TreeEditor, top: bytes, old: Snapshot, paths: Iterable[bytes]) -> bool:
    """Return whether a file with rules about these paths was written or removed since `old`, perhaps as it was. Blocks.

    While git lists files, rules may be others than in both snapshots.
    """
    for directory in {b"", *(name for path in paths for name in parents(path))}:
        rules = os.path.join(directory, RULES)
        try:
            if os.lstat(top + rules).st_ctime_ns >= old.time - CLOCK_NS:
                return True
        except OSError:
            if trees.find(old.id, rules) is not None:
                return True
    return False


def _judged(one: Changed, old_ones: Collection[str], before: Mapping[str, Blob]) -> Iterator[Changed]:
    if one.path not in old_ones or not _appears(one):
        yield one
        return
    if one.old_path is not None:
        yield Changed(one.old_path, one.before, None)
    known = before.get(one.path, UNKNOWN)
    if known != one.after:
        yield msgspec.structs.replace(one, before=known, old_path=None, appears=True)


def _moved_here(paths: Iterable[bytes], since: int, known: Collection[int]) -> list[bytes]:
    """Return the files that are older than `since`. Blocks."""
    return [path for path in paths if _is_moved_here(path, since, known)]


def _is_moved_here(path: bytes, since: int, known: Collection[int]) -> bool:
    if not is_older(path, since):
        return False
    try:
        status = os.lstat(path)
    except OSError:
        return False
    # of a file with another name, only this name would be deleted
    return status.st_nlink == 1 and status.st_ino % (1 << 32) not in known
