"""Looks at the directories of a first snapshot while git still compares its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial

from acp_nvim.snapshots import comparing
from acp_nvim.snapshots.directories import Directories, Inode, parents
from acp_nvim.snapshots.store import Store


class FirstDirectories:
    """The directories of a snapshot of `root` that began at `began`, in nanoseconds since 1970."""

    def __init__(self, root: str, began: int) -> None:
        self._root = root
        self._began = began
        self._inodes: dict[bytes, Inode] = {}
        self._named: set[bytes] = set()
        self._others: dict[bytes, Sequence[bytes]] = {}

    def look(self, place: bytes, names: Sequence[bytes]) -> None:
        """Look at the directories that the user's index names for the work tree at `place`. Blocks.

        They are relative to `place`, and that is relative to the workspace.
        """
        self._look(os.path.join(place, name) for name in names)
        self._named.add(place)

    def scanned(self, place: bytes, files: Sequence[bytes]) -> None:
        """Note that a work tree has been scanned, and which files (relative to it) the index did not have as they are.

        So these may be in other directories.
        """
        self._others[place] = files

    async def complete(self, store: Store, tree: str) -> Directories:
        """Return the directories of the snapshot, which is that tree. Raises `SnapshotError`."""
        if self._others.keys() <= self._named:
            files = [os.path.join(place, path) for place, paths in self._others.items() for path in (b"file", *paths)]
            names = {name for path in files for name in parents(path)}
        else:
            names = set(await comparing.directories(store, tree))
        await store.blocking(partial(self._look, names - self._inodes.keys()))
        return Directories(self._root, self._began, self._inodes)

    def _look(self, names: Iterable[bytes]) -> None:
        self._inodes |= Directories.look(self._root, self._began, names).inodes
