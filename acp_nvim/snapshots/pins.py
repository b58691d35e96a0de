"""Keeps objects in a shadow repository under names, and removes all others."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from acp_nvim.lazy import pattern
from acp_nvim.snapshots.objects import DIRECTORY, FILE, TreeEntry
from acp_nvim.snapshots.snapshot import GoneError, SnapshotError
from acp_nvim.snapshots.store import Store


class ReaderWriterLock:
    """Allows many users, or one exclusive holder; new users wait for a waiting exclusive holder."""

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self._users = 0
        self._empty = anyio.Event()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[None]:
        """Share the lock with other users. Not re-entrant."""
        async with self._turn:
            self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if self._users == 0:
                self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Acquire exclusively: wait until no `use()` holder is left. Not re-entrant."""
        async with self._turn:
            while self._users:
                self._empty = anyio.Event()
                await self._empty.wait()
            yield


CLEAN_SECONDS: Final = 120.0
"""Time in seconds to clean a shadow repository: git packs 100,000 files in half of it."""

_NAME: Final = pattern(r"[A-Za-z0-9_-]+")
_SAME_END: Final = b"-" * 16
"""git packs objects with the same end of the name beside each other, and compares that many bytes of it. Otherwise it
would not find the versions of a file."""


async def hold(store: Store, name: str, blobs: Iterable[str], trees: Sequence[str], *, whole: bool = True) -> None:
    """Keep these objects until `name` is released; without `whole`, those that are not lost.

    Raises `SnapshotError`, `GoneError`.
    """
    # files left out have no objects, and secret ones are in memory only
    kept = [oid for oid in blobs if oid and oid not in store.secrets]
    wanted = {**dict.fromkeys(kept, FILE), **dict.fromkeys(trees, DIRECTORY)}
    missing = await store.missing(list(wanted))
    if missing and not whole:
        lost = set(missing)
        kept, trees = [oid for oid in kept if oid not in lost], [oid for oid in trees if oid not in lost]
        wanted = {oid: mode for oid, mode in wanted.items() if oid not in lost}
    elif missing:  # a ref to a missing object would make every cleaning fail
        raise GoneError(f"the object {missing[0]} is not in the shadow repository")
    await store.copy(kept, trees)  # the user may clean or remove the repository that has them
    await store.blocking(partial(_write_ref, store, _ref(store, name), wanted))


async def release(store: Store, names: Sequence[str]) -> None:
    """Delete the refs with these names, so that cleaning removes what only they hold."""
    refs = [_ref(store, name) for name in names]
    await store.blocking(partial(_unlink, store, refs))


async def clean(store: Store, fresh: dict[str, int]) -> None:
    """Pack the objects of all names and `fresh` (modes by id), and remove the rest. Raises `SnapshotError`.

    The caller must hold the repository exclusively. Removes nothing before the pack is complete.
    """
    ref = store.places.held.with_name("fresh")
    gone = await store.missing(list(fresh))
    wanted = {oid: mode for oid, mode in fresh.items() if oid not in gone}
    try:
        with anyio.fail_after(CLEAN_SECONDS):
            await store.blocking(partial(_write_ref, store, ref, wanted))
            # objects that are only in the user's repository stay there
            names = await store.git(["rev-list", "--objects", "--missing=allow-any", "--all"])
            pack = await store.pack(names, {})
            with anyio.CancelScope(shield=True):
                await store.blocking(partial(_remove_all_but, store.places.objects, pack))
    except TimeoutError as error:
        raise SnapshotError(f"to clean took longer than {CLEAN_SECONDS:g} s") from error
    finally:
        with suppress(OSError):
            ref.unlink()


def _remove_all_but(objects: Path, pack: str) -> None:
    for directory in objects.iterdir():
        for path in directory.iterdir():
            if not path.name.startswith(f"pack-{pack}."):
                path.unlink()


def size(objects: Path) -> int:
    """Return the bytes of all files below `objects`, packed or not. Blocks."""
    found = 0
    for directory, _, names in os.walk(objects):
        for name in names:
            with suppress(OSError):
                found += os.lstat(os.path.join(directory, name)).st_size
    return found


def _unlink(store: Store, refs: Iterable[Path]) -> None:
    before = len(os.listdir(store.places.held))
    for ref in refs:
        ref.unlink(missing_ok=True)
    after = len(os.listdir(store.places.held))
    if after < before:
        store.places.released(1 - after / before)


def _ref(store: Store, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: letters, digits, - and _")
    return store.places.held / name


def _write_ref(store: Store, ref: Path, wanted: dict[str, int]) -> None:
    """Write a ref to a tree of all wanted objects."""
    tree = store.trees.write({oid.encode() + _SAME_END: TreeEntry(mode, oid) for oid, mode in wanted.items()})
    temporary = ref.with_name(f"{ref.name}.{os.urandom(4).hex()}.lock")  # git ignores such names
    temporary.write_text(f"{tree}\n", encoding="ascii")
    temporary.replace(ref)
