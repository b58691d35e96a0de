"""Creates our first index from the user's, without git if the bytes of the index suffice."""

from __future__ import annotations

import binascii
import os
import stat
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import SNAPSHOT_FILES
from acp_nvim.snapshots.cached_tree import CachedTree, cached_tree
from acp_nvim.snapshots.found_files import is_too_large, looks_secret, may_name_secrets
from acp_nvim.snapshots.index_reader import USERS_INDEX_BYTES
from acp_nvim.snapshots.objects import EMPTY, EXECUTABLE, FILE, SYMLINK, TreeEntry
from acp_nvim.snapshots.run_git import run_git, together
from acp_nvim.snapshots.snapshot import GitFailedError
from acp_nvim.snapshots.store import Store
from acp_nvim.snapshots.users_repository import Enclosing, Settings, head_commit
from acp_nvim.workspace.regular_files import READ_NOW

_ENTRY: Final = struct.Struct(">24xI8xI20sH")
"""Mode, size, object id and flags of an entry; it begins with times, and its name follows."""

_HEADER_BYTES: Final = 12
_FIXED_BYTES: Final = 62
_LONG_NAME: Final = 0xFFF
_MARKED: Final = 0x1000
"""From here on, the flags `assume-unchanged`, conflict stages, and extended flags (`skip-worktree`)."""

_MODES: Final = frozenset({FILE, EXECUTABLE, SYMLINK})
_REFUSED: Final = (b".git/", b"/.git\0", b"../", b"/./", b"/..\0", b".acp_nvim-", b"\0/")


class Files(msgspec.Struct, frozen=True):
    """The files in an index: three lists of the same length, in the order of the index."""

    names: list[bytes]
    oids: list[bytes]
    """Object ids of 20 bytes each."""
    sizes: list[int]
    """Sizes on the disk, modulo 2 ** 32."""


def plain_files(data: bytes, private: Sequence[bytes]) -> Files | None:
    """Return the entries if git checks each file, and none is large, secret or in `private`; None otherwise.

    With None, ask git for the entries. Blocks.
    """
    files = _files(data) if int.from_bytes(data[4:8], "big") in (2, 3) else None
    if files is None:
        return None
    names = b"\0%s\0" % b"\0".join(files.names).lower()
    odd = (*_REFUSED, *(b"\0%s/" % path.lower() for path in private))
    return None if any(name in names for name in odd) or may_name_secrets(names) else files


def _files(data: bytes) -> Files | None:
    at = _HEADER_BYTES
    found = Files([], [], [])
    modes, unpack, names, oids, sizes = set(), _ENTRY.unpack_from, found.names, found.oids, found.sizes
    try:
        for _ in range(int.from_bytes(data[8:12], "big")):
            mode, size, oid, length = unpack(data, at)
            if length >= _LONG_NAME:
                if length >= _MARKED:
                    return None
                length = data.index(b"\0", at + _FIXED_BYTES) - at - _FIXED_BYTES
            modes.add(mode)
            oids.append(oid)
            sizes.append(size)
            names.append(data[at + _FIXED_BYTES : at + _FIXED_BYTES + length])
            at += (_FIXED_BYTES + length + 8) & ~7
    except (struct.error, ValueError):
        return None  # truncated: git will report it
    return found if modes <= _MODES and not is_too_large(max(sizes, default=0)) else None


STAGED_FILES: Final = 1000
"""Staged files up to which the trees of the last commit are changed one by one: 0.1 s. Beyond, git writes all trees."""
LOOSE_OBJECTS: Final = 20_000
"""Loose objects of a repository up to which git is asked for all sizes: 15 us each, a tenth when packed."""

