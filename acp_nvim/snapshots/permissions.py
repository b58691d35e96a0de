"""Remembers the permissions of all files of a workspace, and of their directories, beside the trees of snapshots."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from acp_nvim.file_time import now
from acp_nvim.snapshots.objects import EXECUTABLE, LEFT_OUT, SYMLINK
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.permissions import number_of

AT_ONCE: Final = 2000
"""Files of a work tree up to which a first snapshot looks at all permissions: 5 ms. If there are more, it is later."""
CHUNK: Final = 5000
"""Files that are looked at without a pause: 15 ms, in a thread."""

UNKNOWN: Final = -1

Usual = tuple[int, int, int]
"""The commonest permission numbers: of files, of executable ones, of directories; `UNKNOWN` if there are none."""


class PermissionTable(msgspec.Struct, frozen=True):
    """The permissions of the files of one snapshot: the usual ones, and those of files and directories with others.

    Paths are relative to the workspace; those of directories end with a slash.
    """

    usual: Usual = (UNKNOWN, UNKNOWN, UNKNOWN)
    others: Mapping[bytes, int] = {}
    unseen: frozenset[bytes] = frozenset({b""})
    """Work trees ("" or "a/b/") whose files have not all been looked at: below them a file may have other ones."""

    def of(self, path: bytes, is_executable: bool = False) -> int | None:
        """Return the permission number of a file, or of a directory (with a slash); None if it is unknown."""
        found = self.others.get(path)
        if found is None and not any(path.startswith(top) for top in self.unseen):
            found = self.usual[2 if path.endswith(b"/") else 1 if is_executable else 0]
        return None if found == UNKNOWN else found

    def encode(self) -> bytes:
        """Return the table as bytes, the same for equal tables."""
        rows = [b"%d %d %d" % self.usual, b"%d" % len(self.unseen), *sorted(self.unseen)]
        return b"\0".join([*rows, *(b"%d %s" % (number, path) for path, number in sorted(self.others.items()))])


def decode(data: bytes) -> PermissionTable:
    """Return what `encode` returned for. Raises `ValueError`."""
    usual, count, *rows = data.split(b"\0")
    file, executable, directory = map(int, usual.split(b" "))
    unseen, pairs = rows[: int(count)], (row.partition(b" ") for row in rows[int(count) :])
    others = {path: int(number) for number, _, path in pairs}
    return PermissionTable((file, executable, directory), others, frozenset(unseen))


class Seen(msgspec.Struct):
    """What was found of files and directories, by path relative to the workspace."""

    numbers: dict[bytes, int | None]
    """Permission numbers; None: it is gone, or neither a regular file nor a directory. `UNKNOWN` is one, too."""
    fresh: set[bytes]
    """Those of which `is_fresh` is true."""

    def add(self, other: Seen) -> None:
        """Add what was found of other files and directories."""
        self.numbers |= other.numbers
        self.fresh |= other.fresh


class Permissions:
    """The permissions of the files below `root` as the last snapshot found them. Methods block."""

    def __init__(self, root: str) -> None:
        self.table = PermissionTable()
        self._root = os.path.join(os.fsencode(root), b"")
        self._directories: set[bytes] = set()
        self._fresh: set[bytes] = set()
        """Files that have changed in the second in which they were looked at: git does not tell if they do it again."""
        self._seen: set[bytes] = set()
        self._found_late: dict[bytes, dict[bytes, int]] = {}
        """What was found in a work tree after its first snapshot, of files that had not changed since."""

    def is_seen(self, top: bytes) -> bool:
        """Whether all files of the work tree at `top` ("" or "a/b/") have been looked at."""
        return top in self._seen

    def begin(self, top: bytes) -> None:
        """Note that there is a work tree at `top`."""
        if top not in self._seen and top not in self.table.unseen:
            self.table = msgspec.structs.replace(self.table, unseen=self.table.unseen | {top})

    @property
    def directories(self) -> Sequence[bytes]:
        """What each snapshot has to look at, because git does not tell of changes."""
        return tuple(self._directories)

    def update_watched(self, directories: Seen) -> None:
        """Enter what was found of the directories, and look at the fresh files, later than the snapshot did."""
        self._directories -= {path for path, number in directories.numbers.items() if number is None}
        files = self.look_at(self._fresh)
        self._fresh = files.fresh
        self._enter({**directories.numbers, **files.numbers})

    def update(self, found: Seen) -> None:
        """Enter what was found of files, and look at directories that were not known."""
        new = directories_of(path for path, number in found.numbers.items() if number is not None) - self._directories
        self._directories |= new
        self._fresh |= found.fresh
        self._enter({**found.numbers, **self.look_at(new).numbers})

    def _enter(self, found: Mapping[bytes, int | None]) -> None:
        """Change the table, which snapshots share, only if something differs."""
        usual, others, unseen = self.table.usual, self.table.others, tuple(self.table.unseen)
        changed: dict[bytes, int | None] = {}
        for path, number in found.items():
            absent = None if number is None else UNKNOWN if path.startswith(unseen) else usual[_kind(path, number)]
            if others.get(path) != (entry := None if number == absent else number):
                changed[path] = entry
        if changed:
            entered = {**others, **changed}
            self.table = msgspec.structs.replace(
                self.table, others={path: number for path, number in entered.items() if number is not None}
            )

    def read(self, top: bytes, names: Sequence[bytes], since: int | None = None) -> Seen:
        """Look at files below `top`, and at their directories.

        A file that has changed at or after `since` (nanoseconds since 1970) has `UNKNOWN`.
        """
        found = self.look_at([top + name for name in names], since)
        directories = self.look_at(directories_of(path for path, number in found.numbers.items() if number is not None))
        return Seen({**found.numbers, **directories.numbers}, found.fresh)

    def all_read(self, top: bytes, seen: Seen) -> None:
        """Enter what `read` returned for all files of the work tree at `top`."""
        found = {path: number for path, number in seen.numbers.items() if number is not None}
        self._seen.add(top)
        self._fresh |= seen.fresh
        self._directories.update(path for path in found if path.endswith(b"/"))
        values = {**found, **self.table.others}
        usual = self._choose(values)
        self.table = PermissionTable(usual, _unusual(values, usual), self.table.unseen - {top})
        self._found_late[top] = _unusual(found, usual)

    def completed(self, table: PermissionTable) -> PermissionTable:
        """Return an earlier table with what was found out later of files that have not changed since."""
        late = table.unseen & self._seen
        if not late:
            return table
        others = {path: one for top in late for path, one in self._found_late[top].items()} | dict(table.others)
        return PermissionTable(self.table.usual, others, table.unseen - late)

    def _choose(self, values: Mapping[bytes, int]) -> Usual:
        """Return the commonest numbers where none was chosen before."""
        counts: tuple[Counter[int], ...] = (Counter(), Counter(), Counter())
        for end, numbers in (
            (b"/", Counter(number for path, number in values.items() if path.endswith(b"/"))),
            (b"", Counter(number for path, number in values.items() if not path.endswith(b"/"))),
        ):
            for number, count in numbers.items():
                if number != UNKNOWN:
                    counts[_kind(end, number)][number] += count
        file, executable, directory = (
            known if known != UNKNOWN or not count else count.most_common(1)[0][0]
            for known, count in zip(self.table.usual, counts, strict=True)
        )
        return file, executable, directory

    def look_at(self, paths: Iterable[bytes], since: int | None = None) -> Seen:
        """Look at these files, and directories (with a slash).

        Those that have changed at or after `since` (nanoseconds since 1970) have `UNKNOWN`.
        """
        numbers: dict[bytes, int | None] = {}
        fresh: set[bytes] = set()
        recent, lstat, root = _this_second(), os.lstat, self._root
        for path in paths:
            try:
                status = lstat(root + path)
            except OSError:
                numbers[path] = None
                continue
            is_directory = path.endswith(b"/")
            changed = status.st_ctime_ns
            if stat.S_IFMT(status.st_mode) != (stat.S_IFDIR if is_directory else stat.S_IFREG):
                numbers[path] = None
                continue
            numbers[path] = UNKNOWN if since is not None and changed >= since else number_of(status)
            if changed >= recent and not is_directory:
                fresh.add(path)
        return Seen(numbers, fresh)


def is_fresh(changed: int) -> bool:
    """Whether a file may change again with the same time, in git's eyes: it compares times of status in seconds.

    `changed` is the file's, in nanoseconds since 1970.
    """
    return changed >= _this_second()


def _this_second() -> int:
    return now() // 10**9 * 10**9


def _unusual(values: Mapping[bytes, int], usual: Usual) -> dict[bytes, int]:
    files, directories = {*usual[:2]} - {UNKNOWN}, {usual[2]} - {UNKNOWN}
    return {path: one for path, one in values.items() if one not in (directories if path.endswith(b"/") else files)}


def _kind(path: bytes, number: int) -> int:
    return 2 if path.endswith(b"/") else 1 if number & stat.S_IXUSR else 0


def directories_of(paths: Iterable[bytes]) -> set[bytes]:
    """Return all directories above these relative paths, each with a slash at its end."""
    found: set[bytes] = set()
    last = b""
    for path in paths:
        directory = path[: path.rfind(b"/", 0, -1) + 1]
        if directory == last:
            continue
        last = directory
        while directory and directory not in found:
            found.add(directory)
            directory = directory[: directory.rfind(b"/", 0, -1) + 1]
    return found


def with_numbers(blob: Blob | None, path: bytes, table: PermissionTable) -> Blob | None:
    """Return the blob of a file with its permission numbers, and those of its directories, as far as they are known.

    A blob that has the file's number is that of an ignored file, which the table does not have.
    """
    if blob is None or blob.mode == LEFT_OUT:
        return blob
    number = 0 if blob.mode == SYMLINK else table.of(path, blob.mode == EXECUTABLE)
    number = blob.permissions[0] if blob.permissions else number
    numbers = []
    while number is not None:
        numbers.append(number)
        path = path[: path.rfind(b"/", 0, -1) + 1]
        number = table.of(path) if path else None
    return msgspec.structs.replace(blob, permissions=tuple(numbers))


def has_same_usual(old: PermissionTable, new: PermissionTable) -> bool:
    """Whether a file that is in neither table's `others` has the same permissions in both, as far as they are known."""
    return all(one == other or UNKNOWN in (one, other) for one, other in zip(old.usual, new.usual, strict=True))


def different(old: PermissionTable, new: PermissionTable) -> list[bytes]:
    """Return the files whose permissions may differ; also those that are gone, or new."""
    if old is new:
        return []
    paths = sorted({*old.others, *new.others})
    return [path for path in paths if not path.endswith(b"/") and old.others.get(path) != new.others.get(path)]
