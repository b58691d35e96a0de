"""Maps paths through renames of directories. The path of a directory ends with a slash, so that it is no file's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from acp_nvim.snapshots.snapshot import DirectoryMove

Moves = Sequence[DirectoryMove]
"""Renames that were made at once. An inner one is named as after the outer ones."""


def is_directory(path: str) -> bool:
    """Return whether that is the path of a directory."""
    return path.endswith(os.sep)


def after(path: str, moves: Moves) -> str:
    """Return the present name of what was at `path` before these renames."""
    within = ""
    while True:
        found = [one for one in moves if path.startswith(one.old + os.sep) and one.old.startswith(within)]
        if not found:
            return path
        outermost = max(found, key=lambda one: len(one.old))
        path = outermost.new + path[len(outermost.old) :]
        within = outermost.new + os.sep


def before(path: str, moves: Moves) -> str:
    """Return the name that what is at `path` had before these renames."""
    inside = path
    while True:
        found = [one for one in moves if path.startswith(one.new + os.sep) and inside.startswith(one.new + os.sep)]
        if not found:
            return path
        innermost = max(found, key=lambda one: len(one.new))
        path = innermost.old + path[len(innermost.new) :]
        inside = innermost.old


def name_after(path: str, moves: Moves) -> str:
    """Return where the name `path` is after these renames: it belongs to its directory, whatever it names."""
    head, tail = os.path.split(path.rstrip(os.sep))
    return after(head.rstrip(os.sep) + os.sep, moves) + tail + path[len(path.rstrip(os.sep)) :]


def ordered(moves: Iterable[DirectoryMove]) -> list[DirectoryMove]:
    """Return renames, each given with its earlier and its present name, the outer ones first, as `Moves`."""
    found: list[DirectoryMove] = []
    for one in sorted(set(moves), key=lambda one: (one.old.count(os.sep), one.old)):
        old = name_after(one.old, found)
        if old != one.new:
            found.append(DirectoryMove(old, one.new))
    return found


def grouped(moves: Moves) -> list[list[DirectoryMove]]:
    """Return renames in groups, the outer ones first: in a group one has the name that another had."""
    groups: list[list[DirectoryMove]] = []
    for one in sorted(moves, key=lambda one: (one.new.count(os.sep), one.new)):
        joined = [group for group in groups if any(one.new == other.old or one.old == other.new for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), one])
    return groups


class Renames:
    """Renames of directories that the plugin has made since the last scan, which has found the earlier names."""

    def __init__(self) -> None:
        self._made: list[Moves] = []
        self.found: Moves = ()
        """Renames by others that the present scan has found, and entered."""

    @property
    def count(self) -> int:
        """The number of times that directories were renamed, one or several at once."""
        return len(self._made)

    def add(self, moves: Moves) -> None:
        """Note renames that were made at once."""
        self._made.append(list(moves))

    def forget(self, count: int) -> None:
        """Forget the first `count`, and what the scan has found: its snapshot has the new names."""
        del self._made[:count]
        self.found = ()

    def now(self, path: str, count: int = 0) -> str:
        """Return the present name of what was at `path` after the first `count` times."""
        for moves in self._made[count:]:
            path = after(path, moves)
        return path

    def entered(self, path: str) -> str:
        """Return the present name of what the last scan has found at `path`, as far as it is entered."""
        return after(self.now(path), self.found)

    def was(self, path: str) -> str:
        """Return the name that the last scan has found for what is at `path` now."""
        path = before(path, self.found)
        for moves in reversed(self._made):
            path = before(path, moves)
        return path
