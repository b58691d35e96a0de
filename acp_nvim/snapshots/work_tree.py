"""Takes snapshots of one work tree, and of all work trees in a workspace."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import SNAPSHOT_FILES
from acp_nvim.snapshots.found_files import FoundFile, as_secret, inspect, keep_file, looks_secret, private_ones
from acp_nvim.snapshots.index import Differences, Index
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, TreeEntry
from acp_nvim.snapshots.run_git import together
from acp_nvim.snapshots.snapshot import TOO_MANY, LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_index import UsersIndex
from acp_nvim.snapshots.users_repository import Enclosing, Rules, Tracked, enclosing, repository_at

SNAPSHOT_BYTES: Final = 1024 * 1024 * 1024
"""Maximum bytes that a snapshot may read: git takes 25 s for it, and 0.4 GB of the disk."""
FOLD_FILES: Final = 100
"""Changed files that are hashed again or remembered one by one; for more, the index is written in 20 ms."""
FOLD_BYTES: Final = 4 * 1024 * 1024
"""Their maximum size in bytes: compressing that takes 0.1 s."""

_BEING_WRITTEN: Final = pattern(rb"\.acp_nvim-[0-9a-f]{16}")
"""Names of temporary files of `acp_nvim.workspace.disk`."""

_REFUSED: Final = pattern(rb"(?:^|/)(?:\.git|\.\.?)(?:/|$)|^/", re.IGNORECASE)


class WorkTreeState(msgspec.Struct, frozen=True):
    """A tree and the changes to it. Paths are relative to the inspected part of the work tree."""

    base: str | None
    changes: dict[bytes, TreeEntry | None]
    inner: list[bytes]
    """Directories that are nested work trees."""
    looked_at: list[bytes]
    """Files that git reported as different from our index."""
    files: int


class WorkTree:
    """The files of `top` below `within`, a relative path; b"" for all of them.

    Our index has the files as of its last write; the few files that have changed since are kept beside it, because
    writing an index takes as long as checking all files.
    """

    def __init__(self, store: Store, top: str, within: bytes, name: str, private: Sequence[str]) -> None:
        self.top = top
        self.index = Index(store, top, within, name, private)
        self.rules = Rules(store, top, within, self.index.excludes, private)
        self._store = store
        self._within = within
        self._private = [os.fsencode(os.path.relpath(path, top)) for path in private]
        self._kept: dict[bytes, tuple[str, TreeEntry | None]] = {}
        self._takes_over = True
        self._indexed: frozenset[bytes] = frozenset()  # ignored files that both the user's index and ours have

    @property
    def directory(self) -> str:
        """The path of the part of the work tree that snapshots are taken of."""
        return os.path.join(self.top, os.fsdecode(self._within)) if self._within else self.top

    async def scan(self, repository: Enclosing | None, room: int, *, takes_over: bool) -> WorkTreeState:
        """Return the current files; `room` is the maximum number of files. Raises `SnapshotError`.

        `takes_over`: the user's index and objects may be used.
        """
        await self.rules.refresh(repository)
        tracked, names = await together(
            lambda: self.rules.tracked(repository), lambda: self._begin(repository if takes_over else None, room)
        )
        if names is not None:  # our index is a copy of the user's
            self._indexed = tracked.files - set(names.others)
        number = await self._store.blocking(self.index.start) or 0
        if names is None:
            names = await self.index.differences(max(0, room - number))
        named = {*names.changed, *names.others, *tracked.inner, *(tracked.files - self._indexed)}
        ours = [path for path in named if self._is_ours(path)]
        files = [path for path in ours if not path.endswith(b"/")]
        found = await self._store.blocking(partial(inspect, os.fsencode(self.top), files))
        found = await self._hide_secrets(found, repository)
        if self._should_update_index(found):
            await self._update_index(found, tracked)
            changes = {one.path: one.left_out for one in found if not _is_for_index(one)}
        else:
            changes = await self._store.blocking(partial(self._keep, found))
        in_index = set(names.changed)
        gone = sum(not one.key and not one.refused for one in found if one.path in in_index)
        return WorkTreeState(
            await self.index.tree(),
            {self._below(path): entry for path, entry in changes.items()},
            [self._below(path[:-1]) for path in ours if path.endswith(b"/")],
            [self._below(path) for path in files],
            number - gone + sum(not path.endswith(b"/") for path in names.others),
        )

    async def _begin(self, repository: Enclosing | None, room: int) -> Differences | None:
        """Create our index from the user's if we have none; return what differs then."""
        exists = await self._store.blocking(self.index.start) is not None
        if exists or repository is None or not self._takes_over:
            return None
        settings = await self.rules.settings(repository)
        users = UsersIndex(self._store, repository, settings, self.index.own, self._within)
        return await self.index.take_over(users, room, self._is_ours)

    async def _hide_secrets(self, found: Sequence[FoundFile], repository: Enclosing | None) -> list[FoundFile]:
        """Leave out the files that look secret, and remember their contents."""
        private = set(private_ones(found))
        private -= await self.rules.which_tracked(repository, sorted(private))
        hidden = [
            as_secret(one)
            if one.left_out is None and one.key[:1] in ("f", "x") and (looks_secret(one.path) or one.path in private)
            else one
            for one in found
        ]
        secret = [one for one in hidden if one.is_secret]
        top = os.fsencode(self.top)
        await self._store.blocking(partial(self._store.secrets.remember, top, secret))
        return hidden

    def forget(self) -> None:
        """Start from nothing the next time, even without the user's index. Blocks."""
        self._takes_over = False
        self.index.forget()
        self._kept = {}
        self._indexed = frozenset()

    def _is_ours(self, path: bytes) -> bool:
        """Whether git would accept the path, and it is not a file of this plugin."""
        if _REFUSED.search(path):
            return False
        if b".acp_nvim-" in path and _BEING_WRITTEN.fullmatch(os.path.basename(path)):
            return False
        return not any(path == private or path.startswith(private + b"/") for private in self._private)

    def _below(self, path: bytes) -> bytes:
        return path[len(self._within) + 1 :] if self._within else path

    def _should_update_index(self, found: Sequence[FoundFile]) -> bool:
        """Whether the changes justify writing the index. Raises `LimitError`."""
        new = [one for one in found if one.key and one.left_out is None and self._key(one.path) != one.key]
        gone = sum(not one.key and one.path not in self._kept for one in found)
        size = sum(one.size for one in new)
        if size > SNAPSHOT_BYTES:
            raise LimitError(f"the files that are new or changed have more than {SNAPSHOT_BYTES >> 20} MB")
        return len(new) + gone > FOLD_FILES or size > FOLD_BYTES

    def _key(self, path: bytes) -> str:
        return self._kept[path][0] if path in self._kept else ""

    async def _update_index(self, found: Sequence[FoundFile], tracked: Tracked) -> None:
        """Update the index to the current files."""
        await self.index.add(sorted(one.path for one in found if _is_for_index(one)))
        there = {one.path for one in found if one.key and _is_for_index(one)}
        self._indexed = (self._indexed - {one.path for one in found}) | (tracked.files & there)
        self._kept = {}

    def _keep(self, found: Sequence[FoundFile]) -> dict[bytes, TreeEntry | None]:
        """Keep the changes beside the index. Blocks."""
        kept: dict[bytes, tuple[str, TreeEntry | None]] = {}
        for one in found:
            if one.left_out is not None or not one.key:
                kept[one.path] = ("", one.left_out)
            elif self._key(one.path) == one.key:
                kept[one.path] = self._kept[one.path]
            else:
                kept[one.path] = keep_file(self._store.loose, os.fsencode(self.top), one.path)
        self._kept = kept
        return {path: entry for path, (_, entry) in kept.items()}


