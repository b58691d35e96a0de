"""Writes conversations into files in the background, and removes old ones."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

import anyio
import anyio.to_thread
import msgspec

from acp_nvim import __version__
from acp_nvim.history import files, reader
from acp_nvim.history.files import TranscriptFile
from acp_nvim.history.reader import Summary
from acp_nvim.history.recorder import Recorder, Source
from acp_nvim.history.records import FORMAT, About, Header, KeptEvent, Masking, Recalled, encode
from acp_nvim.limits import SOON_SECONDS
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui.events import Event, Reset
from acp_nvim.ui.session_events import FoundSession

DAYS: Final = 90.0
"""Age at which a transcript is removed, when the user set none: who looks for something older knows where it is."""
MEGABYTES: Final = 200.0
"""Size of all transcripts, when the user set none: thousands of conversations."""


class HistorySettings(msgspec.Struct, frozen=True):
    """`history` of the configuration: whether any are kept, for how long, and how much of them."""

    transcripts: bool = True
    days: float = DAYS
    megabytes: float = MEGABYTES


FOUND_AT_ONCE: Final = 20
"""Of them told together: the first ones do not wait for the last."""
SHOWN_BLOCKS: Final = 50
"""Blocks of a kept transcript read at once, when it is shown: the first ones are seen before the last are read."""

log = logging.getLogger(__name__)

T = TypeVar("T")


class _Record:
    """One session's recorder, and its file once there is one; `over`: nothing more is said in it.

    `before`: what the same session said, until it said something else.
    """

    def __init__(self, recorder: Recorder, file: TranscriptFile | None, before: _Record | None = None) -> None:
        self.recorder = recorder
        self.file = file
        self.before = before
        self.over = False

    def end(self) -> None:
        """What was said is written, and that is all."""
        self.recorder.freeze()
        self.over = True


class TranscriptStore:
    """Lives in the task group it is given; does nothing before `directory` is set. `trouble` is told once."""

    def __init__(self, tasks: Tasks, trouble: Callable[[str], None]) -> None:
        self.directory: Path | None = None
        self.settings = HistorySettings()
        self._masking = Masking({})
        self._tasks = tasks
        self._trouble = trouble
        self._records: list[_Record] = []
        self._due = anyio.Event()
        self._thread = anyio.CapacityLimiter(1)
        self._writing = anyio.Lock()
        self._lock = Lock()  # the thread may be writing when the process ends
        self._searching = anyio.CapacityLimiter(1)
        self._question = 0
        self._is_broken = self._is_clean = False
        self._runs: anyio.Event | None = None

    def __repr__(self) -> str:
        return f"<TranscriptStore in {self.directory} {[one.recorder for one in self._records]}>"

    def configure(self, directory: Path, settings: HistorySettings, env: Mapping[str, str]) -> None:
        """Where, how much, and what was configured for agents, which is secret."""
        self.directory, self.settings, self._masking = directory, settings, Masking(env)

    def begin(
        self, key: int, agent: str, cwd: str, source: Source, before: Recalled | None = None
    ) -> Callable[[Event], None]:
        """A session is to be kept: who hears what its editor is told. `before`: what the source says already."""
        record = self._begin(Recorder(key, agent, cwd, source), before)

        def hear(event: Event) -> None:
            nonlocal record
            if not self.settings.transcripts:
                return
            if isinstance(event, Reset):  # what was kept is kept; something else is said from now on
                record.end()
                record = self._begin(Recorder(key, agent, cwd, source), None, record)
            record.recorder.on_event(event)
            if not self._due.is_set() and record.recorder.is_due:
                self._due.set()
                self._run_on()

        return hear

    def _begin(self, recorder: Recorder, recalled: Recalled | None, before: _Record | None = None) -> _Record:
        if recalled is not None:
            recorder.knows(recalled.about, 0 if recalled.file is not None else len(recalled.blocks))
        self._run_on()
        record = _Record(recorder, recalled.file if recalled is not None else None, before)
        self._records.append(record)
        return record

    def _run_on(self) -> None:
        """What writes runs, also after it has failed."""
        if not is_running(self._runs):
            self._runs = self._tasks.spawn(self._run)

    async def end(self, key: int) -> None:
        """Nothing more is said in that session; its file is there for others."""
        for record in self._records:
            if record.recorder.key == key and not record.over:
                record.end()
        await self.flush()

    async def flush(self) -> None:
        """Write all that there is by now."""
        await self._write_due(math.inf)

    def close(self) -> None:
        """The same, at the end of the process: nothing else runs any more."""
        for record in self._records:
            record.recorder.finish()
            while batch := record.recorder.take(math.inf):
                self._write(record, batch)
            if record.file is not None:
                record.file.close()

    async def find(self, query: str, cwd: str | None) -> AsyncIterator[list[FoundSession]]:
        """Transcripts with that text, a few at a time; a later question ends an earlier one."""
        self._question = question = self._question + 1
        if self.directory is None:
            return
        await self.flush()
        alive = {record.file.id: record.recorder.key for record in self._records if record.file is not None}
        found = reader.find(self.directory, query, cwd, lambda: self._question == question)
        while batch := await self._next(found, FOUND_AT_ONCE):
            yield [msgspec.structs.replace(one, session=alive.get(one.id)) for one in batch]

    async def summary(self, transcript_id: str) -> Summary:
        """What a kept conversation is about. Raises `OSError`."""
        path = self._path(transcript_id)
        entry = files.FoundTranscript(transcript_id, path, path.stat().st_size, 0)
        known = await anyio.to_thread.run_sync(reader.summary, entry, limiter=self._searching)
        if known is None:
            raise OSError(22, "this is no conversation", transcript_id)
        return known

    async def blocks(self, transcript_id: str) -> AsyncIterator[list[list[KeptEvent]]]:
        """The blocks of a kept conversation, a few at a time. Raises `OSError`."""
        blocks = reader.blocks(self._path(transcript_id))
        while batch := await self._next(blocks, SHOWN_BLOCKS):
            yield batch

    async def block(self, transcript_id: str, number: int) -> list[KeptEvent]:
        """One block of a kept conversation. Raises `OSError`."""
        path = self._path(transcript_id)
        return await anyio.to_thread.run_sync(reader.block, path, number, limiter=self._searching)

    async def recall(self, transcript_id: str, copied: bool = False) -> Recalled:
        """All of a kept conversation, which goes on in its file, unless it is to be `copied`, or somebody else goes on.

        Raises `OSError`.
        """
        about = (await self.summary(transcript_id)).about
        file = None
        if not copied and self.settings.transcripts:
            with suppress(OSError):
                file = await anyio.to_thread.run_sync(
                    TranscriptFile.again, self._path(transcript_id), limiter=self._searching
                )
        try:
            blocks = [block async for some in self.blocks(transcript_id) for block in some]
        except BaseException:
            if file is not None:
                file.close()
            raise
        return Recalled(blocks=blocks, about=about, file=file)

    async def newest(self, agent: str, session_id: str, cwd: str) -> str | None:
        """The transcript of that session of an agent in a project, the one written last; None when none is kept."""
        if self.directory is None:
            return None
        return await anyio.to_thread.run_sync(
            reader.newest_of, self.directory, agent, session_id, cwd, limiter=self._searching
        )

    async def delete(self, transcript_id: str) -> None:
        """A kept conversation is not kept any more. Raises `OSError`."""
        await anyio.to_thread.run_sync(files.remove, self._path(transcript_id), limiter=self._searching)

    def _path(self, transcript_id: str) -> Path:
        path = files.find(self.directory, transcript_id) if self.directory is not None else None
        if path is None:
            raise FileNotFoundError(2, "there is no such conversation", transcript_id)
        return path

    async def _next(self, items: Iterator[T], count: int) -> list[T]:
        return await anyio.to_thread.run_sync(lambda: list(islice(items, count)), limiter=self._searching)

    async def _run(self) -> None:
        while True:
            await self._due.wait()
            await anyio.sleep(SOON_SECONDS)
            self._due = anyio.Event()
            with self._tasks.contained("writing conversations"):
                await self._write_due(time.monotonic())
                if any(record.recorder.is_due for record in self._records):
                    self._due.set()

    async def _write_due(self, now: float) -> None:
        async with self._writing:  # nobody closes what another one writes
            for record in list(self._records):
                while batch := record.recorder.take(now):
                    await anyio.to_thread.run_sync(self._write, record, batch, limiter=self._thread)
                if record.over:
                    self._records.remove(record)
                    if record.file is not None:
                        record.file.close()
        if not self._is_clean and any(record.file is not None for record in self._records):
            self._is_clean = True
            self._tasks.spawn(self._clean)

    def _write(self, record: _Record, batch: Sequence[Event | About]) -> None:
        """In a thread. What cannot be written is given up."""
        if self._is_broken or self.directory is None:
            return
        try:
            with self._lock:
                if record.file is None:
                    record.file = self._new_file(record, self.directory)
                record.file.write(b"".join(encode(one, self._masking) for one in batch))
        except OSError as error:
            log.error("%r cannot be written: %s", record.recorder, error)
            self._give_up(error)
        except Exception as error:  # a bug of ours: the conversation goes on all the same
            log.exception("%r cannot be written", record.recorder)
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._is_broken = True
        self._trouble(f"Conversations are not kept any more: {error}. Everything else works.")

    def _new_file(self, record: _Record, directory: Path) -> TranscriptFile:
        recorder, before = record.recorder, record.before
        file = TranscriptFile(directory, recorder.cwd, recorder.started)
        header = Header(
            transcript=FORMAT,
            agent=recorder.agent,
            cwd=recorder.cwd,
            started=recorder.started,
            version=__version__,
            supersedes=before.file.id if before is not None and before.file is not None else None,
        )
        file.write(encode(header, self._masking))
        return file

    async def _clean(self) -> None:
        if self.directory is not None:
            days, megabytes = self.settings.days, self.settings.megabytes
            await anyio.to_thread.run_sync(files.remove_old, self.directory, days, megabytes, limiter=self._searching)
