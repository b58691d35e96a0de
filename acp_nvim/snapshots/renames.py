"""Finds renames of directories between two snapshots, and maps paths through them.

The path of a directory ends with a slash where it is not to be a file's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from acp_nvim.snapshots.birth import born
from acp_nvim.snapshots.directories import CLOCK_NS, LOOKED_AT_ENTRIES, UNSURE, Directories, Inode, parents
from acp_nvim.snapshots.snapshot import DirectoryMove

Moves = Sequence[DirectoryMove]
"""Renames that were made at once. An inner one is named as after the outer ones."""
Naming = Callable[[str], str]
"""Gives the present name of what was at a path."""


def is_directory(path: str) -> bool:
    """Return whether that is the path of a directory."""
    return path.endswith(os.sep)


def after(path: str, moves: Moves) -> str:
    """Return the present name of what was at `path` before these renames; see `naming` for many paths."""
    return naming(moves)(path)


def naming(moves: Moves) -> Naming:
    """Return a function that gives the present name of what was at a path before these renames."""
    names = {origin: one.new for one, origin in zip(moves, _origins(moves), strict=True)}
    return lambda path: renamed_by(names, path)


def before(path: str, moves: Moves) -> str:
    """Return the name that what is at `path` had before these renames."""
    return renamed_by({one.new: origin for one, origin in zip(moves, _origins(moves), strict=True)}, path)


def renamed_by(names: Mapping[str, str], path: str) -> str:
    """Return the path with another name, of `names`, of the innermost directory above it that has one."""
    end = path.rfind(os.sep)
    while end > 0:
        name = names.get(path[:end])
        if name is not None:
            return name + path[end:]
        end = path.rfind(os.sep, 0, end)
    return path


def _origins(moves: Moves) -> list[str]:
    """Return the name of each directory before all of these renames."""
    by_new = {one.new: one for one in moves}

    def origin(move: DirectoryMove, within: Sequence[DirectoryMove]) -> str:
        above = "" if move.origin else move.old
        while above := os.path.dirname(above).rstrip(os.sep):
            outer = by_new.get(above)
            if outer is not None and outer not in within:
                return origin(outer, [*within, outer]) + move.old[len(above) :]
        return move.origin or move.old

    return [origin(one, [one]) for one in moves]


def name_after(path: str, renamed: Naming) -> str:
    """Return where the name `path` is after renames: it belongs to its directory, whatever it names."""
    head, tail = os.path.split(path.rstrip(os.sep))
    return renamed(head.rstrip(os.sep) + os.sep) + tail + path[len(path.rstrip(os.sep)) :]


def ordered(moves: Iterable[DirectoryMove]) -> list[DirectoryMove]:
    """Return renames, each given with its earlier and its present name, the outer ones first, as `Moves`."""
    found: list[DirectoryMove] = []
    for one in sorted(set(moves), key=lambda one: (one.old.count(os.sep), one.old)):
        old = name_after(one.old, naming(found))
        if old != one.new:
            found.append(DirectoryMove(old, one.new, one.old))
    return found


def back(moves: Moves) -> list[DirectoryMove]:
    """Return renames that undo these, each given with its present and its earlier name."""
    return [DirectoryMove(one.new, origin, one.new) for one, origin in zip(moves, _origins(moves), strict=True)]


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
        self._made: list[tuple[Moves, Naming]] = []
        self.found: Moves = ()
        """Renames by others that the present scan has found, and entered."""

    @property
    def count(self) -> int:
        """The number of times that directories were renamed, one or several at once."""
        return len(self._made)

    def add(self, moves: Moves) -> None:
        """Note renames that were made at once."""
        self._made.append((list(moves), naming(moves)))

    def forget(self, count: int) -> None:
        """Forget the first `count`, and what the scan has found: its snapshot has the new names."""
        del self._made[:count]
        self.found = ()

    def now(self, path: str, count: int = 0) -> str:
        """Return the present name of what was at `path` after the first `count` times."""
        for _, renamed in self._made[count:]:
            path = renamed(path)
        return path

    def entered(self, path: str) -> str:
        """Return the present name of what the last scan has found at `path`, as far as it is entered."""
        return after(self.now(path), self.found)

    def was(self, path: str) -> str:
        """Return the name that the last scan has found for what is at `path` now."""
        path = before(path, self.found)
        for moves, _ in reversed(self._made):
            path = before(path, moves)
        return path


def find_origins(old: Directories, new: Directories, names: Iterable[bytes]) -> dict[bytes, bytes | None]:
    """Return where the directories `names` of `new` were in `old`; None for new ones, and those not known. Blocks.

    An inode's number may be given to a new directory: it is the same one only if it was not born since, where that is
    known, and has old entries, or has kept the time of its last entry, or was born before that time, or if nothing is
    at its earlier place any more.
    """
    found: dict[bytes, bytes | None] = {b"": b""}
    for name in sorted({part for one in names for part in (*parents(one), one)}, key=lambda one: one.count(b"/")):
        inode = new.inodes.get(name)
        if inode is None or inode == UNSURE:
            found[name] = None
        elif inode.is_same(old.inodes.get(name)):
            found[name] = name
        else:
            origin = old.find(inode)
            found[name] = origin if origin is not None and has_moved(old, inode, origin, name) else None
    return found


def has_moved(old: Directories, inode: Inode, origin: bytes, name: bytes) -> bool:
    """Return whether `name`, which has that inode, is the directory `origin` of `old`: see `find_origins`. Blocks."""
    there = old.now(origin)
    if there is not None and there.is_same(inode):
        return False  # another name of it: a mount, or one with other letters that the file system takes for the same
    birth = born(old.path(name))
    if birth is not None and birth >= old.time:
        return False  # a new one, which has got the number
    modified = old.known(origin).modified
    if there is None or inode.modified == modified:
        return True
    if birth is not None and birth <= modified:
        return True  # it was there when an entry was made in it
    try:
        with os.scandir(old.path(name)) as entries:
            for _, entry in zip(range(LOOKED_AT_ENTRIES), entries, strict=False):
                if entry.stat(follow_symlinks=False).st_ctime_ns < old.time - CLOCK_NS:
                    return True
    except OSError:
        return False
    return False


class Move(msgspec.Struct, frozen=True):
    """A file that came from `old` because the directory `directory_old` became `directory_new`; relative paths."""

    old: bytes
    new: bytes
    directory_old: bytes
    directory_new: bytes


def moved_files(
    origins: Mapping[bytes, bytes | None], gone: Collection[bytes], created: Iterable[bytes]
) -> dict[bytes, Move]:
    """Return the files that may have come with a renamed directory, by their new path.

    `gone` are paths whose earlier content is not there any more, `created` those with a content that was not there; a
    path may be both.
    """
    moves = {path: move_of(origins, path) for path in created}
    return {path: move for path, move in moves.items() if move is not None and move.old in gone}


def lost_places(gone: Iterable[bytes], left: AbstractSet[bytes]) -> set[bytes]:
    """Return the directories above files that are gone, and did not leave with one of the directories `left`.

    What came to such a place has not been renamed to it: renamed back, it would leave the place without them.
    """
    lost = [names for names in map(parents, gone) if left.isdisjoint(names)]
    return {name for names in lost for name in names}


def unhidden_with(old: Directories, origins: Mapping[bytes, bytes | None], path: bytes) -> tuple[bytes, bytes] | None:
    """Return the earlier and the present name of the directory with which the file came, if that had been hidden."""
    name = next((one for one in reversed(parents(path)) if origins.get(one) is not None), b"")
    origin = origins.get(name)
    if origin is None or origin == name or origin in old.inodes:
        return None
    while True:  # as long as the directory above has moved with it, and had been hidden, too
        above, last = os.path.split(name)
        before = origins.get(above)
        if not before or before in old.inodes or before == above or os.path.join(before, last) != origin:
            return origin, name
        name, origin = above, before


def exchanged(old: Directories, new: Directories, moves: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return what else has moved with these renames, each with its earlier and its present name. Blocks.

    That are directories without files in the snapshots that took the places of renamed ones, and those in renamed ones
    that have kept their place.
    """
    known = set(moves)
    names = dict(known)
    waiting, found = [one for one, _ in known], list[tuple[bytes, bytes]]()
    while waiting:
        left = waiting.pop()
        for name in dict.fromkeys((left, _present_place(left, names))):
            inode = new.now(name) if new.is_sure(name) else None
            origin = None if inode is None else old.find(inode)
            if inode is None or origin is None or origin == name or (origin, name) in known:
                continue
            if has_moved(old, inode, origin, name):
                known.add((origin, name))
                names[origin] = name
                found.append((origin, name))
                waiting.append(origin)
    taken = [os.path.join(origin, b"") for origin, _ in known if new.now(origin) is not None]
    return found + _kept_places(old, tuple(taken))


