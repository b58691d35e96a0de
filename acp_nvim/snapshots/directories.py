"""Knows the directories of a snapshot by inode, so that a renamed directory is found, and when it came to its place.

Renaming a directory changes no file in it: neither content nor times. It changes the directory's own change time, and
the modification times of the directories that it left and came to. Entries that are created later update them again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from acp_nvim.file_time import is_behind_link, last_change

CLOCK_NS: Final = 50_000_000
"""Nanoseconds by which the times of files may be behind the clock."""
LOOKED_AT_ENTRIES: Final = 1000
"""Entries of a directory among which an old one is looked for: 2 ms."""


class Inode(msgspec.Struct, frozen=True):
    """The identity of a directory, and the time of its last new, renamed or deleted entry (ns since 1970)."""

    device: int
    number: int
    modified: int = 0

    def is_same(self, other: Inode | None) -> bool:
        """Return whether both are the same directory, unless its number was given to a new one."""
        return other is not None and (self.device, self.number) == (other.device, other.number)


class Placed(msgspec.Struct, frozen=True):
    """When the directories above a path came there: after `earliest`, not after `latest` (nanoseconds since 1970)."""

    earliest: int
    latest: int
    is_move: bool
    """Whether one of them had another place in the earlier snapshot."""


class ChangeTime(msgspec.Struct, frozen=True):
    """When what is at a path changed last, in ns since 1970; `size` in bytes, None if there is no regular file.

    `earliest` is None if that time is known; else it may have been at any time since. `other` is another change of the
    same file: it was edited in a directory that was renamed.
    """

    time: int
    size: int | None
    earliest: int | None = None
    other: int | None = None


def change_time(path: str, earlier: Directories | None, since: int) -> ChangeTime:
    """Return when what is at an absolute path changed, as far as it is known. Blocks.

    `earlier` are the directories of the last snapshot, `since` its time in nanoseconds since 1970. A file that was not
    touched since then, in a directory that was not there, changed when that directory came there.
    """
    is_there = os.path.lexists(path)
    changed, size = last_change(path)
    if is_there and is_behind_link(path):
        is_there, changed, size = False, _link_time(path), None
    placed = None if earlier is None else earlier.placed(path)
    if placed is None:
        return ChangeTime(changed, size, None if is_there else since)
    if not is_there or changed < placed.earliest:
        return ChangeTime(placed.latest, size, placed.earliest)
    return ChangeTime(changed, size, None, placed.latest if placed.is_move else None)


def _link_time(path: str) -> int:
    """Return when the outermost link among the directories of a path was made or changed last, or 0."""
    name = os.sep
    for word in path.split(os.sep)[1:-1]:
        name = os.path.join(name, word)
        try:
            if os.path.islink(name):
                return os.lstat(name).st_ctime_ns
        except OSError:
            return 0
    return 0


class Directories:
    """The directories below `root`, a real path, that a snapshot begun at `time` has; `inodes` by relative path."""

    def __init__(self, root: str, time: int, inodes: Mapping[bytes, Inode]) -> None:
        self.root = os.fsencode(root)
        self.time = time
        self.inodes = inodes
        self._paths: dict[tuple[int, int], bytes] | None = None

    @classmethod
    def look(cls, root: str, time: int, names: Iterable[bytes]) -> Directories:
        """Look at these directories (relative paths), and at `root` itself. Blocks."""
        top = os.fsencode(root)
        found = {name: inode for name in (b"", *names) if (inode := inode_at(os.path.join(top, name))) is not None}
        return cls(root, time, found)

    def updated(self, time: int, names: Iterable[bytes]) -> Directories:
        """Return the directories of the next snapshot, begun at `time`; others than `names` are the same. Blocks."""
        inodes = dict(self.inodes)
        for name in names:
            inode = inode_at(self.path(name))
            if inode is None:
                inodes.pop(name, None)
            else:
                inodes[name] = inode
        return Directories(os.fsdecode(self.root), time, inodes)

    def path(self, name: bytes) -> bytes:
        """Return the absolute path of a directory."""
        return os.path.join(self.root, name) if name else self.root

    def find(self, inode: Inode) -> bytes | None:
        """Return where that directory is; None if the snapshot does not have it."""
        if self._paths is None:
            self._paths = {(one.device, one.number): name for name, one in self.inodes.items()}
        return self._paths.get((inode.device, inode.number))

    def placed(self, path: str) -> Placed | None:
        """Return when the directories above an absolute path, as they are now, came there since this snapshot.

        None if they were there then, or if there are none. Blocks.
        """
        latest, is_move = 0, False
        for name in self._above(path):
            inode = inode_at(self.path(name))
            if inode is None:
                break
            if inode.is_same(self.inodes.get(name)):
                continue
            left = self.find(inode)
            latest = max(latest, _latest_move(self.path(name), None if left is None else self.path(left)))
            is_move = is_move or left is not None
        return Placed(self.time - CLOCK_NS, latest, is_move) if latest >= self.time - CLOCK_NS else None

    def _above(self, path: str) -> list[bytes]:
        """Return the names of the directories above an absolute path, the outermost first; none outside of `root`."""
        whole, top = os.fsencode(path), os.path.join(self.root, b"")
        return [b"", *parents(whole[len(top) :])] if whole.startswith(top) else []


def inode_at(path: bytes) -> Inode | None:
    """Return the identity of the directory at that path; None if there is none, or a link. Blocks."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    return Inode(status.st_dev, status.st_ino, status.st_mtime_ns)


