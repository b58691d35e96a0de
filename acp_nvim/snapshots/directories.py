"""Knows the directories of a snapshot by inode, so that a renamed directory is found, and when it came to its place.

Renaming a directory changes no file in it: neither content nor times. It changes the directory's own change time, and
the modification times of the directories that it left and came to. Entries that are created later update them again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final

import msgspec

from acp_nvim.file_time import TICK_NS, last_change
from acp_nvim.snapshots.birth import born
from acp_nvim.snapshots.earlier_rules import RULES
from acp_nvim.snapshots.store import Store

CLOCK_NS: Final = 50_000_000
"""Nanoseconds by which the times of files may be behind the clock."""
GONE_DIRECTORIES: Final = 1000
"""Directories that have left their place of which the inodes are remembered."""
LOOKED_AT_ENTRIES: Final = 1000
"""Entries of a directory among which an old one is looked for: 2 ms."""


class Inode(msgspec.Struct, frozen=True):
    """The identity of a directory, the time of its last new, renamed or deleted entry, and that of its last change.

    Times are in nanoseconds since 1970. `names` are those of all that was in it, if they are known.
    """

    device: int
    number: int
    modified: int = 0
    changed: int = 0
    names: frozenset[bytes] | None = None

    def is_same(self, other: Inode | None) -> bool:
        """Return whether both are the same directory, unless its number was given to a new one."""
        return other is not None and (self.device, self.number) == (other.device, other.number)


UNSURE: Final = Inode(0, 0)
"""Stands for a directory that has changed since the snapshot began, and is the same as no other."""


class Placed(msgspec.Struct, frozen=True):
    """When the directories above a path came there: after `earliest`, not after `latest` (nanoseconds since 1970)."""

    earliest: int
    latest: int
    is_move: bool
    """Whether one of them was somewhere else before."""


class Directories:
    """The directories below `root`, a real path, that a snapshot begun at `time` has; `inodes` by relative path.

    `hidden` are others that were there, in which all files are ignored.
    """

    def __init__(
        self,
        root: str,
        time: int,
        inodes: Mapping[bytes, Inode],
        gone: Mapping[tuple[int, int], bytes] | None = None,
        hidden: Mapping[bytes, Inode] | None = None,
    ) -> None:
        self.root = os.fsencode(root)
        self.time = time
        self.inodes = inodes
        self._gone = gone or {}  # by device and number, those that the snapshots before had, and where
        self._hidden = hidden or {}
        self._paths: dict[tuple[int, int], bytes] | None = None

    @classmethod
    def look(cls, root: str, time: int, names: Iterable[bytes]) -> Directories:
        """Look at these directories (relative paths), and at `root` itself. Blocks."""
        top = os.path.join(os.fsencode(root), b"")
        found = {name: inode for name in (b"", *names) if (inode := inode_at(top + name)) is not None}
        return cls(root, time, found).settled()

    def encode(self) -> bytes:
        """Return the table as bytes, for another host."""
        rows = (b"%d %d %d %s" % (one.device, one.number, one.modified, name) for name, one in self.inodes.items())
        return b"\0".join(rows)

    @classmethod
    def decode(cls, root: str, time: int, data: bytes) -> Directories:
        """Return what `encode` returned for. Raises `ValueError`."""
        inodes: dict[bytes, Inode] = {}
        for row in data.split(b"\0"):
            device, number, modified, name = row.split(b" ", 3)
            inodes[name] = Inode(int(device), int(number), int(modified))
        return cls(root, time, inodes)

    def updated(self, time: int, names: Iterable[bytes]) -> Directories:
        """Return the directories of the next snapshot, begun at `time`. Blocks.

        Those that are not known for sure are looked at again; others than `names` are the same.
        """
        inodes, gone = dict(self.inodes), dict(self._gone)
        for name in {*names, *(name for name, inode in self.inodes.items() if inode == UNSURE)}:
            inode, left = self.now(name), inodes.pop(name, None)
            if left is not None and left != UNSURE and not left.is_same(inode):
                gone[left.device, left.number] = name
            if inode is not None:
                inodes[name] = inode
        for number in list(gone)[: max(0, len(gone) - GONE_DIRECTORIES)]:
            del gone[number]
        return Directories(os.fsdecode(self.root), time, inodes, gone, self._hidden)

    def with_hidden(self, ignored: Iterable[bytes], all_in: Mapping[bytes, frozenset[bytes]]) -> Directories:
        """Return the same with the directories of these ignored files (absolute paths) that were there. Blocks.

        `all_in` has the names of all that is in a directory, by its absolute path, of some.
        """
        top = os.path.join(self.root, b"")
        names = {name for path in ignored if path.startswith(top) for name in parents(path[len(top) :])}
        found = {name: self.now(name) for name in names - self.inodes.keys()}
        hidden = {
            name: msgspec.structs.replace(one, names=all_in.get(top + name))
            for name, one in found.items()
            if one is not None and one.changed < self.time
        }
        return Directories(os.fsdecode(self.root), self.time, self.inodes, self._gone, hidden)

    def settled(self) -> Directories:
        """Return the same with `UNSURE` for those that may have come to their places since the snapshot began. Blocks.

        It may have had these, or others. The root itself is always the same.
        """
        later = {name for name, inode in self.inodes.items() if name and inode.changed >= self.time}
        above = {name: inode_at(self.path(os.path.dirname(name))) for name in later}
        # a directory that comes, or gets another name, changes the one above
        came = tuple(name for name in later if (up := above[name]) is None or up.modified >= self.time)
        if not came:
            return self
        below = tuple(os.path.join(name, b"") for name in came)
        inodes = dict(self.inodes)
        inodes |= dict.fromkeys((*came, *(name for name in inodes if name.startswith(below))), UNSURE)
        return Directories(os.fsdecode(self.root), self.time, inodes, self._gone, self._hidden)

    def is_sure(self, name: bytes) -> bool:
        """Return whether it is known that the snapshot has the directory that is there, if it has it."""
        return all(self.inodes.get(one) != UNSURE for one in (*parents(name), name))

    def path(self, name: bytes) -> bytes:
        """Return the absolute path of a directory."""
        return os.path.join(self.root, name) if name else self.root

    def now(self, name: bytes) -> Inode | None:
        """Return the identity of the directory that is there now; None if there is none, or it is reached by a link.

        Blocks.
        """
        above = (inode_at(self.path(one)) for one in parents(name))
        return None if None in above else inode_at(self.path(name))

    @property
    def names(self) -> Iterator[bytes]:
        """The relative paths of all directories that the snapshot has, or that were there."""
        return chain(self.inodes, self._hidden)

    def known(self, name: bytes) -> Inode:
        """Return the directory that the snapshot has at that name. Raises `KeyError`."""
        return self.inodes[name] if name in self.inodes else self._hidden[name]

    def surely_lacked(self, name: bytes) -> bool:
        """Return whether it is known that nothing was at that relative path, in a directory that was ignored."""
        while name:
            name, last = os.path.split(name)
            if name in self._hidden:
                names = self._hidden[name].names
                return names is not None and last not in names
        return False

    def is_unchanged(self, name: bytes, since: int) -> bool:
        """Return whether the file at that relative path has not changed since a time in ns since 1970. Blocks."""
        try:
            return os.lstat(self.path(name)).st_ctime_ns < since - CLOCK_NS
        except OSError:
            return False

    def find(self, inode: Inode) -> bytes | None:
        """Return where that directory is; None if the snapshot does not have it."""
        if self._paths is None:
            known = (*self._hidden.items(), *self.inodes.items())
            self._paths = {(one.device, one.number): name for name, one in known}
        return self._paths.get((inode.device, inode.number))

    def came(self, path: str) -> bool:
        """Return whether the directory at an absolute path had another place in this snapshot, or one before. Blocks.

        A move that a scan has seen only half has left its place in the snapshot before.
        """
        inode = inode_at(os.fsencode(path))
        if inode is None:
            return False
        left = self.find(inode) or self._gone.get((inode.device, inode.number))
        return left is not None and self.path(left) != os.fsencode(path) and not self._is_new(os.fsencode(path))

    def has_other(self, path: str) -> bool:
        """Return whether this snapshot surely has another directory at an absolute path than is there now. Blocks."""
        name = os.fsencode(path)[len(os.path.join(self.root, b"")) :]
        known, inode = self.inodes.get(name), self.now(name)
        return known is not None and known != UNSURE and inode is not None and not inode.is_same(known)

    def replaced(self, path: str) -> int | None:
        """Return until when a directory above an absolute path may have been replaced since this snapshot began.

        None if the file there was in the snapshot, perhaps with another content. Of a directory that has changed since,
        only a file that is older than the snapshot shows that it is another one. Blocks.
        """
        is_older = last_change(path)[0] < self.time - TICK_NS
        for name in self._above(path)[1:]:
            known, inode = self.inodes.get(name), inode_at(self.path(name))
            if inode is None and known is not None:
                return last_change(os.fsdecode(self.path(name)))[0]
            if inode is not None and not inode.is_same(known) and (is_older or known not in (None, UNSURE)):
                return _latest_move(self.path(name), None)
        return None

    def placed(self, path: str, entered: Callable[[str], str] | None = None) -> Placed | None:
        """Return when the directories above an absolute path, as they are now, came there since this snapshot.

        None if they were there then, or if there are none. A rename that is `entered` does not count: the function
        returns the present name of an earlier directory, both with a slash. Blocks.
        """
        latest, is_move = 0, False
        for name in self._above(path):
            inode = inode_at(self.path(name))
            if inode is None:
                break
            known = self.inodes.get(name)
            if inode.is_same(known):
                continue
            left = self.find(inode)
            left = None if left is not None and self._is_new(self.path(name)) else left
            if left is not None and entered is not None and entered(self._slashed(left)) == self._slashed(name):
                continue
            came = _latest_move(
                self.path(name), self.path(left) if left is not None and self._has_kept_parent(left) else None
            )
            latest, has_come = max(latest, came), came >= self.time and self._is_older(name)
            is_move = is_move or (known != UNSURE and (left is not None or has_come))
        return Placed(self.time - CLOCK_NS, latest, is_move) if latest >= self.time - CLOCK_NS else None

    def _has_kept_parent(self, name: bytes) -> bool:
        """Whether the directory above that place is still the one that was there, so that its time tells of it."""
        above, _, _ = name.rpartition(b"/")
        inode = self.now(above)
        return inode is not None and inode.is_same(self.inodes.get(above))

    def _is_new(self, path: bytes) -> bool:
        """Whether a directory was made since the snapshot: it may have got the inode number of another one."""
        birth = born(path)
        return birth is not None and birth >= self.time

    def _is_older(self, name: bytes) -> bool:
        """Whether a directory was there before the snapshot, outside or ignored."""
        birth = born(self.path(name))
        return birth is not None and birth < self.time - TICK_NS

    def _slashed(self, name: bytes) -> str:
        return os.path.join(os.fsdecode(self.path(name)), "")

    def _above(self, path: str) -> list[bytes]:
        """Return the names of the directories above an absolute path, the outermost first; none outside of `root`."""
        whole, top = os.fsencode(path), os.path.join(self.root, b"")
        return [b"", *parents(whole[len(top) :])] if whole.startswith(top) else []


class FirstDirectories:
    """The directories of a snapshot of `root` that began at `began`, in nanoseconds since 1970."""

    def __init__(self, root: str, began: int) -> None:
        self._root = root
        self._began = began
        self._inodes: dict[bytes, Inode] = {}
        self._named: set[bytes] = set()
        self._others: dict[bytes, Sequence[bytes]] = {}

    def look(self, place: bytes, names: Sequence[bytes]) -> None:
        """Look at the directories that the user's index names for the work tree at `place`. Blocks.

        They are relative to `place`, and that is relative to the workspace.
        """
        self._look(os.path.join(place, name) for name in names)
        self._named.add(place)

    def scanned(self, place: bytes, files: Sequence[bytes]) -> None:
        """Note that a work tree has been scanned, and which files (relative to it) the index did not have as they are.

        So these may be in other directories.
        """
        self._others[place] = files

    async def complete(self, store: Store, tree: str) -> Directories:
        """Return the directories of the snapshot, which is that tree. Raises `SnapshotError`."""
        if self._others.keys() <= self._named:
            files = [os.path.join(place, path) for place, paths in self._others.items() for path in (b"file", *paths)]
            names = {name for path in files for name in parents(path)}
        else:
            names = set(await _names(store, tree))
        await store.blocking(partial(self._look, names - self._inodes.keys()))
        return Directories(self._root, self._began, await store.blocking(self._real))

    def _real(self) -> dict[bytes, Inode]:
        """Return those that are not reached by a link: git's index may still have what was there before it."""
        found: dict[bytes, Inode] = {}
        for name in sorted(self._inodes):
            above, _, _ = name.rpartition(b"/")
            if not above or above in found:
                found[name] = self._inodes[name]
        return found

    def _look(self, names: Iterable[bytes]) -> None:
        self._inodes |= Directories.look(self._root, self._began, names).inodes


