"""Tells what the ignore rules of an earlier snapshot ignored, whatever the rules are now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.decoders import decode_msgpack
from acp_nvim.snapshots.objects import BLOB, EXECUTABLE, FILE
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.snapshots.snapshot import GitFailedError, GoneError, Snapshot
from acp_nvim.snapshots.store import Store
from acp_nvim.state.private_file import remove_directory

RULES: Final = b".gitignore"
_NOT_IGNORED: Final = b"!"
_NONE_IGNORED: Final = 1
"""Exit code of `git check-ignore` when it ignores none of the paths."""


class TreeRules(msgspec.Struct, frozen=True, array_like=True):
    """The rules of one work tree that are not in the files of the snapshot.

    `directory` is the inspected part of the work tree, relative to the workspace, `within` relative to the top.
    """

    directory: bytes
    within: bytes = b""
    text: bytes = b""
    """Rules outside of the work tree: `core.excludesFile`, `info/exclude`."""
    above: tuple[tuple[bytes, bytes], ...] = ()
    """The paths, relative to the top, and texts of the `.gitignore` files in directories above `within`."""
    tracked: str = ""
    """Identifies the files that are tracked although they are ignored."""


def store_rules(store: Store, rules: Sequence[TreeRules]) -> str:
    """Store the rules of a snapshot; return their id. Blocks."""
    return store.loose.write(BLOB, msgspec.msgpack.encode(sorted(rules, key=lambda one: one.directory)))


async def ignored(store: Store, snapshot: Snapshot, paths: Iterable[bytes]) -> frozenset[bytes]:
    """Return which of these paths, relative to the workspace, the rules at that snapshot ignored.

    A path that ends with a slash is a directory. Rules of the user's that are not known any more ignore nothing; but if
    the files with rules are lost, because the repository is gone, they may have ignored everything. Raises
    `SnapshotError`.
    """
    paths = list(paths)
    try:
        return await _ignored(store, snapshot, paths)
    except GoneError:
        return frozenset(paths)


async def _ignored(store: Store, snapshot: Snapshot, paths: Sequence[bytes]) -> frozenset[bytes]:
    groups: dict[TreeRules, list[bytes]] = {}
    rules = await _rules_of(store, snapshot)
    for path in paths:
        name = path.rstrip(b"/")  # that of a work tree itself is not in it
        inside = [one for one in rules if not one.directory or name.startswith(one.directory + b"/")]
        groups.setdefault(max(inside, key=lambda one: len(one.directory)), []).append(path)
    found: set[bytes] = set()
    for one, some in groups.items():
        found |= await _ignored_in(store, snapshot, one, some)
    return frozenset(found)


async def _rules_of(store: Store, snapshot: Snapshot) -> list[TreeRules]:
    found: list[TreeRules] = []
    if snapshot.rules:
        with suppress(GoneError, msgspec.MsgspecError):
            found = decode_msgpack((await store.read([snapshot.rules]))[0], list[TreeRules])
    return found if any(not one.directory for one in found) else [*found, TreeRules(b"")]


async def _ignored_in(store: Store, snapshot: Snapshot, rules: TreeRules, paths: Sequence[bytes]) -> set[bytes]:
    """Ask git, in a directory that has nothing but the rules."""
    below = {_join(rules.within, path[len(rules.directory) :].lstrip(b"/")): path for path in paths}
    files = dict(rules.above) | await _files_of_rules(store, snapshot, rules, below)
    top = store.places.new_incoming()
    directories = [path for path in below if path.endswith(b"/")]
    try:
        await store.blocking(partial(_lay_out, top, files, directories, rules.text))
        return {below[path] for path in await _ask(store, top, sorted(below))}
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_directory, top)


async def _files_of_rules(
    store: Store, snapshot: Snapshot, rules: TreeRules, paths: Iterable[bytes]
) -> dict[bytes, bytes]:
    """Return the `.gitignore` files that concern these paths, relative to the top."""
    start = len(rules.within) + 1 if rules.within else 0
    directories = {
        b"/".join(names[:end]) for path in paths for names in [path[start:].split(b"/")] for end in range(len(names))
    }
    names = {_join(directory, RULES): _join(rules.directory, directory, RULES) for directory in directories}
    await store.warm(snapshot.id, names.values())
    entries = await store.blocking(lambda: {name: store.trees.find(snapshot.id, path) for name, path in names.items()})
    there = {name: one.oid for name, one in entries.items() if one is not None and one.mode in (FILE, EXECUTABLE)}
    texts = await store.read(list(there.values()))
    return {_join(rules.within, name): text for name, text in zip(there, texts, strict=True)}


def _lay_out(top: Path, files: Mapping[bytes, bytes], directories: Iterable[bytes], text: bytes) -> None:
    """Make the directory of the rules; `directories` exist, so that git knows what they are."""
    work_tree = os.fsencode(top / "tree")
    os.makedirs(work_tree)
    (top / "excludes").write_bytes(text)
    for path in directories:
        os.makedirs(os.path.join(work_tree, path), exist_ok=True)
    for path, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(work_tree, path)), exist_ok=True)
        with open(os.path.join(work_tree, path), "wb") as file:
            file.write(data)


async def _ask(store: Store, top: Path, paths: Sequence[bytes]) -> list[bytes]:
    words = ["-c", f"core.excludesFile={top / 'excludes'}", "check-ignore", "--no-index", "-v", "-z", "--stdin"]
    # check-ignore takes all paths literally, and rejects the variable
    env = {"GIT_LITERAL_PATHSPECS": "0", "GIT_INDEX_FILE": str(top / "index")}
    lines = b"".join(path.rstrip(b"/") + b"\0" for path in paths)
    try:
        answer = await run_git(store.places.directory, words, cwd=str(top / "tree"), env=env, stdin=lines)
    except GitFailedError as error:
        if error.code != _NONE_IGNORED:
            raise
        return []
    rows = iter(answer.split(b"\0")[:-1])
    found = {
        path for _, _, pattern, path in zip(rows, rows, rows, rows, strict=True) if not pattern.startswith(_NOT_IGNORED)
    }
    return [path for path in paths if path.rstrip(b"/") in found]


def _join(*parts: bytes) -> bytes:
    return b"/".join(part for part in parts if part)