def _present_place(name: bytes, names: Mapping[bytes, bytes]) -> bytes:
    """Return where the place `name` is; `names` are the present names of the directories that were renamed."""
    above = next((one for one in reversed(parents(name)) if one in names), None)
    return name if above is None else names[above] + name[len(above) :]


def _kept_places(old: Directories, tops: tuple[bytes, ...]) -> list[tuple[bytes, bytes]]:
    """Return the outermost directories below `tops`, which have moved, that are where they were."""
    found: list[tuple[bytes, bytes]] = []
    for name in sorted(name for name in old.names if name.startswith(tops)) if tops else ():
        if found and name.startswith(os.path.join(found[-1][0], b"")):
            continue
        inode = old.now(name)
        if inode is not None and inode.is_same(old.known(name)):
            found.append((name, name))
    return found


def move_of(origins: Mapping[bytes, bytes | None], path: bytes) -> Move | None:
    """Return how a file came to a path with its directory; None if that is new, or was there. See `find_origins`."""
    directory, name = os.path.split(path)
    origin = origins.get(directory)
    if origin is None or origin == directory:
        return None
    outer, was = directory, origin
    while True:  # as long as the directory above has moved with it
        above, last = os.path.split(outer)
        before = origins.get(above)
        if not outer or before is None or before == above or os.path.join(before, last) != was:
            return Move(os.path.join(origin, name), path, was, outer)
        outer, was = above, before
