"""Takes snapshots: of one work tree, and of all those in a workspace."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from acp_nvim.limits import SNAPSHOT_FILES
from acp_nvim.snapshots.found_files import FoundFile, as_secret, keep_file, look, looks_secret, private_ones
from acp_nvim.snapshots.index import Index, Names
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, TreeEntry
from acp_nvim.snapshots.run_git import together
from acp_nvim.snapshots.snapshot import TOO_MANY, LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_index import UsersIndex
from acp_nvim.snapshots.users_repository import Enclosing, Rules, Tracked, enclosing, repository_at

SNAPSHOT_BYTES: Final = 1024 * 1024 * 1024
"""What a snapshot may have to read: git takes 25 s for it, and 0.4 GB of the disk."""
FOLD_FILES: Final = 100
"""Changed files that are hashed again or remembered one by one; for more the index is written, which takes 20 ms."""
FOLD_BYTES: Final = 4 * 1024 * 1024
"""Their size: to compress that takes 0.1 s."""

_BEING_WRITTEN: Final = re.compile(rb"\.acp_nvim-[0-9a-f]{16}")
"""The names of files that `acp_nvim.workspace.replacing` is writing just now."""

_REFUSED: Final = re.compile(rb"(?:^|/)(?:\.git|\.\.?)(?:/|$)|^/", re.IGNORECASE)


class WorkTreeState(NamedTuple):
    """A work tree at one moment: a tree and what is changed in it. Paths are relative to the part that is looked at."""

    base: str | None
    changes: dict[bytes, TreeEntry | None]
    inner: list[bytes]
    """Directories that are work trees of their own."""
    looked_at: list[bytes]
    """Files that git named because they are others than in our index."""
    files: int


class WorkTree:
    """The files of `top` that are below `within`, a relative path; b"" for all of them.

    Our index has the files as they were when it was written last; the few that are others since are kept beside it,
    because to write an index takes as long as to look at all files.
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
        self._indexed: frozenset[bytes] = frozenset()  # those of the user's index, though ignored, that ours has

    def __repr__(self) -> str:
        return f"<WorkTree {self.top} within {self._within!r}>"

    @property
    def directory(self) -> str:
        """The path of the part of the work tree that snapshots are taken of."""
        return os.path.join(self.top, os.fsdecode(self._within)) if self._within else self.top

    async def see(self, repository: Enclosing | None, room: int, *, takes_over: bool) -> WorkTreeState:
        """What there is now; `room` is the number of files that there may be. Raises `SnapshotError`.

        `takes_over`: the user's index and objects may be used.
        """
        await self.rules.refresh(repository)
        tracked, names = await together(
            lambda: self.rules.tracked(repository), lambda: self._begin(repository if takes_over else None, room)
        )
        if names is not None:  # all that the user's index has is in ours, but for some
            self._indexed = tracked.files - set(names.others)
        number = await self._store.blocking(self.index.start) or 0
        if names is None:
            names = await self.index.differences(max(0, room - number))
        named = {*names.changed, *names.others, *tracked.inner, *(tracked.files - self._indexed)}
        ours = [path for path in named if self._is_ours(path)]
        files = [path for path in ours if not path.endswith(b"/")]
        found = await self._store.blocking(partial(look, os.fsencode(self.top), files))
        found = await self._hide_secrets(found, repository)
        if self._is_much(found):
            await self._fold(found, tracked)
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

    async def _begin(self, repository: Enclosing | None, room: int) -> Names | None:
        """Make our index of the user's when there is none of ours yet; returns what differs, then."""
        is_there = await self._store.blocking(self.index.start) is not None
        if is_there or repository is None or not self._takes_over:
            return None
        settings = await self.rules.settings(repository)
        users = UsersIndex(self._store, repository, settings, self.index.own, self._within)
        return await self.index.take_over(users, room, self._is_ours)

    async def _hide_secrets(self, found: Sequence[FoundFile], repository: Enclosing | None) -> list[FoundFile]:
        """Leave out those that look secret, and remember what they are."""
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
        await self._store.blocking(partial(self._store.secrets.look, top, secret))
        return hidden

    def forget(self) -> None:
        """Begin from nothing the next time, not even from the user's index. Blocks."""
        self._takes_over = False
        self.index.forget()
        self._kept = {}
        self._indexed = frozenset()

    def _is_ours(self, path: bytes) -> bool:
        """Not what git would refuse, and not the places of the plugin."""
        if _REFUSED.search(path):
            return False
        if b".acp_nvim-" in path and _BEING_WRITTEN.fullmatch(os.path.basename(path)):
            return False
        return not any(path == private or path.startswith(private + b"/") for private in self._private)

    def _below(self, path: bytes) -> bytes:
        return path[len(self._within) + 1 :] if self._within else path

    def _is_much(self, found: Sequence[FoundFile]) -> bool:
        """Whether the index is worth to be written. Raises `LimitError`."""
        new = [one for one in found if one.key and one.left_out is None and self._key(one.path) != one.key]
        gone = sum(not one.key and one.path not in self._kept for one in found)
        size = sum(one.size for one in new)
        if size > SNAPSHOT_BYTES:
            raise LimitError(f"the files that are new or changed have more than {SNAPSHOT_BYTES >> 20} MB")
        return len(new) + gone > FOLD_FILES or size > FOLD_BYTES

    def _key(self, path: bytes) -> str:
        return self._kept[path][0] if path in self._kept else ""

    async def _fold(self, found: Sequence[FoundFile], tracked: Tracked) -> None:
        """Bring the index up to the files."""
        await self.index.add(sorted(one.path for one in found if _is_for_index(one)))
        there = {one.path for one in found if one.key and _is_for_index(one)}
        self._indexed = (self._indexed - {one.path for one in found}) | (tracked.files & there)
        self._kept = {}

    def _keep(self, found: Sequence[FoundFile]) -> dict[bytes, TreeEntry | None]:
        """Beside the index. In a thread."""
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


class Whole:
    """Takes snapshots of all below `root`; directories in `private` are never looked at."""

    def __init__(self, store: Store, root: str, private: Sequence[str]) -> None:
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
        self.looked_at = []
        self._files = 0
        return await self._see(*await self._chosen(repository)) or EMPTY

    async def forget(self) -> None:
        """Forget all indexes, so that the next snapshot reads every file again."""
        for work_tree in self._work_trees.values():
            await self._store.blocking(work_tree.forget)

    def indexed(self) -> list[str]:
        """The ids of the trees that our indexes of the work trees hold, of those where it is known."""
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
        changes = dict(seen.changes)
        for path in seen.inner:
            changes[path] = await self._inner(os.path.join(work_tree.directory, os.fsdecode(path)))
        return await self._store.change(seen.base, changes)

    async def _inner(self, top: str) -> TreeEntry | None:
        if not await self._store.blocking(partial(os.path.isdir, top)):
            return None  # named in the user's index only, or gone meanwhile
        repository = await self._store.blocking(partial(repository_at, top))
        tree = await self._see(self._at(top, b""), repository)
        return TreeEntry(DIRECTORY, tree) if tree is not None else None
