"""What is left to review in one workspace, kept from one Neovim to the next."""

from __future__ import annotations

import fcntl
import logging
import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.review.contents import Content
from acp_nvim.review.entry import Entry
from acp_nvim.snapshots.snapshot import Blob, Snapshot
from acp_nvim.traffic.words import masked
from acp_nvim.workspace.private_file import make_directory, write_new

log = logging.getLogger(__name__)


class KeptEntry(msgspec.Struct, frozen=True):
    """A file as it was left."""

    path: str
    base: Blob | None
    current: Blob | None
    on_disk: Blob | None
    old_path: str | None = None
    encoding: str = "utf-8"

    def entry(self) -> Entry:
        """Under review again; no session of this Neovim is to blame."""
        entry = Entry(self.path, Content(self.base, encoding=self.encoding), self.old_path)
        entry.current, entry.on_disk = self.current, self.on_disk
        return entry


class OpenTurn(msgspec.Struct, frozen=True):
    """A turn that runs: what is different from `snapshot` when its Neovim is gone, it has done."""

    agent: str
    prompt: str
    snapshot: Snapshot


class Kept(msgspec.Struct):
    """The content of the file of a ledger: its entries, and the turns that were running."""

    entries: list[KeptEntry] = []
    turns: list[OpenTurn] = []


class KeptLedger:
    """A file of this Neovim's own, and one beside it that it holds locked; what others left is taken over."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "review"
        self.name = uuid.uuid4().hex[:12]
        self._file = self._directory / f"{self.name}.json"
        self._lock: int | None = None
        self._taken: list[tuple[Path, int]] = []
        self._writing = anyio.Lock()

    def __repr__(self) -> str:
        return f"<KeptLedger {self._file}>"

    async def keep(self, entries: Sequence[Entry], turns: Sequence[OpenTurn]) -> None:
        """Write down how things stand, settled already. Raises `OSError`."""
        kept = [KeptEntry(one.path, one.base, one.current, one.on_disk, one.old_path, one.encoding) for one in entries]
        async with self._writing:
            await anyio.to_thread.run_sync(self._write, Kept(kept, list(turns)))

    async def take_over(self) -> Kept:
        """What others have left; it is this Neovim's from the next `keep` on."""
        async with self._writing:
            return await anyio.to_thread.run_sync(self._take_over)

    def close(self) -> None:
        """What was kept is whoever's takes it over."""
        taken, self._taken = self._taken, []
        for lock in (self._lock, *(lock for _, lock in taken)):
            if lock is not None:
                os.close(lock)
        self._lock = None

    def _write(self, kept: Kept) -> None:
        if self._lock is None and not kept.entries and not kept.turns:
            self._drop_taken()
            return
        if self._lock is None:
            make_directory(self._directory)
            self._lock = _locked(self._file.with_suffix(".lock"))
        temporary = self._file.with_suffix(".new")
        with suppress(FileNotFoundError):
            temporary.unlink()
        kept.turns = [msgspec.structs.replace(one, prompt=masked(one.prompt)) for one in kept.turns]
        write_new(temporary, msgspec.json.encode(kept))
        temporary.replace(self._file)
        self._drop_taken()

    def _take_over(self) -> Kept:
        found = Kept()
        for file in sorted(self._directory.glob("*.json")):
            lock = None if file == self._file else _locked(file.with_suffix(".lock"))
            if lock is None:
                continue
            try:
                left = msgspec.json.decode(file.read_bytes(), type=Kept)
                found.entries += left.entries
                found.turns += left.turns
                self._taken.append((file, lock))
            except (OSError, msgspec.MsgspecError):
                log.warning("%s is not what this version writes: it is left alone", file)
                os.close(lock)
        return found

    def _drop_taken(self) -> None:
        taken, self._taken = self._taken, []
        for file, lock in taken:
            with suppress(OSError):
                file.unlink()
                file.with_suffix(".lock").unlink()
            os.close(lock)


def _locked(file: Path) -> int | None:
    """Hold that file locked until its descriptor is closed; None when somebody else does."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
