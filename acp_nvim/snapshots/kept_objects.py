"""Keeps copies of the user's objects that clean files need, for when the user's repository is removed or replaced."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import Final

from acp_nvim.snapshots.pins import size as size_of
from acp_nvim.snapshots.snapshot import GitFailedError
from acp_nvim.snapshots.store import Store, incoming
from acp_nvim.state.private_file import make_directory, remove_directory

COPIED_OBJECTS: Final = 5000
"""Objects that one git copies: what is done stays done when it is stopped."""
GROWN_TIMES: Final = 2
"""How many times as large as one snapshot needs the copies may become before they are made anew."""
GROWN_BYTES: Final = 64 * 1024 * 1024
"""Bytes that may be added to that."""

_GITLINK: Final = b"160000"

log = logging.getLogger(__name__)


class KeptObjects:
    """Copies in `store.kept`, a directory that git reads as it reads the user's objects."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._objects = store.places.kept
        self._marker = store.places.kept.with_name("kept-tree")
        self._refused = ""

    async def keep(self, tree: str, room: int) -> bool:
        """Copy what the files of that tree need, if all copies together take at most `room` bytes.

        Return whether all of it is kept. Copies the trees in any case. Raises `SnapshotError`.
        """
        done = await self._store.blocking(self._kept_tree)
        if tree in (done, self._refused):
            return tree == done
        await self._store.copy([], [tree])
        await self._store.blocking(lambda: make_directory(self._objects / "pack"))
        wanted = await self._blobs(done, tree) - await self._there()
        sizes = await self._sizes(wanted)
        size = await self._store.blocking(lambda: size_of(self._objects))
        if size + sum(sizes.values()) > room:
            self._refused = tree
            log.info("%d bytes of committed files are not copied: there is no room", sum(sizes.values()))
            return False
        names = sorted(sizes)
        for start in range(0, len(names), COPIED_OBJECTS):
            await self._copy(names[start : start + COPIED_OBJECTS])
        await self._store.blocking(lambda: self._note(tree, is_first=not done))
        return True

    def are_outgrown(self) -> bool:
        """Return whether the copies are much more than one snapshot needs. Blocks."""
        return size_of(self._objects) > GROWN_TIMES * self._first_size() + GROWN_BYTES

    def drop(self) -> None:
        """Remove all copies; the next `keep` makes them anew. The repository must be held exclusively. Blocks."""
        with suppress(FileNotFoundError):
            self._marker.unlink()
        remove_directory(self._objects)

    def _kept_tree(self) -> str:
        return self._marked()[0]

    def _first_size(self) -> int:
        return int(self._marked()[1] or 0)

    def _marked(self) -> tuple[str, str]:
        try:
            tree, _, size = self._marker.read_text(encoding="ascii").partition(" ")
        except (OSError, ValueError):
            return "", ""
        return (tree, size) if size.isdigit() and self._objects.is_dir() else ("", "")

    def _note(self, tree: str, *, is_first: bool) -> None:
        size = size_of(self._objects) if is_first else self._first_size()
        temporary = self._marker.with_suffix(".new")
        temporary.write_text(f"{tree} {size}", encoding="ascii")
        temporary.replace(self._marker)

    async def _blobs(self, old: str, new: str) -> set[str]:
        """Return the blobs of the tree `new`; those that the tree `old` has not, if there is one."""
        if old:
            with suppress(GitFailedError):  # it was cleaned away
                words = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new]
                rows = (await self._store.git(words, env=self._store.borrowing)).split(b"\0")[::2]
                return set(_blobs(row[1:].split(b" ")[1::2] for row in rows if row))
        rows = (await self._store.git(["ls-tree", "-r", "-z", new], env=self._store.borrowing)).split(b"\0")[:-1]
        return set(_blobs(row.partition(b"\t")[0].split(b" ")[::2] for row in rows))

    async def _there(self) -> set[str]:
        """Return all objects that were copied."""
        words = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"]
        env = {"GIT_OBJECT_DIRECTORY": str(self._objects)}
        return set((await self._store.git(words, env=env)).decode().split())

    async def _sizes(self, oids: Collection[str]) -> dict[str, int]:
        """Return the sizes on the disk of those of these objects that the user's repository has."""
        words = ["cat-file", "--batch-check=%(objectname) %(objectsize:disk)", "--buffer"]
        stdin = "".join(f"{oid}\n" for oid in oids).encode()
        answer = await self._store.git(words, stdin=stdin, env=self._store.copying)
        rows = (line.split(" ") for line in answer.decode().splitlines())
        return {oid: int(size) for oid, size in rows if size.isdigit()}

    async def _copy(self, oids: Collection[str]) -> None:
        words = ["pack-objects", "-q", "--non-empty", "--window=0"]  # to look for deltas would take minutes
        async with incoming(self._store.places, self._objects) as directory:
            names = "\n".join(oids).encode()
            await self._store.git([*words, str(directory / "pack" / "pack")], stdin=names, env=self._store.copying)


def _blobs(rows: Iterable[list[bytes]]) -> Iterator[str]:
    """Yield the ids of blobs from pairs of a mode and an id."""
    for mode, oid in rows:
        if mode != _GITLINK and oid.strip(b"0"):
            yield oid.decode()