def parents(name: bytes) -> list[bytes]:
    """Return the names of the directories above a relative path, the outermost first."""
    words = name.split(b"/")[:-1]
    return [b"/".join(words[: number + 1]) for number in range(len(words))]


def _latest_move(path: bytes, left: bytes | None) -> int:
    """Return the latest time at which the directory at `path` may have been put there, from `left` if known."""
    times = []
    try:
        times.append(os.lstat(path).st_ctime_ns)
        for parent in (os.path.dirname(path), *([] if left is None else [os.path.dirname(left)])):
            times.append(os.lstat(parent).st_mtime_ns)
    except OSError:
        pass
    return min(times, default=0)


def find_origins(old: Directories, new: Directories, names: Iterable[bytes]) -> dict[bytes, bytes | None]:
    """Return where the directories `names` of `new` were in `old`; None for new ones. Blocks.

    An inode's number may be given to a new directory: it is the same one only if it has old entries, or has kept the
    time of its last entry, or if nothing is at its earlier place any more.
    """
    found: dict[bytes, bytes | None] = {b"": b""}
    for name in sorted({part for one in names for part in (*parents(one), one)}, key=lambda one: one.count(b"/")):
        inode = new.inodes.get(name)
        if inode is None:
            found[name] = None
        elif inode.is_same(old.inodes.get(name)):
            found[name] = name
        else:
            origin = old.find(inode)
            found[name] = origin if origin is not None and _has_moved(old, inode, origin, name) else None
    return found


def _has_moved(old: Directories, inode: Inode, origin: bytes, name: bytes) -> bool:
    there = inode_at(old.path(origin))
    if there is not None and there.is_same(inode):
        return False  # another name of it: a mount, or one with other letters that the file system takes for the same
    if there is None or inode.modified == old.inodes[origin].modified:
        return True
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
    origins: Mapping[bytes, bytes | None], gone: Iterable[bytes], created: Iterable[bytes]
) -> dict[bytes, Move]:
    """Return the files that came with a renamed directory, by their new path.

    `gone` are paths whose earlier content is not there any more, `created` those with a content that was not there; a
    path may be both. What was at the new path must have moved, too: otherwise it would be lost.
    """
    gone, found = set(gone), {}
    for path in (created := set(created)):
        move = _move_of(origins, path)
        if move is not None and move.old in gone:
            found[path] = move
    while True:
        sources = {move.old for move in found.values()}
        lost = [path for path in found if path in gone and path not in sources]
        if not lost:
            return found
        for path in lost:
            del found[path]


def _move_of(origins: Mapping[bytes, bytes | None], path: bytes) -> Move | None:
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
