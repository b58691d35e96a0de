"""What agents did and when they ended, written down: whoever comes after a host that was killed has to know."""

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

from acp_nvim.limits import ENDS_SECONDS
from acp_nvim.process.end_times import ended_at, forget_old
from acp_nvim.review.work import Record, Work
from acp_nvim.tasks import Spawn
from acp_nvim.workspace.private_file import make_directory
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)


class WorkJournal:
    """A file of this host's own, to which each deed is added within a moment; those of others can be read.

    `ends` is a directory where it is written down when agents ended.
    """

    def __init__(self, spawn: Spawn) -> None:
        self.name = uuid.uuid4().hex[:12]
        self._spawn = spawn
        self._directory = Path(os.devnull)
        self.ends = os.devnull
        self._waiting: list[Record] = []
        self._has_failed = False

    def __repr__(self) -> str:
        return f"<WorkJournal {self.name} in {self._directory}>"

    def open(self, state: Path) -> None:
        """All is below that directory; what is too old goes. Blocks; raises `OSError`."""
        self._directory = directory = state / "work"
        self.ends = str(state / "ended")
        make_directory(directory)
        make_directory(state / "ended")
        forget_old(self.ends, ENDS_SECONDS)
        for file in directory.glob("*.jsonl"):
            with suppress(OSError):
                if file.stat().st_mtime < time.time() - ENDS_SECONDS:
                    file.unlink()

    def ended_at(self, mark: str) -> int | None:
        """When the last agent process with that mark ended (nanoseconds since 1970), if that was written down."""
        return ended_at(self.ends, mark)

    def begin(self, session: int, agent: str, roots: Roots) -> Work:
        """Make the record of a session's work, all of which is written down here."""
        made = Work(session, agent, roots, self.ended_at)
        made.write = self.add
        return made

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
        """Remove a journal that is not needed any more. Blocks."""
        with suppress(OSError):
            (self._directory / f"{name}.jsonl").unlink()

    def close(self) -> None:
        """Write at once what waits to be written."""
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
