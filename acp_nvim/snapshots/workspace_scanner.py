"""Takes snapshots of all work trees in a workspace."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial

from acp_nvim.limits import SNAPSHOT_FILES
from acp_nvim.snapshots.directories import FirstDirectories
from acp_nvim.snapshots.earlier_rules import TreeRules, store_rules
from acp_nvim.snapshots.hidden_files import Earlier
from acp_nvim.snapshots.objects import DIRECTORY, EMPTY, TreeEntry
from acp_nvim.snapshots.permissions import AT_ONCE, CHUNK, Permissions, Seen
from acp_nvim.snapshots.run_git import together
from acp_nvim.snapshots.snapshot import TOO_MANY, LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import Enclosing, enclosing, repository_at
from acp_nvim.snapshots.work_tree import WorkTree, WorkTreeState


class WorkspaceScanner:
    """Takes snapshots of all files below `root`; never inspects the directories `private`."""

    def __init__(self, store: Store, root: str, private: Sequence[str]) -> None:
        self.looked_at: list[bytes] = []
        """Absolute paths of the inspected files: those that git had not found to be unchanged."""
        self.permissions = Permissions(root)
        self._store = store
        self._root = root
        self._private = private
        self._work_trees: dict[tuple[str, bytes], WorkTree] = {}
        self._known: Enclosing | None = None
        self._outermost: tuple[WorkTree, Enclosing | None] | None = None
        self._files = 0
        self._rules: list[TreeRules] = []
        self._scanned: list[WorkTree] = []
        self._scanning: list[WorkTree] = []
        self._earlier = Earlier()
        self._first = FirstDirectories(root, 0)
        self.too_many: list[str] = []
        """Paths of directories that new rules hide, with more new files than are inspected."""
        self.known: set[int] = set()
        """Inodes, modulo 2 ** 32, of files of the last tree but one."""
        self._again = False

    async def tree(self, earlier: Earlier, first: FirstDirectories, *, again: bool = False) -> tuple[str, str]:
        """Return the tree of all files as they are now, and the id of the rules. Raises `SnapshotError`.

        Files that are ignored now, but were not by what is known from `earlier`, are included. Directories are entered
        in `first`. `again`: the last tree does not count.
        """
        repository = await self._store.blocking(partial(enclosing, self._root))
        self.looked_at = []
        self._files = 0
        self._earlier, self._rules, self._scanning, self.too_many, self.known = earlier, [], [], [], set()
        self._first, self._again = first, again
        if self._outermost is None or self._known != repository:
            self._outermost = await self._choose(repository)
            self._known = repository
        look = partial(self.permissions.look_at, self.permissions.directories)
        tree, directories = await together(partial(self._scan, *self._outermost), partial(self._store.blocking, look))
        await self._store.blocking(partial(self.permissions.update_watched, directories))
        self._scanned = self._scanning
        return tree or EMPTY, await self._store.blocking(partial(store_rules, self._store, self._rules))

    async def ignored(self) -> list[bytes]:
        """Return the absolute paths of ignored files; a directory that is ignored as a whole ends with a slash.

        Raises `SnapshotError`.
        """
        found: list[bytes] = []
        for one in self._scanned:
            names = [name for name in await one.index.ignored() if one.is_ours(name.rstrip(b"/"))]
            found += [os.path.join(os.fsencode(one.top), name) for name in names]
        return found

    def unseen(self) -> list[WorkTree]:
        """Return the work trees in which not all permissions have been looked at."""
        return [one for one in self._work_trees.values() if self._top(one) in self.permissions.table.unseen]

    async def read_permissions(self, work_tree: WorkTree, since: int | None = None) -> Seen:
        """Look at the permissions of all files in our index.

        Those that have changed at or after `since` (nanoseconds since 1970) are unknown. Raises `SnapshotError`.
        """
        top, names = self._top(work_tree), await work_tree.names()
        found = Seen({}, set())
        for start in range(0, len(names), CHUNK):
            some = names[start : start + CHUNK]
            found.add(await self._store.blocking(partial(self.permissions.read, top, some, since)))
        return found

    async def all_read(self, work_tree: WorkTree, found: Seen) -> None:
        """Enter what `read_permissions` returned: the permissions of all files of the work tree are known then."""
        await self._store.blocking(partial(self.permissions.all_read, self._top(work_tree), found))

    def _top(self, work_tree: WorkTree) -> bytes:
        """Return the path of a work tree relative to the workspace: b"", or with a slash at its end."""
        return os.fsencode(os.path.relpath(work_tree.directory, self._root) + "/").removeprefix(b"./")

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
        place = os.fsencode(work_tree.directory[len(os.path.join(self._root, "")) :])
        if not self._again:
            work_tree.begin()
        state = await work_tree.scan(
            repository,
            SNAPSHOT_FILES - self._files,
            partial(self._first.look, place),
            takes_over=has_objects,
            place=place,
            earlier=self._earlier,
        )
        self._first.scanned(place, state.looked_at)
        self._files += state.files
        self._rules.append(state.rules)
        self._scanning.append(work_tree)
        self.known |= work_tree.inodes.known
        self.too_many += [os.path.join(work_tree.directory, os.fsdecode(path)) for path in state.too_many]
        if self._files > SNAPSHOT_FILES:
            raise LimitError(TOO_MANY)
        self.looked_at += [os.path.join(os.fsencode(work_tree.directory), path) for path in state.looked_at]
        await self._enter_permissions(work_tree, state)
        changes = dict(state.changes)
        for path in state.inner:
            changes[path] = await self._inner(os.path.join(work_tree.directory, os.fsdecode(path)))
        return await self._store.change(state.base, changes)

    async def _enter_permissions(self, work_tree: WorkTree, state: WorkTreeState) -> None:
        top = self._top(work_tree)
        self.permissions.begin(top)
        if state.files <= AT_ONCE and not self.permissions.is_seen(top):
            await self.all_read(work_tree, await self.read_permissions(work_tree))
        found = state.permissions
        if top:
            numbers = {top + path: number for path, number in found.numbers.items()}
            found = Seen(numbers, {top + path for path in found.fresh})
        await self._store.blocking(partial(self.permissions.update, found))

    async def _inner(self, top: str) -> TreeEntry | None:
        if not await self._store.blocking(partial(os.path.isdir, top)):
            return None  # only in the user's index, or deleted meanwhile
        repository = await self._store.blocking(partial(repository_at, top))
        tree = await self._scan(self._at(top, b""), repository)
        return TreeEntry(DIRECTORY, tree) if tree is not None else None
