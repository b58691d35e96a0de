"""What differs between two snapshots, or two versions of files: names, numbers of lines, patches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import anyio

from acp_nvim.limits import COMPARE_SECONDS, PATCH_BYTES, RENAMES
from acp_nvim.process.git import Output
from acp_nvim.snapshots.failures import GitFailedError, GoneError, SnapshotError
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.secret_files import SecretFiles
from acp_nvim.snapshots.snapshot import Blob, Changed, Snapshot
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.trees import DIRECTORY, EMPTY, LEFT_OUT, Entry
from acp_nvim.snapshots.unchanged import without_unchanged

Pair = tuple[Blob | None, Blob | None]

_NO_FILE: Final = "000000"


async def changes(store: Store, root: str, old: Snapshot, new: Snapshot) -> list[Changed]:
    """The files that differ, by path; renames are found."""
    if old.id == new.id:
        return []
    how = ["-r", "-z", "--raw", "--no-abbrev", "-M", f"-l{RENAMES}", "--no-rename-empty"]
    answer = await _diff_trees(store, how, old.id, new.id)
    found = [_absolute(root, one) for one in _parse_raw(answer, store.secrets)]
    return await store.blocking(partial(without_unchanged, store.trees, root, found, old, new))


async def find(store: Store, root: str, snapshot: Snapshot, path: str) -> Blob | None:
    """One file as it was then."""
    entry = await store.find(snapshot.id, _relative(root, path))
    return None if entry is None or entry.mode == DIRECTORY else _blob(f"{entry.mode:o}", entry.oid, store.secrets)


async def counts(store: Store, pairs: Sequence[Pair]) -> list[tuple[int, int] | None]:
    """Lines added and removed, for each pair; None when it is not text."""
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


async def patch(store: Store, root: str, changed: Sequence[Changed]) -> str:
    """A unified diff of these, up to a limit; contents that are not kept are not in it."""
    kept = [one for one in changed if not _is_left_out(store, (one.before, one.after))]
    before = {_relative(root, one.old_path or one.path): one.before for one in kept}
    after = {_relative(root, one.path): one.after for one in kept}
    old, new = await _tree(store, before), await _tree(store, after)
    output = Output(PATCH_BYTES)
    how = ["-r", "-p", "-M", f"-l{RENAMES}", "--no-color", "--no-ext-diff", "--no-textconv"]
    text = (await _diff_trees(store, how, old, new, output)).decode("utf-8", "replace")
    return f"{text[: text.rfind(chr(10)) + 1]}... (cut here)\n" if output.full else text


async def _diff_trees(store: Store, how: Sequence[str], old: str, new: str, output: Output | None = None) -> bytes:
    try:
        with anyio.fail_after(COMPARE_SECONDS):
            words = ["diff-tree", *how, old, new]
            return await run_git(store.places.directory, words, env=store.borrowing, output=output)
    except TimeoutError as error:
        raise SnapshotError(f"to compare took longer than {COMPARE_SECONDS:g} s") from error
    except GitFailedError as error:
        if await store.missing([old, new]) or "unable to read" in str(error):
            raise GoneError(str(error)) from error
        raise


async def _tree(store: Store, files: dict[bytes, Blob | None]) -> str:
    entries: dict[bytes, Entry | None] = {
        path: Entry(blob.mode, blob.oid) for path, blob in files.items() if blob is not None
    }
    return await store.blocking(partial(store.trees.change, None, entries)) or EMPTY


def _is_left_out(store: Store, pair: Pair) -> bool:
    return any(blob is not None and (not blob.oid or blob.oid in store.secrets) for blob in pair)


def _relative(root: str, path: str) -> bytes:
    return os.fsencode(os.path.relpath(path, root))


def _absolute(root: str, one: Changed) -> Changed:
    old_path = None if one.old_path is None else os.path.join(root, one.old_path)
    return Changed(os.path.join(root, one.path), one.before, one.after, old_path)


def _parse_raw(answer: bytes, secrets: SecretFiles) -> Iterator[Changed]:
    """`:<mode> <mode> <oid> <oid> <status>` and one path, or two of a rename."""
    words = iter(answer.split(b"\0")[:-1])
    for row in words:
        old_mode, new_mode, old_oid, new_oid, status = row[1:].decode().split(" ")
        path = os.fsdecode(next(words))
        before, after = _blob(old_mode, old_oid, secrets), _blob(new_mode, new_oid, secrets)
        if status.startswith("R"):
            yield Changed(os.fsdecode(next(words)), before, after, path)
        else:
            yield Changed(path, before, after)


def _blob(mode: str, oid: str, secrets: SecretFiles) -> Blob | None:
    if mode == _NO_FILE:
        return None
    if int(mode, 8) == LEFT_OUT:
        return secrets.blob(oid) or Blob("", LEFT_OUT)
    return Blob(oid, int(mode, 8))
