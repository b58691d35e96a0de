"""The objects of a shadow repository, wherever git keeps them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio.from_thread
import anyio.to_thread

from acp_nvim.snapshots.failures import GitFailedError, GoneError, SnapshotError
from acp_nvim.snapshots.objects import BLOB, TREE, LooseObjects
from acp_nvim.snapshots.places import Places
from acp_nvim.snapshots.run_git import NO_SPACE, run_git
from acp_nvim.snapshots.secret_files import SecretFiles
from acp_nvim.snapshots.trees import EMPTY, TreeEditor

T = TypeVar("T")


class Store:
    """Reads and writes blobs and trees; a process is needed only for what is in a pack."""

    def __init__(self, directory: Path) -> None:
        self.places = Places(directory)
        self.secrets = SecretFiles()
        self.loose = LooseObjects(self.places.objects)
        self.trees = TreeEditor(self._read_tree, lambda data: self.loose.write(TREE, data))

    async def blocking(self, work: Callable[[], T]) -> T:
        """What `work` returns, in a thread, with the repository there. Raises `SnapshotError` for an `OSError`."""

        def prepared() -> T:
            self.places.prepare()
            return work()

        try:
            return await anyio.to_thread.run_sync(prepared)
        except OSError as error:
            why = NO_SPACE if error.errno == errno.ENOSPC else f"{self.places.directory}: {error.strerror}"
            raise SnapshotError(why) from error

    async def read(self, oids: Sequence[str]) -> list[bytes]:
        """The blobs, in that order. Raises `GoneError`."""
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

    async def missing(self, oids: Sequence[str]) -> list[str]:
        """Those of the object ids that the store does not have."""
        elsewhere = await self.blocking(lambda: [oid for oid in oids if not self.loose.has(oid)])
        if not elsewhere:
            return []
        answer = await self._ask("--batch-check", elsewhere)
        return [oid for oid, line in zip(elsewhere, answer.splitlines(), strict=True) if line.endswith(b" missing")]

    def _read_tree(self, oid: str) -> bytes:
        """In a thread of `blocking`. Raises `GoneError`."""
        data = b"" if oid == EMPTY else self.loose.read(oid)
        if data is None:
            data = anyio.from_thread.run(self._read_packed, [oid]).get(oid)
        return _there(oid, data)

    async def _read_packed(self, oids: Sequence[str]) -> dict[str, bytes]:
        answer = await self._ask("--batch", oids)
        return await anyio.to_thread.run_sync(_parse_batch, answer)

    async def _ask(self, how: str, oids: Sequence[str]) -> bytes:
        lines = "".join(f"{oid}\n" for oid in oids).encode()
        return await run_git(self.places.directory, ["cat-file", how], stdin=lines)


def _there(oid: str, data: bytes | None) -> bytes:
    if data is None:
        raise GoneError(f"the object {oid or 'without an id'} is not in the shadow repository")
    return data


def _parse_batch(answer: bytes) -> dict[str, bytes]:
    """`<oid> <kind> <size>` and the data, each with a newline; `<oid> missing`."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        words = answer[at:end].split(b" ")
        at = end + 1
        if len(words) == 3:
            size = int(words[2])
            found[words[0].decode()] = answer[at : at + size]
            at += size + 1
        elif words[-1] != b"missing":
            raise GitFailedError(f"git cat-file said {answer[at:end][:80]!r}")
    return found