_ROW: Final = pattern(
    rb"(\d{6}) ([0-9a-f]{40}) (\d)\t([^\0]*)\0  ctime: \d+:\d+\n  mtime: \d+:\d+\n  dev: \d+\tino: \d+\n"
    rb"  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
"""An entry in the output of `git ls-files -s --debug -z`."""

_REGULAR: Final = (b"100644", b"100755")
_KEPT: Final = (*_REGULAR, b"120000")
_ASSUME_UNCHANGED: Final = 1 << 15
_INTENT_TO_ADD: Final = 1 << 29
_SKIP_WORKTREE: Final = 1 << 30
_GONE: Final = b"0 " + b"0" * 40 + b"\t%s\0"

_CONVERTED: Final = ":(exclude,attr:!filter !ident !working-tree-encoding)"
"""Every path with one of these attributes: its conversion may keep the size."""


class Row(msgspec.Struct, frozen=True):
    """One file in a git index, as `gitformat-index` describes it."""

    mode: bytes
    oid: bytes
    path: bytes
    size: int
    """Size on the disk when git checked the file last; modulo 2 ** 32."""
    flags: int
    is_merged: bool


class Examined(msgspec.Struct, frozen=True):
    """The entries of a copied index that must be repaired."""

    refresh: list[Row]
    """git must read the file again."""
    remove: list[Row]
    """Never kept in our index: conflicts, nested work trees, secrets, large files, files not checked out."""


class Staged(msgspec.Struct, frozen=True):
    """An index as a tree and the changes to it."""

    base: str
    changes: dict[bytes, TreeEntry | None]


class UsersIndex:
    """The index of `repository`, copied to `own`. `within` is the inspected part of its work tree."""

    def __init__(self, store: Store, repository: Enclosing, settings: Settings, own: Path, within: bytes) -> None:
        self._store = store
        self._repository = repository
        self._settings = settings
        self._own = own
        self._below = within + b"/" if within else b""
        self._data = b""
        self._cached: CachedTree | None = None

    def copy(self) -> bool:
        """Copy the index with its time, by which git judges it; False when there is no usable one. Blocks."""
        if self._settings.is_sha256:
            return False
        path = os.path.join(self._repository.git_dir, "index")
        try:
            with os.fdopen(os.open(path, READ_NOW), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > USERS_INDEX_BYTES:
                    return False
                data = file.read()
        except OSError:
            return False
        if b"sdir" in data:  # git would write trees to expand a sparse index
            return False
        if data[:4] != b"DIRC" or int.from_bytes(data[8:12], "big") > SNAPSHOT_FILES:
            return False
        self._data = data
        self._cached = cached_tree(data)
        temporary = self._own.with_suffix(".copy")
        temporary.write_bytes(data)
        os.utime(temporary, ns=(status.st_atime_ns, status.st_mtime_ns))
        temporary.replace(self._own)
        return True

    @property
    def directories(self) -> Sequence[bytes] | None:
        """The directories in the inspected part, relative to it; None if the index does not name them."""
        if self._cached is None:
            return None
        start = len(self._below)
        return [name[start:] for name in self._cached.directories if name.startswith(self._below)]

    async def is_plain(self, private: Sequence[str]) -> bool:
        """Whether all entries can be used as they are; `private` are directories below the top.

        A file converted at its checkout has another size, even if no rule remains that says so. Sizes are not checked
        in a repository of loose objects: that would take longer than reading the files.
        """
        start = len(self._repository.top) + 1
        below = [os.fsencode(path[start:]) for path in private]
        files = await self._store.blocking(partial(plain_files, self._data, below))
        if files is None:
            return False
        if not await self._store.blocking(self._is_packed):
            return True
        oids = await self._store.blocking(lambda: binascii.hexlify(b"".join(files.oids), b"\n", 20) + b"\n")
        sizes = await self._sizes(oids)
        return await self._store.blocking(partial(_are_sizes, sizes, files.sizes))

    async def converts(self, others: Iterable[bytes]) -> bool:
        """Whether a rule or a setting may convert contents; `others` are the files that are not in the index."""
        if any(path.endswith(b".gitattributes") for path in others):
            return True
        may_convert = partial(self._settings.may_convert, self._repository)
        return await self._store.blocking(lambda: b".gitattributes\0" in self._data or may_convert())

    async def rows(self, is_ours: Callable[[bytes], bool]) -> list[Row]:
        """Return all entries. Raises `GitFailedError` when git cannot read the index, or refuses names in it."""
        answer = await self._ask(["ls-files", "-s", "--debug", "-z"])
        rows = await self._store.blocking(partial(_parse, answer))
        if len(rows) != answer.count(b"\0"):
            raise GitFailedError("git ls-files --debug answered in an unknown way")
        if not await self._store.blocking(lambda: all(is_ours(row.path) for row in rows if b"." in row.path)):
            raise GitFailedError("the index has names that git refuses")
        return rows

    async def examine(self, rows: Sequence[Row], *, converts: bool) -> Examined:
        """Find the entries that may not match the files."""
        found = await self._store.blocking(partial(self._sort_out, rows))
        odd = {row.path for row in (*found.refresh, *found.remove)}
        rest = [row for row in rows if row.mode in _REGULAR and row.path.startswith(self._below)]
        rest = [row for row in rest if row.path not in odd] if odd else rest
        is_asked = converts or await self._store.blocking(self._is_packed)

        async def nothing() -> list[bytes]:
            return []

        converted, sizes = await together(
            self._with_attributes if converts else nothing,
            partial(self._sizes, b"".join(row.oid + b"\n" for row in rest)) if is_asked else nothing,
        )
        paths = set(converted)
        refresh = [row for row in rest if row.path in paths]
        if sizes:
            refresh += [row for row, size in zip(rest, sizes, strict=True) if not _is_size(size, row.size)]
        return Examined([*found.refresh, *refresh], found.remove)

    async def repair(self, examined: Examined) -> None:
        """Correct the entries in our copy; write it only when there are some."""
        lines = [_GONE % row.path for row in examined.remove]
        lines += [b"%s %s 0\t%s\0" % (row.mode, row.oid, row.path) for row in examined.refresh]
        if lines:
            await self._ask(["update-index", "-z", "--index-info"], stdin=b"".join(lines))

    async def staged(self) -> Staged | None:
        """Return the tree of our copy, or that of the user's last commit and changes; None without such a tree."""
        if self._cached is not None and await self._store.resolve(self._cached.oid) is not None:
            return Staged(self._cached.oid, {})
        commit = await self._store.blocking(partial(head_commit, self._repository))
        if commit is None:
            return None
        words = ["diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", commit]
        try:
            changes = _staged(await self._ask(words))
            base = await self._store.resolve(f"{commit}^{{tree}}")
        except GitFailedError:
            return None  # an object is missing
        return None if base is None else Staged(base, changes)

    async def tree(self, staged: Staged | None, removed: Sequence[Row]) -> str | None:
        """Return the tree of our copy without `removed`; None when git should write all its trees."""
        if staged is None or len(staged.changes) + len(removed) > STAGED_FILES:
            return None
        changes = staged.changes | {row.path: None for row in removed}
        return await self._store.change(staged.base, changes) or EMPTY

    def _sort_out(self, rows: Iterable[Row]) -> Examined:
        names = {row.path.rpartition(b"/")[2] for row in rows}
        secret = {name for name in names if looks_secret(name)}
        found = Examined([], [])
        top = os.fsencode(self._repository.top)
        for row in rows:
            if (
                row.mode not in _KEPT
                or not row.is_merged
                or is_too_large(row.size)
                or (secret and row.path.rpartition(b"/")[2] in secret)
            ):
                found.remove.append(row)
            elif row.flags & (_ASSUME_UNCHANGED | _SKIP_WORKTREE | _INTENT_TO_ADD):
                is_there = row.flags & _INTENT_TO_ADD == 0 and os.path.lexists(os.path.join(top, row.path))
                (found.refresh if is_there else found.remove).append(row)
        return found

    def _is_packed(self) -> bool:
        """Whether few objects are loose: asking for the size of a loose one takes as long as reading the file."""
        try:
            names = os.listdir(os.path.join(self._repository.common_dir, "objects", "17"))
        except OSError:
            return True
        return len(names) * 256 <= LOOSE_OBJECTS

    async def _sizes(self, oids: bytes) -> list[bytes]:
        words = ["cat-file", "--batch-check=%(objectsize)", "--buffer"]
        return (await self._ask(words, stdin=oids)).splitlines()

    async def _with_attributes(self) -> list[bytes]:
        """Return the paths with converting attributes of the user; ours disable all attributes."""
        directory = self._store.places.attributes
        rules = await self._store.blocking(lambda: self._settings.own_attributes(self._repository))
        await self._store.blocking(lambda: self._store.places.prepare_attributes(rules))
        env = {"GIT_LITERAL_PATHSPECS": "0", "GIT_ATTR_NOSYSTEM": "0", "GIT_INDEX_FILE": str(self._own)}
        env |= self._store.borrowing
        is_file = await self._store.blocking(lambda: os.path.isfile(self._settings.attributes_file))
        file = self._settings.attributes_file if is_file else os.devnull  # a FIFO would block git
        words = ["-c", f"core.attributesFile={file}", "ls-files", "-z", "-c", "--", _CONVERTED]
        answer = await run_git(directory, words, cwd=self._repository.top, env=env)
        return [path for path in answer.split(b"\0")[:-1] if path.startswith(self._below)]

    async def _ask(self, words: list[str], *, stdin: bytes = b"") -> bytes:
        env = {"GIT_INDEX_FILE": str(self._own), **(self._store.borrowing if words[0] != "update-index" else {})}
        return await run_git(self._store.places.directory, words, cwd=self._repository.top, env=env, stdin=stdin)


def _parse(answer: bytes) -> list[Row]:
    """Parse row by row, so that other threads get their turn."""
    rows = []
    for found in _ROW.finditer(answer):
        mode, oid, stage, path, size, flags = found.groups()
        rows.append(Row(mode, oid, path, int(size), int(flags, 16), stage == b"0"))
    return rows


def _are_sizes(answers: Sequence[bytes], sizes: Sequence[int]) -> bool:
    """Whether git's answers are these sizes; a missing object has none."""
    try:
        return list(map(int, answers)) == sizes
    except ValueError:
        return False


def _is_size(answer: bytes, size: int) -> bool:
    """Whether git's answer is that size; a missing object has none."""
    return answer.isdigit() and int(answer) % (1 << 32) == size


def _staged(answer: bytes) -> dict[bytes, TreeEntry | None]:
    """Parse rows of `:<mode> <mode> <oid> <oid> <status>` and the path."""
    words = iter(answer.split(b"\0")[:-1])
    changes: dict[bytes, TreeEntry | None] = {}
    for row in words:
        _, mode, _, oid, _ = row.decode().split(" ")
        changes[next(words)] = TreeEntry(int(mode, 8), oid) if int(mode, 8) else None
    return changes
