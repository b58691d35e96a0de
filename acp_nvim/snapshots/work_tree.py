"""One work tree: which of its files are others than in our index, and what all of them make."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from acp_nvim.limits import FOLD_BYTES, FOLD_FILES, SNAPSHOT_BYTES
from acp_nvim.snapshots.enclosing import Enclosing
from acp_nvim.snapshots.failures import LimitError
from acp_nvim.snapshots.found_files import Found, as_secret, keep_file, look
from acp_nvim.snapshots.index import Index, Names, together
from acp_nvim.snapshots.rules import Rules, Tracked
from acp_nvim.snapshots.secret_files import looks_secret, private_ones
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.trees import Entry
from acp_nvim.snapshots.users_index import UsersIndex

_BEING_WRITTEN: Final = re.compile(rb"\.acp_nvim-[0-9a-f]{16}")
"""The names of files that `acp_nvim.workspace.replacing` is writing just now."""

_REFUSED: Final = re.compile(rb"(?:^|/)(?:\.git|\.\.?)(?:/|$)|^/", re.IGNORECASE)


class Seen(NamedTuple):
    """A work tree at one moment: a tree and what is changed in it. Paths are relative to the part that is looked at."""

    base: str | None
    changes: dict[bytes, Entry | None]
    inner: list[bytes]
    """Directories that are work trees of their own."""
    left_out: list[bytes]
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
        self._kept: dict[bytes, tuple[str, Entry | None]] = {}
        self._takes_over = True
        self._indexed: frozenset[bytes] = frozenset()  # those of the user's index, though ignored, that ours has

    def __repr__(self) -> str:
        return f"<WorkTree {self.top} within {self._within!r}>"

    @property
    def directory(self) -> str:
        """The part that is looked at."""
        return os.path.join(self.top, os.fsdecode(self._within)) if self._within else self.top

    async def see(self, repository: Enclosing | None, room: int, *, takes_over: bool) -> Seen:
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
        return Seen(
            await self.index.tree(),
            {self._below(path): entry for path, entry in changes.items()},
            [self._below(path[:-1]) for path in ours if path.endswith(b"/")],
            [one.path for one in found if one.left_out is not None and not one.is_secret],
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

    async def _hide_secrets(self, found: Sequence[Found], repository: Enclosing | None) -> list[Found]:
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

    def _is_much(self, found: Sequence[Found]) -> bool:
        """Whether the index is worth to be written. Raises `LimitError`."""
        new = [one for one in found if one.key and one.left_out is None and self._key(one.path) != one.key]
        gone = sum(not one.key and one.path not in self._kept for one in found)
        size = sum(one.size for one in new)
        if size > SNAPSHOT_BYTES:
            raise LimitError(f"the files that are new or changed have more than {SNAPSHOT_BYTES >> 20} MB")
        return len(new) + gone > FOLD_FILES or size > FOLD_BYTES

    def _key(self, path: bytes) -> str:
        return self._kept[path][0] if path in self._kept else ""

    async def _fold(self, found: Sequence[Found], tracked: Tracked) -> None:
        """Bring the index up to the files."""
        await self.index.add(sorted(one.path for one in found if _is_for_index(one)))
        there = {one.path for one in found if one.key and _is_for_index(one)}
        self._indexed = (self._indexed - {one.path for one in found}) | (tracked.files & there)
        self._kept = {}

    def _keep(self, found: Sequence[Found]) -> dict[bytes, Entry | None]:
        """Beside the index. In a thread."""
        kept: dict[bytes, tuple[str, Entry | None]] = {}
        for one in found:
            if one.left_out is not None or not one.key:
                kept[one.path] = ("", one.left_out)
            elif self._key(one.path) == one.key:
                kept[one.path] = self._kept[one.path]
            else:
                kept[one.path] = keep_file(self._store.loose, os.fsencode(self.top), one.path)
        self._kept = kept
        return {path: entry for path, (_, entry) in kept.items()}


def _is_for_index(found: Found) -> bool:
    return found.left_out is None and not found.refused
