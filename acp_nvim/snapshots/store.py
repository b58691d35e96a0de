"""Stores the blobs and trees of a shadow repository."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from acp_nvim.limits import COMPARE_SECONDS
from acp_nvim.snapshots.blocking import is_readable
from acp_nvim.snapshots.found_files import SecretFiles
from acp_nvim.snapshots.objects import (
    BLOB,
    DIRECTORY,
    EMPTY,
    TREE,
    LooseObjects,
    Pair,
    TreeEditor,
    TreeEntry,
    differing,
    object_id,
    parse_tree,
)
from acp_nvim.snapshots.places import Places
from acp_nvim.snapshots.run_git import NO_SPACE, run_git
from acp_nvim.snapshots.snapshot import GitFailedError, GoneError, SnapshotError
from acp_nvim.state.private_file import remove_directory

T = TypeVar("T")


@asynccontextmanager
async def incoming(places: Places, to: Path | None = None) -> AsyncIterator[Path]:
    """Provide a directory for new objects, which are added to `to` (ours) at the end, and removed after a failure.

    A killed git leaves packs of any size that cannot be told from unfinished ones. Raises `SnapshotError`.
    """
    directory = places.new_incoming()
    await _blocking(places, partial(os.makedirs, directory / "pack", exist_ok=True))
    try:
        yield directory
        await _blocking(places, partial(_move, directory, to or places.objects))
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove_directory, directory)


async def _blocking(places: Places, work: Callable[[], T]) -> T:
    """Return the result of `work`, run in a thread after `prepare`. Raises `SnapshotError` for an `OSError`."""

    def prepared() -> T:
        places.prepare()
        return work()

    try:
        return await anyio.to_thread.run_sync(prepared)
    except OSError as error:
        why = NO_SPACE if error.errno == errno.ENOSPC else f"{places.directory}: {error.strerror}"
        raise SnapshotError(why) from error


def quoted(path: str) -> str:
    """Quote a path for git's list of directories, so that a colon does not end it."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _move(directory: Path, to: Path) -> None:
    """Move the objects; of a pack, the `.idx` file that makes git see it comes last."""
    for where, _, names in os.walk(directory):
        target = to / os.path.relpath(where, directory)
        for name in sorted(names, key=lambda name: name.endswith(".idx")):
            if not name.startswith("tmp_"):
                target.mkdir(exist_ok=True)
                os.replace(os.path.join(where, name), target / name)


KNOWN_TREES: Final = 4096
"""Cached trees that are in a pack or in the user's repository: 1 MB for 800 files each."""

COMPARED_BYTES: Final = 128 * 1024
"""Trees that are compared without git, in bytes: that takes as long as git takes to start, 3 to 5 ms."""

WHOLE_TREES: Final = 256
"""Trees that are known to be in the store with all that is in them: one for each turn, and git is asked again."""