async def _names(store: Store, tree: str) -> list[bytes]:
    """Return the names of all directories in a tree. Raises `SnapshotError`."""
    words = ["ls-tree", "-r", "-d", "-z", "--name-only", tree]
    return (await store.git(words, env=store.borrowing)).split(b"\0")[:-1]


def inode_at(path: bytes) -> Inode | None:
    """Return the identity of the directory at that path; None if there is none, or a link (see `now`). Blocks."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    return Inode(status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def is_torn(paths: Iterable[bytes], root: str, since: int) -> bool:
    """Return whether names have changed since a snapshot began that has found these absolute paths changed. Blocks.

    `since`: `next_tick` of then. The names are those of all files beside them, and above them up to `root`; ignore
    rules count, too. Such a snapshot may have what was renamed at both places, or at none, and hidden files not at all.
    """
    top = os.fsencode(root)
    seen = {os.path.dirname(top)}
    for path in (*paths, os.path.join(top, RULES)):
        while (path := os.path.dirname(path)) not in seen:
            seen.add(path)
            try:
                if os.lstat(path).st_mtime_ns >= since:
                    return True
                if os.lstat(os.path.join(path, RULES)).st_ctime_ns >= since:
                    return True
            except OSError:
                pass  # there are no rules, or the directory is gone, and the one above has changed
    return False


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
