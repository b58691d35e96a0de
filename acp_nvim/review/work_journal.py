"""What is written down of the agents' work, so that who comes after a killed host knows what they did."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio.lowlevel
import msgspec

from acp_nvim.limits.evidence import ENDS_SECONDS
from acp_nvim.review.work import Record
from acp_nvim.tasks import Spawn
from acp_nvim.workspace.private_file import make_directory

log = logging.getLogger(__name__)


class WorkJournal:
    """A file of this host's own, to which each deed is added within a moment; those of others can be read."""

    def __init__(self, spawn: Spawn) -> None:
        self.name = uuid.uuid4().hex[:12]
        self._spawn = spawn
        self._directory = Path(os.devnull)
        self._waiting: list[Record] = []
        self._has_failed = False

    def __repr__(self) -> str:
        return f"<WorkJournal {self.name} in {self._directory}>"

    def open(self, directory: Path) -> None:
        """Journals are in that directory; what is too old goes. Blocks; raises `OSError`."""
        make_directory(directory)
        self._directory = directory
        for file in directory.glob("*.jsonl"):
            with suppress(OSError):
                if file.stat().st_mtime < time.time() - ENDS_SECONDS:
                    file.unlink()

    def add(self, record: Record) -> None:
        """Write it down, with all that comes at the same time."""
        if not self._waiting:
            self._spawn(self._write_soon)
        self._waiting.append(record)

    def read(self, name: str, session: int) -> Iterator[Record]:
        """What a host has written of that session. Blocks."""
        try:
            lines = (self._directory / f"{name}.jsonl").read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            with suppress(msgspec.MsgspecError):
                record = msgspec.json.decode(line, type=Record)
                if record.session == session:
                    paths = [os.fsdecode(path.encode("latin-1")) for path in record.paths]
                    yield msgspec.structs.replace(record, paths=paths)

    def forget(self, name: str) -> None:
        """That journal is not needed any more. Blocks."""
        with suppress(OSError):
            (self._directory / f"{name}.jsonl").unlink()

    def close(self) -> None:
        """Write what waits."""
        self._write()

    async def _write_soon(self) -> None:
        await anyio.lowlevel.checkpoint()
        self._write()

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        data = b"".join(msgspec.json.encode(_plain(one)) + b"\n" for one in waiting)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(self._directory / f"{self.name}.jsonl", flags, 0o600)
            try:
                os.write(descriptor, data)
            finally:
                os.close(descriptor)
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                log.warning("what the agents do cannot be written down in %s: %s", self._directory, error)


def _plain(record: Record) -> Record:
    """With paths as bytes, and words without what cannot be encoded."""
    paths = [os.fsencode(path).decode("latin-1") for path in record.paths]
    words = record.words.encode("utf-8", "replace").decode()
    return msgspec.structs.replace(record, paths=paths, words=words, id=record.id.encode("utf-8", "replace").decode())