class Store:
    """Reads and writes blobs and trees; starts a git process only for packed objects."""

    def __init__(self, directory: Path) -> None:
        self.places = Places(directory)
        self.secrets = SecretFiles()
        self.loose = LooseObjects(self.places.objects)
        self.trees = TreeEditor(self._read_tree, lambda data: self.loose.write(TREE, data))
        self._borrowed: dict[str, None] = {}
        self._known_trees: dict[str, bytes] = {}
        self._whole_trees = {EMPTY}  # trees whose subtrees are all in the store itself

    def borrow(self, objects: str) -> bool:
        """Also read from that object directory of the user; False when git might wait there forever. Blocks."""
        if is_readable(objects):
            self._borrowed[objects] = None
            return True
        self._borrowed.pop(objects, None)
        return False

    @property
    def borrowing(self) -> dict[str, str]:
        """The environment for a git that also reads the user's objects, and the copies that we keep of them.

        Not for a git that writes: it sets the time of existing objects instead of writing them.
        """
        directories = [*self._borrowed, *([str(self.places.kept)] if self.places.kept.is_dir() else [])]
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(quoted, directories))}

    @property
    def copying(self) -> dict[str, str]:
        """The environment for a git that reads the user's objects and our copies of them, and none of ours."""
        return {
            "GIT_OBJECT_DIRECTORY": str(self.places.kept),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(quoted, self._borrowed)),
        }

    async def blocking(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, run in a thread after `prepare`. Raises `SnapshotError` for an `OSError`."""
        return await _blocking(self.places, work)

    async def read(self, oids: Sequence[str]) -> list[bytes]:
        """Return the blobs in the order of their ids. Raises `GoneError`."""
        found = await self.blocking(
            lambda: {
                oid: self.secrets.read(oid) if oid in self.secrets else self.loose.read(oid) for oid in set(oids) if oid
            }
        )
        packed = [oid for oid, data in found.items() if data is None]
        found |= await self._read_packed(packed) if packed else {}
        return [_there(oid, found.get(oid)) for oid in oids]

    async def write(self, blobs: Sequence[bytes]) -> list[str]:
        """Write the blobs, and return their object ids."""
        return await self.blocking(lambda: [self.loose.write(BLOB, data) for data in blobs])

    async def resolve(self, name: str) -> str | None:
        """Return the id of an object by any name that git knows; None when there is none."""
        words = (await self._ask("--batch-check=%(objectname)", [name], self.borrowing)).decode().split()
        return words[0] if len(words) == 1 else None

    async def change(self, base: str | None, changes: Mapping[bytes, TreeEntry | None]) -> str | None:
        """Return the tree `base` with these paths changed (see `TreeEditor.change`). Raises `GoneError`."""
        if not changes:
            return base
        if base is not None:
            await self.warm(base, changes)
        return await self.blocking(lambda: self.trees.change(base, changes))

    def differing(self, old: str, new: str) -> list[tuple[bytes, Pair]] | None:
        """Return the paths of files that differ between two trees, with their entries; renames are two files.

        None if large trees differ, or some are not in memory or in our loose objects: then git is to be asked. Blocks.
        """
        room = COMPARED_BYTES

        def read(oid: str) -> bytes:
            nonlocal room
            data = b"" if oid == EMPTY else self._known_trees.get(oid) or self.loose.read(oid)
            room -= 0 if data is None else len(data)
            return _there(oid, data if room >= 0 else None)

        try:
            return list(differing(read, old, new))
        except GoneError:
            return None

    async def find(self, base: str, path: bytes) -> TreeEntry | None:
        """Return the entry of `path` in a tree. Raises `GoneError`."""
        if not path:
            return TreeEntry(DIRECTORY, base)
        await self.warm(base, [path])
        return await self.blocking(lambda: self.trees.find(base, path))

    async def find_all(self, base: str, paths: Sequence[bytes]) -> list[TreeEntry | None]:
        """Return the entries of these paths in a tree. Raises `GoneError`."""
        await self.warm(base, paths)
        return await self.blocking(lambda: [self.trees.find(base, path) for path in paths])

    async def warm(self, base: str, paths: Iterable[bytes]) -> None:
        """Cache the packed trees on the way to these paths: one process for each level instead of each tree.

        Raises `GoneError`.
        """
        level: dict[str, list[bytes]] = {base: list(paths)}
        while level:
            elsewhere = await self.blocking(lambda: [oid for oid in level if not self._is_at_hand(oid)])  # noqa: B023
            if elsewhere:
                self._know(await self._read_packed(elsewhere))
            level = await self.blocking(lambda: self._next_level(level))  # noqa: B023

    def _is_at_hand(self, oid: str) -> bool:
        return oid == EMPTY or oid in self._known_trees or self.loose.has(oid)

    def _know(self, trees: dict[str, bytes]) -> None:
        if len(self._known_trees) + len(trees) > KNOWN_TREES:
            self._known_trees.clear()
        self._known_trees |= trees

    def _next_level(self, level: Mapping[str, Sequence[bytes]]) -> dict[str, list[bytes]]:
        below: dict[str, list[bytes]] = {}
        for oid, paths in level.items():
            tree = parse_tree(self._read_tree(oid))
            for path in paths:
                name, slash, rest = path.partition(b"/")
                entry = tree.get(name) if slash else None
                if entry is not None and entry.mode == DIRECTORY:
                    below.setdefault(entry.oid, []).append(rest)
        return below

    async def missing(self, oids: Sequence[str]) -> list[str]:
        """Return those of the object ids that the store does not have."""
        elsewhere = await self.blocking(lambda: [oid for oid in oids if not self.loose.has(oid)])
        return await self._missing(elsewhere, self.borrowing) if elsewhere else []

    async def copy(self, blobs: Iterable[str], trees: Iterable[str]) -> None:
        """Copy these blobs and trees, with all trees in them, into the store itself. Raises `GoneError`."""
        known = await self.blocking(lambda: [oid for oid in blobs if not self.loose.has(oid)])
        borrowed = await self._missing(known, {}) if known else []
        if borrowed:
            found = await self._read_packed(borrowed)
            await self.blocking(lambda: [self.loose.write(BLOB, _there(oid, found.get(oid))) for oid in borrowed])
        await self._copy_trees([oid for oid in trees if oid not in self._whole_trees])
        if len(self._whole_trees) > WHOLE_TREES:
            self._whole_trees = {EMPTY}
        self._whole_trees.update(trees)

    async def _copy_trees(self, trees: Sequence[str]) -> None:
        if not trees:
            return
        words = ["rev-list", "--objects", "--filter=blob:none"]
        borrowed = await self._missing(trees, {})
        here = [oid for oid in trees if oid not in borrowed]
        if here:
            answer = await self.git([*words, "--missing=print", *here])
            borrowed += [line[1:].decode() for line in answer.splitlines() if line.startswith(b"?")]
        if borrowed:
            names = await self.git([*words, "--stdin"], stdin="\n".join(borrowed).encode(), env=self.borrowing)
            await self.pack(names, self.borrowing)

    async def pack(self, names: bytes, env: Mapping[str, str]) -> str:
        """Write these objects (lines of `git rev-list --objects`) into one pack; return its name."""
        async with incoming(self.places) as directory:
            words = ["pack-objects", "-q", "--non-empty", str(directory / "pack" / "pack")]
            return (await self.git(words, stdin=names, env=env)).decode().strip()

    async def add(self, words: Sequence[str], top: str, env: Mapping[str, str], stdin: bytes) -> None:
        """Run a git that writes objects, and add its objects only if it succeeds."""
        async with incoming(self.places) as directory:
            objects = {
                "GIT_OBJECT_DIRECTORY": str(directory),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(str(self.places.objects)),
            }
            await self.git(words, cwd=top, stdin=stdin, env={**env, **objects})

    async def git(
        self, words: Sequence[str], *, cwd: str | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> bytes:
        """Return the stdout of git run on our repository. Raises `SnapshotError`."""
        return await run_git(self.places.directory, words, cwd=cwd, stdin=stdin, env=env)

    async def _missing(self, oids: Sequence[str], env: Mapping[str, str]) -> list[str]:
        answer = await self._ask("--batch-check", oids, env)
        return [oid for oid, line in zip(oids, answer.splitlines(), strict=True) if line.endswith(b" missing")]

    def _read_tree(self, oid: str) -> bytes:
        """Call it in a thread of `blocking`. Raises `GoneError`."""
        data = b"" if oid == EMPTY else self._known_trees.get(oid)
        if data is None:
            data = self.loose.read(oid)
        if data is None:
            found = anyio.from_thread.run(self._read_packed, [oid])
            self._know(found)
            data = found.get(oid)
        return _there(oid, data)

    async def _read_packed(self, oids: Sequence[str]) -> dict[str, bytes]:
        answer = await self._ask("--batch", oids, self.borrowing)
        return await anyio.to_thread.run_sync(_parse_batch, answer)

    async def _ask(self, how: str, names: Sequence[str], env: Mapping[str, str]) -> bytes:
        lines = "".join(f"{name}\n" for name in names).encode()
        try:
            with anyio.fail_after(COMPARE_SECONDS):  # an object of the user's may be a FIFO
                return await run_git(self.places.directory, ["cat-file", how], stdin=lines, env=env)
        except TimeoutError as error:
            raise SnapshotError(f"to read objects took longer than {COMPARE_SECONDS:g} s") from error


def _there(oid: str, data: bytes | None) -> bytes:
    if data is None:
        raise GoneError(f"the object {oid or 'without an id'} is not in the shadow repository")
    return data


def _parse_batch(answer: bytes) -> dict[str, bytes]:
    """Parse `<oid> <kind> <size>` and the data, each with a newline, or `<oid> missing`.

    Data that does not match its id counts as missing: the user's objects are not trusted.
    """
    found: dict[str, bytes] = {}
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        words = answer[at:end].split(b" ")
        at = end + 1
        if len(words) == 3:
            size = int(words[2])
            data = answer[at : at + size]
            if object_id(words[1], data) == words[0].decode():
                found[words[0].decode()] = data
            at += size + 1
        elif words[-1] != b"missing":
            raise GitFailedError(f"git cat-file said {answer[at:end][:80]!r}")
    return found
