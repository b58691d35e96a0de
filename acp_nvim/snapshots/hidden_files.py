"""Finds files that are ignored now, and were not: rules are new, or a directory was renamed to where rules hide it.

An agent may have made such files, the rules, and the renames.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Final, NamedTuple

import msgspec

from acp_nvim.file_time import is_behind_link
from acp_nvim.snapshots.birth import born
from acp_nvim.snapshots.directories import UNSURE, Directories, inode_at, parents
from acp_nvim.snapshots.earlier_rules import ignored
from acp_nvim.snapshots.renames import has_moved
from acp_nvim.snapshots.snapshot import Snapshot
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import repository_at

HIDDEN_FILES: Final = 200
"""Files of one directory that are found; one with more is what a build or an installer made, and is only named."""
WALKED_FILES: Final = 20_000
"""Files of one directory that are walked through: 0.04 s, without asking what the earlier rules ignored."""
REMEMBERED_FILES: Final = 500
"""Files and directories in ignored directories that are walked through when nothing waits for it: 5 ms."""
_ASKED: Final = 1000

Listing = Callable[[], Awaitable[Sequence[bytes]]]
"""Returns what `git ls-files --others --ignored --directory` says."""

WasIgnored = Callable[[Sequence[bytes]], Awaitable[frozenset[bytes]]]
"""Returns which paths the earlier rules ignored; a directory ends with a slash."""


class Hidden(msgspec.Struct, frozen=True):
    """Paths relative to the top of a work tree that the rules ignore now and did not before."""

    files: list[bytes]
    inner: list[bytes]
    """Nested work trees, with a slash at the end."""
    too_many: list[bytes]
    """Directories with more files than are found, with a slash at the end."""


class Earlier(NamedTuple):
    """What scans before have found, as far as it is known."""

    past: Snapshot | None = None
    """The snapshot at the beginning of the turn."""
    last: Snapshot | None = None
    directories: Directories | None = None
    """Those of the last snapshot."""


class Origin(NamedTuple):
    """Where a directory was when the rules did not ignore it: in that snapshot, relative to the workspace."""

    snapshot: Snapshot
    name: bytes


Identity = tuple[int, int]
"""Device and number of an inode."""


class Followed:
    """Directories of the work tree at `top` that were renamed to where rules ignore them.

    What was not ignored in them, and would not have been at their earlier places, is still seen.
    """

    def __init__(self, store: Store, top: bytes) -> None:
        self._store = store
        self._top = top
        self._start = len(os.path.join(top, b""))
        self._origins: dict[bytes, tuple[Identity, Origin]] = {}  # by present place, an absolute path
        self._inside: frozenset[bytes] = frozenset()  # what the last scan has seen in them
        self._looked: frozenset[bytes] = frozenset()  # and what this one has

    def forget(self) -> None:
        """Know of none, as before the first scan."""
        self._origins, self._inside = {}, frozenset()

    def has(self, path: bytes) -> bool:
        """Return whether that path is in a directory that is followed."""
        return any(os.path.join(self._top, name) in self._origins for name in parents(path)) if self._origins else False

    def note(self) -> None:
        """Note that the scan has entered what `look` has found."""
        self._inside = self._looked

    async def look(self, earlier: Earlier, lost: Mapping[Identity, bytes], listing: Listing) -> Hidden:
        """Find the files that no scan has found yet.

        `lost` are the names of directories that have left their place since the scan before, see `lost_directories`.
        Raises `SnapshotError`.
        """
        self._looked = frozenset()
        if not lost and not self._origins:
            return Hidden([], [], [])
        former = [place[self._start :] + b"/" for place in self._origins]
        new = await self._store.blocking(partial(self._prepare, earlier, lost))
        if new:
            now = [*await listing(), *former]  # our index may have files there, so that git does not name the directory
            found = await self._store.blocking(partial(_find, self._top, now, earlier, lost))
            self._follow({place: (identity, new[identity]) for identity, place in found.items()})
        inside = await self._store.blocking(self._walk)
        shown: set[bytes] = set()
        for place, paths in inside.items():
            _, (snapshot, name) = self._origins[place]
            end = len(place) - self._start
            names = {name + path[end:]: path for path in paths if path not in self._inside}
            before = await ignored(self._store, snapshot, names) if names else ()
            shown.update(path for earlier_name, path in names.items() if earlier_name not in before)
        self._looked = frozenset(path for paths in inside.values() for path in paths)
        inner = [path for path in shown if path.endswith(b"/")]
        return Hidden([*shown.difference(inner)], inner, [])

    def _prepare(self, earlier: Earlier, lost: Mapping[Identity, bytes]) -> dict[Identity, Origin]:
        """Forget those that have left their place; return the origins of those that are lost. Blocks."""
        known, last = earlier.directories, earlier.last
        new: dict[Identity, Origin] = {}
        if known is not None and last is not None:
            for identity, name in lost.items():
                new[identity] = self._origin(known.path(name)) or Origin(last, name)
        for place, (identity, _) in [*self._origins.items()]:
            inode = None if is_behind_link(os.fsdecode(place)) else inode_at(place)
            if inode is None or (inode.device, inode.number) != identity:
                del self._origins[place]
        return new

    def _origin(self, path: bytes) -> Origin | None:
        """Return where a directory was at first, if it is in one that is followed, or is one."""
        above = path
        while len(above) >= self._start:
            if above in self._origins:
                _, origin = self._origins[above]
                return Origin(origin.snapshot, origin.name + path[len(above) :])
            above = os.path.dirname(above)
        return None

    def _follow(self, found: Mapping[bytes, tuple[Identity, Origin]]) -> None:
        """Follow directories, but for those that are in one that is followed, as they were."""
        for place in sorted(found):
            identity, origin = found[place]
            if self._origin(os.path.dirname(place)) != Origin(origin.snapshot, os.path.dirname(origin.name)):
                self._origins[place] = identity, origin

    def _walk(self) -> dict[bytes, list[bytes]]:
        """Return what is in each directory that is followed; it is not any more if that are too many files.

        Work trees in it have objects of the snapshots. Blocks.
        """
        inside: dict[bytes, list[bytes]] = {}
        for place in [*self._origins]:
            paths = list(islice(_walk(self._top, place[self._start :] + b"/"), WALKED_FILES + 1))
            if len(paths) > WALKED_FILES:
                del self._origins[place]
                continue
            inside[place] = paths
            for path in paths:
                if path.endswith(b"/") and (inner := repository_at(os.fsdecode(os.path.join(self._top, path)))):
                    self._store.borrow(os.path.join(inner.common_dir, "objects"))
        return inside


def lost_directories(earlier: Earlier, changed: Iterable[bytes], visible: Iterable[bytes]) -> dict[Identity, bytes]:
    """Return the names of the directories of `changed` files that have left their place. Blocks.

    Not those in which there are `visible` ones of these files now, which are not ignored. Paths are relative to the
    workspace.
    """
    known = earlier.directories
    if known is None or earlier.past is None:
        return {}
    lost: dict[Identity, bytes] = {}
    for name in {name for path in changed for name in parents(path)}:
        was = known.inodes.get(name, UNSURE)
        if was != UNSURE and not was.is_same(known.now(name)):
            lost[was.device, was.number] = name
    if lost:
        for name in {name for path in visible for name in parents(path)}:
            inode = known.now(name)
            if inode is not None:
                lost.pop((inode.device, inode.number), None)
    return lost


def _find(top: bytes, now: Sequence[bytes], earlier: Earlier, lost: Mapping[Identity, bytes]) -> dict[Identity, bytes]:
    """Return where lost directories are that have ignored files, or are in directories that have: absolute paths.

    `now` is what is ignored, relative to `top`; a directory that is ignored as a whole ends with a slash. Those that
    were made in this turn are not returned: builds rename what they have made. Blocks.
    """
    found: dict[Identity, bytes] = {}
    known, past = earlier.directories, earlier.past
    if known is None or past is None:
        return found
    start = len(os.path.join(known.root, b""))
    for place in chain(directories_in(top, now), {name for path in now for name in parents(path)}):
        path = os.path.join(top, place)
        inode = inode_at(path)
        name = None if inode is None else lost.get((inode.device, inode.number))
        if inode is None or name is None or not has_moved(known, inode, name, path[start:]):
            continue
        birth = born(path)
        if birth is None or birth < past.time:
            found[inode.device, inode.number] = path
            if len(found) == len(lost):
                break
    return found


def directories_in(
    top: bytes, paths: Iterable[bytes], most: int = WALKED_FILES, all_in: dict[bytes, frozenset[bytes]] | None = None
) -> Iterator[bytes]:
    """Yield those of these paths below `top` that end with a slash, and the directories in them, without the slash.

    The outer ones come first; at most `most` files and directories are walked through. The names in each directory are
    entered in `all_in`, if these are all. Blocks.
    """
    waiting = deque(path.rstrip(b"/") for path in paths if path.endswith(b"/"))
    while waiting:
        name = waiting.popleft()
        yield name
        try:
            with os.scandir(os.path.join(top, name)) as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, most)]
        except OSError:
            continue
        if all_in is not None and len(inside) < most:
            all_in[name] = frozenset(one for one, _ in inside)
        most -= len(inside)
        waiting += [os.path.join(name, one) for one, is_directory in inside if is_directory and one != b".git"]


async def hidden_since(store: Store, top: bytes, now: Sequence[bytes], was_ignored: WasIgnored) -> Hidden:
    """Find the files in `now`, what `git ls-files --others --ignored --directory` says, that were not ignored.

    Raises `SnapshotError`.
    """
    before = await was_ignored(now)
    new = [path for path in now if path not in before]
    found = Hidden([path for path in new if not path.endswith(b"/")], [], [])
    for directory in new:
        if directory.endswith(b"/"):
            await _look_into(store, top, directory, was_ignored, found)
    return found


async def _look_into(store: Store, top: bytes, directory: bytes, was_ignored: WasIgnored, found: Hidden) -> None:
    inside = await store.blocking(lambda: list(islice(_walk(top, directory), WALKED_FILES)))
    shown: list[bytes] = []
    for start in range(0, len(inside), _ASKED):
        some = inside[start : start + _ASKED]
        before = await was_ignored(some)
        shown += [path for path in some if path not in before]
        if len(shown) > HIDDEN_FILES:
            found.too_many.append(directory)
            return
    found.files.extend(path for path in shown if not path.endswith(b"/"))
    found.inner.extend(path for path in shown if path.endswith(b"/"))


def _walk(top: bytes, directory: bytes) -> Iterator[bytes]:
    """Yield the files and the nested work trees below a directory, which may be one."""
    path = directory.rstrip(b"/")
    if repository_at(os.fsdecode(os.path.join(top, path))) is not None:
        yield directory
        return
    try:
        with os.scandir(os.path.join(top, path)) as entries:
            inside = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return
    for name, is_directory in inside:
        if is_directory and name != b".git":
            yield from _walk(top, directory + name + b"/")
        elif not is_directory:
            yield directory + name
