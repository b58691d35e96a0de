"""Knows the files of a work tree by inode, so that one which was moved is told from one that comes from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from functools import partial

from acp_nvim.snapshots.birth import is_older
from acp_nvim.snapshots.found_files import FoundFile, inode_of
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.store import Store


class KnownInodes:
    """The inodes, modulo 2 ** 32, of files that were there at the scan before, perhaps under another name.

    A scan that has seen only half of what was done is made again: until then it does not count.
    """

    def __init__(self, store: Store, top: str, index: Index) -> None:
        self.known: set[int] = set()
        self._store = store
        self._top = os.fsencode(top)
        self._index = index
        self._foreign: set[int] = set()  # of files that came from where no snapshot looks
        self._came: set[int] = set()  # those that the scans since have found
        self._new: set[bytes] = set()  # paths that the scan before did not have
        self._since = 0

    def begin(self, beside: Collection[str], since: int) -> None:
        """Begin a scan that is no repetition.

        `beside` are the keys of files of the last scan that the index does not have, `since` is its time in nanoseconds
        since 1970; 0 if it is the first.
        """
        self._foreign |= self._came
        self._came, self._new, self._since = set(), set(), since
        self.known = _inodes(beside) - self._foreign

    async def note(self, found: Sequence[FoundFile], changed: Sequence[bytes], earlier: Collection[bytes]) -> None:
        """Note which files there were, before the index forgets those that have changed. Raises `SnapshotError`.

        `earlier` are the paths of the files that the index does not have.
        """
        if not self._since:
            return
        in_index = set(changed)
        new = [one for one in found if one.key and one.path not in earlier and one.path not in in_index]
        came = await self._store.blocking(partial(_older, self._top, new, self._since))
        left = [path for path in changed if path not in self._new]
        if left and (came or any(not one.key and one.path in in_index for one in found)):
            self.known |= await self._index.inodes(left) - self._foreign
        self._came = (self._came | _inodes(one.key for one in came)) - self.known
        self._new.update(one.path for one in new)

    def forget(self) -> None:
        """Know nothing, as before the first scan: the index has forgotten all files, too."""
        self._foreign, self._came, self._new, self._since = set(), set(), set(), 0


def _inodes(keys: Iterable[str]) -> set[int]:
    return {inode for key in keys if (inode := inode_of(key)) is not None}


def _older(top: bytes, found: Sequence[FoundFile], than: int) -> list[FoundFile]:
    """Return the files that are older than that time, or gone by now, so that they may be. Blocks."""
    paths = [os.path.join(top, one.path) for one in found]
    return [one for one, path in zip(found, paths, strict=True) if is_older(path, than) or not os.path.lexists(path)]
