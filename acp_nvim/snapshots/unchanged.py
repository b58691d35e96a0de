"""Files that only one of two snapshots has, although they were there all the time: ignored for one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from acp_nvim.snapshots.snapshot import Changed, Snapshot
from acp_nvim.snapshots.trees import DIRECTORY, TreeEditor

CLOCK_NS: Final = 50_000_000
"""How far the times of files may be behind the clock."""


def without_unchanged(
    trees: TreeEditor, root: str, changed: Iterable[Changed], old: Snapshot, new: Snapshot
) -> list[Changed]:
    """`changed` without those: to reject a created file deletes it, so that it must be one that was created.

    Such a file, and every directory of it that the other snapshot does not have, was not changed since before both.
    Blocks; raises `GoneError`.
    """
    look = _Look(trees, root, min(old.time, new.time) - CLOCK_NS)
    told = [rest for one in changed for rest in _rest(look, one, old.id, new.id)]
    return sorted(told, key=lambda one: one.path)


def _rest(look: _Look, one: Changed, old: str, new: str) -> Iterator[Changed]:
    """What is left of it."""
    source = one.old_path or one.path
    appears = one.before is None or one.old_path is not None
    disappears = one.after is None or one.old_path is not None
    kept = appears and look.was_there(one.path, old)
    left = disappears and look.was_there(source, new)
    if not kept and not left:
        yield one
    elif one.old_path is not None and not left:
        yield Changed(source, one.before, None)
    elif one.old_path is not None and not kept:
        yield Changed(one.path, None, one.after)


class _Look:
    """At the disk as it is now."""

    def __init__(self, trees: TreeEditor, root: str, since: int) -> None:
        self._trees = trees
        self._root = root
        self._since = since
        self._known: dict[tuple[str, bytes], bool] = {}

    def was_there(self, path: str, without: str) -> bool:
        """Whether the file, and its directories that the tree `without` does not have, were changed before `since`."""
        relative = os.fsencode(os.path.relpath(path, self._root))
        while self._is_old(relative):
            relative = os.path.dirname(relative)
            if not relative or self._has_directory(without, relative):
                return True
        return False

    def _is_old(self, relative: bytes) -> bool:
        try:
            return os.lstat(os.path.join(os.fsencode(self._root), relative)).st_ctime_ns < self._since
        except OSError:
            return False

    def _has_directory(self, tree: str, relative: bytes) -> bool:
        if (tree, relative) not in self._known:
            found = self._trees.find(tree, relative)
            self._known[tree, relative] = found is not None and found.mode == DIRECTORY
        return self._known[tree, relative]