def _is_for_index(found: FoundFile) -> bool:
    return found.left_out is None and not found.refused


class WorkspaceScanner:
    """Takes snapshots of all files below `root`; never inspects the directories `private`."""

    def __init__(self, store: Store, root: str, private: Sequence[str]) -> None:
        self.looked_at: list[bytes] = []
        """Absolute paths of the inspected files: those that git had not found to be unchanged."""
        self._store = store
        self._root = root
        self._private = private
        self._work_trees: dict[tuple[str, bytes], WorkTree] = {}
        self._known: Enclosing | None = None
        self._outermost: tuple[WorkTree, Enclosing | None] | None = None
        self._files = 0

    async def tree(self) -> str:
        """Return the tree of all files as they are now. Raises `SnapshotError`."""
        repository = await self._store.blocking(partial(enclosing, self._root))
        self.looked_at = []
        self._files = 0
        if self._outermost is None or self._known != repository:
            self._outermost = await self._choose(repository)
            self._known = repository
        return await self._scan(*self._outermost) or EMPTY

    async def forget(self) -> None:
        """Forget all indexes, so that the next snapshot reads every file again."""
        for work_tree in self._work_trees.values():
            await self._store.blocking(work_tree.forget)

    def indexed(self) -> list[str]:
        """Return the ids of the known trees of our indexes."""
        return [tree for one in self._work_trees.values() if (tree := one.index.known_tree) is not None]

    async def save(self) -> None:
        """Save our indexes for other hosts again."""
        for work_tree in self._work_trees.values():
            await self._store.blocking(work_tree.index.save_again)

    async def _choose(self, repository: Enclosing | None) -> tuple[WorkTree, Enclosing | None]:
        """Return the work tree of the repository that contains the workspace, so that rules above it apply."""
        if repository is None or repository.top == self._root:
            return self._at(self._root, b""), repository
        within = self._root[len(os.path.join(repository.top, "")) :]
        outer = self._at(repository.top, os.fsencode(within))
        await outer.rules.refresh(repository)
        if await outer.rules.ignores(self._root):  # a repository of dot files in $HOME ignores everything else
            return self._at(self._root, b""), None
        return outer, repository

    def _at(self, top: str, within: bytes) -> WorkTree:
        if (top, within) not in self._work_trees:
            # not the names of older versions, whose indexes have secret files
            name = hashlib.sha1(b"2\0" + os.fsencode(top) + b"\0" + within, usedforsecurity=False).hexdigest()[:16]
            self._work_trees[top, within] = WorkTree(self._store, top, within, name, self._private)
        return self._work_trees[top, within]

    async def _scan(self, work_tree: WorkTree, repository: Enclosing | None) -> str | None:
        """Return the tree of a work tree with those nested in it; None when there are no files."""
        objects = os.path.join(repository.common_dir, "objects") if repository is not None else ""
        has_objects = await self._store.blocking(lambda: bool(objects) and self._store.borrow(objects))
        state = await work_tree.scan(repository, SNAPSHOT_FILES - self._files, takes_over=has_objects)
        self._files += state.files
        if self._files > SNAPSHOT_FILES:
            raise LimitError(TOO_MANY)
        self.looked_at += [os.path.join(os.fsencode(work_tree.directory), path) for path in state.looked_at]
        changes = dict(state.changes)
        for path in state.inner:
            changes[path] = await self._inner(os.path.join(work_tree.directory, os.fsdecode(path)))
        return await self._store.change(state.base, changes)

    async def _inner(self, top: str) -> TreeEntry | None:
        if not await self._store.blocking(partial(os.path.isdir, top)):
            return None  # only in the user's index, or deleted meanwhile
        repository = await self._store.blocking(partial(repository_at, top))
        tree = await self._scan(self._at(top, b""), repository)
        return TreeEntry(DIRECTORY, tree) if tree is not None else None
