"""A workspace as a whole: its own work tree, and the work trees inside (submodules, clones), as one tree."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial

from acp_nvim.limits import SNAPSHOT_FILES
from acp_nvim.snapshots.enclosing import Enclosing, enclosing, repository_at
from acp_nvim.snapshots.failures import TOO_MANY, LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.trees import DIRECTORY, EMPTY, Entry
from acp_nvim.snapshots.work_tree import WorkTree


class Whole:
    """That of the directory `root`; directories in `private` are never looked at."""

    def __init__(self, store: Store, root: str, private: Sequence[str]) -> None:
        self.left_out: list[str] = []
        """Absolute paths of the files whose content the last tree does not have."""
        self.looked_at: list[bytes] = []
        """Absolute paths of the files that were looked at for it: those that git had not found to be unchanged."""
        self._store = store
        self._root = root
        self._private = private
        self._work_trees: dict[tuple[str, bytes], WorkTree] = {}
        self._known: Enclosing | None = None
        self._outermost: tuple[WorkTree, Enclosing | None] | None = None
        self._files = 0

    async def tree(self) -> str:
        """All files as they are now. Raises `SnapshotError`."""
        repository = await self._store.blocking(partial(enclosing, self._root))
        self.left_out, self.looked_at = [], []
        self._files = 0
        return await self._see(*await self._chosen(repository)) or EMPTY

    async def forget(self) -> None:
        """Begin from nothing the next time."""
        for work_tree in self._work_trees.values():
            await self._store.blocking(work_tree.forget)

    def indexed(self) -> list[str]:
        """The trees of our indexes."""
        return [tree for one in self._work_trees.values() if (tree := one.index.known_tree) is not None]

    async def save(self) -> None:
        """Let others begin with our indexes again."""
        for work_tree in self._work_trees.values():
            await self._store.blocking(work_tree.index.save_again)

    async def _chosen(self, repository: Enclosing | None) -> tuple[WorkTree, Enclosing | None]:
        """The work tree of the repository that the workspace is in, so that rules above it count."""
        if self._outermost is None or self._known != repository:
            self._outermost = await self._choose(repository)
            self._known = repository
        return self._outermost

    async def _choose(self, repository: Enclosing | None) -> tuple[WorkTree, Enclosing | None]:
        if repository is None or repository.top == self._root:
            return self._at(self._root, b""), repository
        within = self._root[len(os.path.join(repository.top, "")) :]
        outer = self._at(repository.top, os.fsencode(within))
        await outer.rules.refresh(repository)
        if await outer.rules.hide(self._root):  # a repository of dot files, in $HOME, ignores all else
            return self._at(self._root, b""), None
        return outer, repository

    def _at(self, top: str, within: bytes) -> WorkTree:
        if (top, within) not in self._work_trees:
            # indexes of older versions, under other names, have files with secrets
            name = hashlib.sha1(b"2\0" + os.fsencode(top) + b"\0" + within, usedforsecurity=False).hexdigest()[:16]
            self._work_trees[top, within] = WorkTree(self._store, top, within, name, self._private)
        return self._work_trees[top, within]

    async def _see(self, work_tree: WorkTree, repository: Enclosing | None) -> str | None:
        """Its tree with those inside; None when there are no files."""
        objects = os.path.join(repository.common_dir, "objects") if repository is not None else ""
        has_objects = await self._store.blocking(lambda: bool(objects) and self._store.borrow(objects))
        seen = await work_tree.see(repository, SNAPSHOT_FILES - self._files, takes_over=has_objects)
        self._files += seen.files
        if self._files > SNAPSHOT_FILES:
            raise LimitError(TOO_MANY)
        self.looked_at += [os.path.join(os.fsencode(work_tree.directory), path) for path in seen.looked_at]
        self.left_out += [os.path.join(work_tree.top, os.fsdecode(path)) for path in seen.left_out]
        changes = dict(seen.changes)
        for path in seen.inner:
            changes[path] = await self._inner(os.path.join(work_tree.directory, os.fsdecode(path)))
        return await self._store.change(seen.base, changes)

    async def _inner(self, top: str) -> Entry | None:
        if not await self._store.blocking(partial(os.path.isdir, top)):
            return None  # named in the user's index only, or gone meanwhile
        repository = await self._store.blocking(partial(repository_at, top))
        tree = await self._see(self._at(top, b""), repository)
        return Entry(DIRECTORY, tree) if tree is not None else None
