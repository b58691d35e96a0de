"""The journal of what the agents of a host do, which survives the host."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec

from acp_nvim import decoders
from acp_nvim.evidence.activities import Record
from acp_nvim.evidence.work import Work
from acp_nvim.limits import ENDS_SECONDS
from acp_nvim.process.end_times import ended_at, ends_directory, forget_old
from acp_nvim.process.group import NO_PID, members
from acp_nvim.review.ledger import TurnLog
from acp_nvim.state.private_file import make_directory
from acp_nvim.tasks import Spawn, is_running
from acp_nvim.workspace.roots import WatchedRoots

END_WAIT_SECONDS: Final = 10.0
"""Time to wait for the agents of a dead host to end: its guard gives them five seconds."""
END_POLL_SECONDS: Final = 0.05
"""Interval between two looks at whether they have ended."""

log = logging.getLogger(__name__)


class WorkJournal:
    """This host's journal of work; those of others can be read. `ends` is the directory with end times of agents."""

    def __init__(self, state: Path, spawn: Spawn) -> None:
        self.name = uuid.uuid4().hex[:12]
        self._spawn = spawn
        self._directory = state / "work"
        self.ends = ends_directory(str(state))
        self._waiting: list[Record] = []
        self._writing: anyio.Event | None = None
        self._has_failed = False

    def open(self) -> None:
        """Make the directories, and remove journals that are too old. Blocks; raises `OSError`."""
        make_directory(self._directory)
        make_directory(Path(self.ends))
        forget_old(self.ends, ENDS_SECONDS)
        for file in self._directory.glob("*.jsonl"):
            with suppress(OSError):
                if file.stat().st_mtime < time.time() - ENDS_SECONDS:
                    file.unlink()

    def ended_at(self, mark: str) -> int | None:
        """Return when the last agent process with that mark ended (nanoseconds since 1970), if that is recorded."""
        return ended_at(self.ends, mark)

    def begin(self, session: int, agent: str, roots: WatchedRoots) -> Work:
        """Return a `Work` for a session, which is recorded in this journal."""
        made = Work(session, agent, roots, self.ended_at)
        made.write = self.add
        return made

    def add(self, record: Record) -> None:
        """Append a record, in one write with all that are added in the same step of the event loop."""
        self._waiting.append(record)
        if not is_running(self._writing):
            self._writing = self._spawn(self._write_waiting)

    def _read(self, name: str, session: int) -> Iterator[Record]:
        """Yield the records of a session from the journal with that name. Blocks."""
        try:
            lines = (self._directory / f"{name}.jsonl").read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            with suppress(msgspec.MsgspecError):
                record = decoders.decode(line, Record)
                if record.session == session:
                    paths = [os.fsdecode(path.encode("latin-1")) for path in record.paths]
                    yield msgspec.structs.replace(record, paths=paths)

    async def read_work(self, name: str, session: int, turn: TurnLog) -> Work:
        """Return what the agent of a dead host's turn did, from the journal with that name, where it has the number
        `session`. Waits until the agent has ended, at most `END_WAIT_SECONDS`.
        """
        work = Work(turn.session, turn.agent, turn.roots, self.ended_at)
        for record in await anyio.to_thread.run_sync(lambda: list(self._read(name, session))):
            work.apply(record)
        work.is_over = True
        with anyio.move_on_after(END_WAIT_SECONDS):
            await anyio.to_thread.run_sync(_wait_for_end, work, abandon_on_cancel=True)
        return work

    def forget(self, name: str) -> None:
        """Remove a journal that is not needed any more. Blocks."""
        with suppress(OSError):
            (self._directory / f"{name}.jsonl").unlink()

    async def _write_waiting(self) -> None:
        """Write what each step of the event loop adds, until one adds nothing: a flood needs one task, not hundreds."""
        await anyio.lowlevel.checkpoint()
        while self._waiting:
            self.close()
            await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """Write the records that are waiting. Blocks; a failure is logged once."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        data = b"".join(msgspec.json.encode(_encodable(one)) + b"\n" for one in waiting)
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
                log.warning("the work of agents cannot be recorded in %s: %s", self._directory, error)


def _encodable(record: Record) -> Record:
    """Return the record with paths as Latin-1 (one character a byte), and words without lone surrogates."""
    paths = [os.fsencode(path).decode("latin-1") for path in record.paths]
    words = record.words.encode("utf-8", "replace").decode()
    return msgspec.structs.replace(record, paths=paths, words=words, id=record.id.encode("utf-8", "replace").decode())


def _wait_for_end(work: Work) -> None:
    """Block until no process of the agent runs; members are found by mark, as their group's id may be reused."""
    deadline = time.monotonic() + END_WAIT_SECONDS
    while time.monotonic() < deadline and work.last_end is None and any(members(NO_PID, mark) for mark in work.marks):
        time.sleep(END_POLL_SECONDS)
