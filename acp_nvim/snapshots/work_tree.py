"""Takes snapshots of one work tree."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.snapshots.earlier_rules import RULES, TreeRules, ignored
from acp_nvim.snapshots.found_files import (
    FoundFile,
    as_secret,
    inspect,
    keep_file,
    looks_secret,
    private_ones,
)
from acp_nvim.snapshots.hidden_files import Earlier, Followed, Hidden, hidden_since, lost_directories
from acp_nvim.snapshots.index import Differences, Index, Look
from acp_nvim.snapshots.known_inodes import KnownInodes
from acp_nvim.snapshots.objects import TreeEntry
from acp_nvim.snapshots.permissions import AT_ONCE, Seen, is_fresh
from acp_nvim.snapshots.run_git import together
from acp_nvim.snapshots.snapshot import LimitError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_index import UsersIndex
from acp_nvim.snapshots.users_repository import Enclosing, Rules, Tracked, repository_at

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
    rules: TreeRules
    too_many: list[bytes]
    """Directories that new rules hide, with more new files than are inspected."""
    permissions: Seen
    """Those of the inspected files."""


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
        self._outside: frozenset[bytes] = frozenset()  # what the last scan found and our index has not
        self._keys: dict[bytes, str] = {}  # of the files that the last scan has found to differ from our index
        self._inner: frozenset[bytes] = frozenset()
        self._scanned = 0
        self._rules: TreeRules | None = None
        self._rule_keys: dict[bytes, str] = {}  # of the files with rules that scans have found to differ from our index
        self._rules_changed = 0
        self.inodes = KnownInodes(store, top, self.index)
        self._followed = Followed(store, os.fsencode(top))

    @property
    def directory(self) -> str:
        """The path of the part of the work tree that snapshots are taken of."""
        return os.path.join(self.top, os.fsdecode(self._within)) if self._within else self.top

    def begin(self) -> None:
        """Let the last scan count: the next one is no repetition of it."""
        self.inodes.begin(self._keys.values(), self._scanned)

    async def scan(
        self,
        repository: Enclosing | None,
        room: int,
        look: Look,
        *,
        takes_over: bool,
        place: bytes,
        earlier: Earlier,
    ) -> WorkTreeState:
        """Return the current files, at most `room`. Raises `SnapshotError`.

        `takes_over`: the user's index and objects may be used; `look` is called, in a thread, with the directories of
        that index. `place` is the directory, relative to the workspace. Files that the rules ignore now, but did not at
        the beginning of the turn, or where their directory was, are included.
        """
        started = time.time_ns()
        await self.rules.refresh(repository)
        tracked, names = await together(
            lambda: self.rules.tracked(repository), lambda: self._begin(repository if takes_over else None, room, look)
        )
        if names is not None:  # our index is a copy of the user's
            self._indexed = tracked.files - set(names.others)
        number = await self._store.blocking(self.index.start) or 0
        if names is None:
            names = await self.index.differences(max(0, room - number))
        named = {*names.changed, *names.others, *tracked.inner, *(tracked.files - self._indexed)}
        named |= self._outside | await self._store.blocking(self._inner_left)  # also if a rule ignores them now
        ours, found = await self._inspect(named)
        rules = await self.rules.now(place)
        await self._note_rules(rules, found, started)
        hidden = await self._hidden(earlier, found, place)
        more, found_more = await self._inspect({*hidden.files, *hidden.inner} - named)
        ours, found = ours + more, found + found_more
        in_index = set(names.changed)
        await self.inodes.note(found, names.changed, self._keys)
        found = await self._hide_secrets(found, repository)
        _, back = await self._inspect(self._kept.keys() - {one.path for one in found})  # as our index has them again
        updates = self._should_update_index(found) or bool(found_more)  # so that another host sees them, too
        if updates:
            await self._update_index(found, tracked)
            # git does not name them again if they were replaced meanwhile
            _, back = await self._inspect([one.path for one in found if _is_for_index(one)])
            changes = {one.path: one.left_out for one in found if not _is_for_index(one)}
        else:
            changes = await self._store.blocking(partial(self._keep, found))
        self._note_scan(started, [one for one in found if not (updates and _is_for_index(one))], in_index, ours)
        gone = sum(not one.key and not one.refused for one in found if one.path in in_index)
        return WorkTreeState(
            await self.index.tree(),
            {self._below(path): entry for path, entry in changes.items()},
            [self._below(path[:-1]) for path in ours if path.endswith(b"/")],
            [self._below(path) for path in ours if not path.endswith(b"/")],
            number - gone + sum(not path.endswith(b"/") for path in names.others),
            rules,
            [self._below(path[:-1]) for path in hidden.too_many],
            self._seen([*found, *back]),
        )

    def _seen(self, found: Sequence[FoundFile]) -> Seen:
        fresh = {self._below(one.path) for one in found if one.permissions is not None and is_fresh(one.changed)}
        return Seen({self._below(one.path): one.permissions for one in found}, fresh)

    def _note_scan(
        self, started: int, beside: Sequence[FoundFile], in_index: Collection[bytes], ours: Sequence[bytes]
    ) -> None:
        """Note what the next scan has to know; our index does not have the files `beside` as they are."""
        beside = [one for one in beside if one.key]
        self._keys = {one.path: one.key for one in beside}
        self._outside = frozenset(one.path for one in beside if one.path not in in_index)
        self._inner = frozenset(path for path in ours if path.endswith(b"/"))
        self._scanned = started
        self._followed.note()

    async def names(self) -> list[bytes]:
        """Return the files in our index, relative to the inspected part. Raises `SnapshotError`."""
        if not await self._store.blocking(self.index.start):
            return []
        names = await self._store.blocking(partial(self.index.names_of_few, AT_ONCE))
        names = await self.index.names() if names is None else names
        return [self._below(path) for path in names] if self._within else names

    async def _inspect(self, named: Collection[bytes]) -> tuple[list[bytes], list[FoundFile]]:
        """Return those of these paths that are ours, and the files among them."""
        ours = [path for path in named if self.is_ours(path)]
        files = [path for path in ours if not path.endswith(b"/")]
        return ours, await self._store.blocking(partial(inspect, os.fsencode(self.top), files)) if files else []

    def _inner_left(self) -> frozenset[bytes]:
        """Return the nested work trees of the last scan that still are some. Blocks."""
        return frozenset(
            path for path in self._inner if repository_at(os.path.join(self.top, os.fsdecode(path[:-1]))) is not None
        )

    async def _note_rules(self, rules: TreeRules, found: Sequence[FoundFile], now: int) -> None:
        """Note whether the rules have changed since the last scan, but for a `.gitignore` file that is ignored.

        Our index may have such a file as it has become since the last scan found it, and was about to update the index.
        """
        keys = {one.path: one.key for one in found if os.path.basename(one.path) == RULES}
        _, others = await self._inspect(self._rule_keys.keys() - keys.keys())
        keys |= {one.path: one.key for one in others}
        if self._scanned and (rules != self._rules or keys != self._rule_keys):
            self._rules_changed = now
        self._rules, self._rule_keys = rules, keys

    async def _hidden(self, earlier: Earlier, found: Sequence[FoundFile], place: bytes) -> Hidden:
        """Return the files that are ignored now, and were not; `found` are the others that have changed."""

        def named(path: bytes) -> bytes:
            return os.path.join(place, self._below(path))

        changed = [named(one.path) for one in found]
        there = [one.path for one in found if one.key and one.path not in self._outside]
        visible = [named(path) for path in there if not self._followed.has(path)]
        lost = await self._store.blocking(partial(lost_directories, earlier, changed, visible)) if changed else {}
        hidden = await self._followed.look(earlier, lost, self._ignored)
        past = earlier.past
        if past is None or self._rules_changed < past.time:
            return hidden

        async def was_ignored(paths: Sequence[bytes]) -> frozenset[bytes]:
            names = {named(path): path for path in paths}
            return frozenset(names[name] for name in await ignored(self._store, past, names))

        new = await hidden_since(self._store, os.fsencode(self.top), await self._ignored(), was_ignored)
        return Hidden([*hidden.files, *new.files], [*hidden.inner, *new.inner], new.too_many)

    async def _ignored(self) -> list[bytes]:
        return [path for path in await self.index.ignored() if self.is_ours(path.rstrip(b"/"))]

    async def _begin(self, repository: Enclosing | None, room: int, look: Look) -> Differences | None:
        """Create our index from the user's if we have none; return what differs then."""
        exists = await self._store.blocking(self.index.start) is not None
        if exists or repository is None or not self._takes_over:
            return None
        settings = await self.rules.settings(repository)
        users = UsersIndex(self._store, repository, settings, self.index.own, self._within)
        return await self.index.take_over(users, room, self.is_ours, look)

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
        self._indexed = self._outside = self._inner = frozenset()
        self._keys = {}
        self.inodes.forget()
        self._followed.forget()

    def is_ours(self, path: bytes) -> bool:
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
        for_index = [one for one in found if _is_for_index(one)]
        there = {one.path for one in for_index if one.key}
        await self.index.update(sorted(there), sorted(one.path for one in for_index if not one.key))
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
