"""Compares two snapshots, without the files that were only ignored in one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Final

import anyio

from acp_nvim.limits import COMPARE_SECONDS
from acp_nvim.snapshots.found_files import SecretFiles
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, LEFT_OUT, TreeEditor, TreeEntry
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import Blob, Changed, GitFailedError, GoneError, Snapshot, SnapshotError
from acp_nvim.snapshots.store import Store

CLOCK_NS: Final = 50_000_000
"""Nanoseconds by which the times of files may be behind the clock."""


def without_unchanged(
    trees: TreeEditor, root: str, changed: Iterable[Changed], old: Snapshot, new: Snapshot
) -> list[Changed]:
    """Return `changed` without files that exist unchanged since before both snapshots.

    Such a file was ignored in one snapshot; it must not count as created, because rejecting a created file deletes it.
    The same holds for its directories that the other snapshot lacks. Blocks; raises `GoneError`.
    """
    disk = _UnchangedFiles(trees, root, min(old.time, new.time) - CLOCK_NS)
    remaining = [part for one in changed for part in _remaining(disk, one, old.id, new.id)]
    return sorted(remaining, key=lambda one: one.path)


def _remaining(disk: _UnchangedFiles, one: Changed, old: str, new: str) -> Iterator[Changed]:
    source = one.old_path or one.path
    appears = one.before is None or one.old_path is not None
    disappears = one.after is None or one.old_path is not None
    kept = appears and disk.was_there(one.path, old)
    left = disappears and disk.was_there(source, new)
    if not kept and not left:
        yield one
    elif one.old_path is not None and not left:
        yield Changed(source, one.before, None)
    elif one.old_path is not None and not kept:
        yield Changed(one.path, None, one.after)


class _UnchangedFiles:
    """Looks for files on the disk that have not changed since a time."""

    def __init__(self, trees: TreeEditor, root: str, since: int) -> None:
        self._trees = trees
        self._root = root
        self._since = since
        self._has_directory = cache(self._find_directory)

    def was_there(self, path: str, without: str) -> bool:
        """Whether the file, and its directories that the tree `without` lacks, are unchanged since `since`."""
        relative = _relative(self._root, path)
        while self._is_old(relative):
            relative = os.path.dirname(relative)
            if not relative or self._has_directory(without, relative):
                return True
        return False

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

Pair = tuple[Blob | None, Blob | None]


async def changes(store: Store, root: str, old: Snapshot, new: Snapshot) -> list[Changed]:
    """Return the files that differ, by path, with renames."""
    if old.id == new.id:
        return []
    how = ["-r", "-z", "--raw", "--no-abbrev", "-M", f"-l{RENAMES}", "--no-rename-empty"]
    answer = await _diff_trees(store, how, old.id, new.id)
    found = list(_parse_raw(answer, root, store.secrets))
    return await store.blocking(partial(without_unchanged, store.trees, root, found, old, new))


async def find(store: Store, root: str, snapshot: Snapshot, path: str) -> Blob | None:
    """Return the blob under an absolute path in a snapshot; None when there was no file. Raises `SnapshotError`."""
    entry = await store.find(snapshot.id, _relative(root, path))
    return None if entry is None or entry.mode == DIRECTORY else _blob(f"{entry.mode:o}", entry.oid, store.secrets)


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
        if await store.missing([old, new]) or "unable to read" in str(error):
            raise GoneError(str(error)) from error
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


def _parse_raw(answer: bytes, root: str, secrets: SecretFiles) -> Iterator[Changed]:
    """Parse rows of `:<mode> <mode> <oid> <oid> <status>` and one path, or two for a rename."""
    words = iter(answer.split(b"\0")[:-1])
    for row in words:
        old_mode, new_mode, old_oid, new_oid, status = row[1:].decode().split(" ")
        path = os.path.join(root, os.fsdecode(next(words)))
        before, after = _blob(old_mode, old_oid, secrets), _blob(new_mode, new_oid, secrets)
        if status.startswith("R"):
            yield Changed(os.path.join(root, os.fsdecode(next(words))), before, after, path)
        else:
            yield Changed(path, before, after)


def _blob(mode: str, oid: str, secrets: SecretFiles) -> Blob | None:
    if mode == "000000":
        return None
    if int(mode, 8) == LEFT_OUT:
        return secrets.blob(oid) or Blob("", LEFT_OUT)
    return Blob(oid, int(mode, 8))
