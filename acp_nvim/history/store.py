"""Stores conversations in files, in the background, and removes old ones."""

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
from acp_nvim.contract.events import Event, Reset
from acp_nvim.contract.session_events import FoundSession
from acp_nvim.contract.settings import HistorySettings
from acp_nvim.history import files, reader
from acp_nvim.history.files import TranscriptFile
from acp_nvim.history.reader import Summary
from acp_nvim.history.recorder import Recorder, Source
from acp_nvim.history.records import FORMAT, About, Header, KeptEvent, Masking, Recalled, encode
from acp_nvim.limits import SOON_SECONDS
from acp_nvim.tasks import Tasks, is_running

FOUND_AT_ONCE: Final = 20
"""Search results sent together: the first ones do not wait for the last."""
SHOWN_BLOCKS: Final = 50
"""Blocks of a transcript read at once, so that the first are shown before the last are read."""

log = logging.getLogger(__name__)

T = TypeVar("T")


class TranscriptStore:
    """Writes and reads transcripts below `directory`; `trouble` is called once, with a message."""

    def __init__(self, tasks: Tasks, directory: Path, trouble: Callable[[str], None]) -> None:
        self.directory = directory
        self.settings = HistorySettings()
        self._masking = Masking({})
        self._tasks = tasks
        self._trouble = trouble
        self._recorders: list[Recorder] = []
        self._due = anyio.Event()
        self._thread = anyio.CapacityLimiter(1)
        self._writing = anyio.Lock()
        self._lock = Lock()  # a thread may still write when the process ends
        self._searching = anyio.CapacityLimiter(1)
        self._question = 0
        self._is_broken = self._is_clean = False
        self._writer: anyio.Event | None = None

    def configure(self, settings: HistorySettings, env: Mapping[str, str]) -> None:
        """Set the limits, and agents' configured environment, whose values are secret."""
        self.settings, self._masking = settings, Masking(env)

    @property
    def masking(self) -> Masking:
        """Masks the secrets in what is stored of conversations."""
        return self._masking

    def begin(
        self, key: int, agent: str, cwd: str, source: Source, recalled: Recalled | None = None
    ) -> Callable[[Event], None]:
        """Keep a session; return the function that receives its events. It goes on with `recalled`, if given."""
        recorder = self._begin(Recorder(key, agent, cwd, source))
        if recalled is not None:
            recorder.resume(recalled)

        def hear(event: Event) -> None:
            nonlocal recorder
            if not self.settings.transcripts:
                return
            if isinstance(event, Reset):  # another conversation begins; the present one is kept
                recorder.end()
                recorder = self._begin(Recorder(key, agent, cwd, source, recorder))
            recorder.on_event(event)
            if not self._due.is_set() and recorder.is_due:
                self._due.set()
                self._ensure_running()

        return hear

    def _begin(self, recorder: Recorder) -> Recorder:
        self._ensure_running()
        self._recorders.append(recorder)
        return recorder

    def _ensure_running(self) -> None:
        """Start the task that writes, also if it has failed."""
        if not is_running(self._writer):
            self._writer = self._tasks.spawn(self._run)

    async def end(self, key: int) -> None:
        """Write the rest of a session, and close its file, so that others may use it."""
        for recorder in self._recorders:
            if recorder.key == key and not recorder.is_over:
                recorder.end()
        await self.flush()

    async def flush(self) -> None:
        """Write all that is known of all sessions."""
        await self._write_due(math.inf)

    def close(self) -> None:
        """Flush at the end of the process, without a running event loop."""
        for recorder in self._recorders:
            recorder.finish()
            while batch := recorder.take(math.inf):
                self._write(recorder, batch)
            if recorder.file is not None:
                recorder.file.close()

    async def find(self, query: str, cwd: str | None) -> AsyncIterator[list[FoundSession]]:
        """Yield transcripts with that text, a few at a time; a later search ends an earlier one."""
        self._question = question = self._question + 1
        await self.flush()
        alive = {one.file.id: one.key for one in self._recorders if one.file is not None}
        found = reader.find(self.directory, query, cwd, lambda: self._question == question)
        while batch := await self._next(found, FOUND_AT_ONCE):
            yield [msgspec.structs.replace(one, session=alive.get(one.id)) for one in batch]

    async def summary(self, transcript_id: str) -> Summary:
        """Return the summary of a transcript. Raises `OSError`."""
        path = self._path(transcript_id)
        entry = files.FoundTranscript(transcript_id, path, path.stat().st_size, 0)
        known = await anyio.to_thread.run_sync(reader.summary, entry, limiter=self._searching)
        if known is None:
            raise OSError(22, "this is no conversation", transcript_id)
        return known

    async def blocks(self, transcript_id: str) -> AsyncIterator[list[list[KeptEvent]]]:
        """Yield the blocks of a transcript, a few at a time. Raises `OSError`."""
        blocks = reader.blocks(self._path(transcript_id))
        while batch := await self._next(blocks, SHOWN_BLOCKS):
            yield batch

    async def block(self, transcript_id: str, number: int) -> list[KeptEvent]:
        """Return one block of a transcript by its number. Raises `OSError`."""
        path = self._path(transcript_id)
        return await anyio.to_thread.run_sync(reader.block, path, number, limiter=self._searching)

    async def recall(self, transcript_id: str, copied: bool = False) -> Recalled:
        """Return a whole conversation, with its file unless `copied` or in use elsewhere. Raises `OSError`."""
        about = (await self.summary(transcript_id)).about
        file = None
        if not copied and self.settings.transcripts:
            with suppress(OSError):
                file = await anyio.to_thread.run_sync(
                    TranscriptFile.reopen, self._path(transcript_id), limiter=self._searching
                )
        try:
            blocks = [block async for some in self.blocks(transcript_id) for block in some]
        except BaseException:
            if file is not None:
                file.close()
            raise
        return Recalled(blocks=blocks, about=about, file=file)

    async def newest(self, agent: str, session_id: str, cwd: str) -> str | None:
        """Return the newest transcript of an agent's session in a project; None if there is none."""
        return await anyio.to_thread.run_sync(
            reader.newest_of, self.directory, agent, session_id, cwd, limiter=self._searching
        )

    async def delete(self, transcript_id: str) -> None:
        """Delete a transcript. Raises `OSError` if it is missing or in use."""
        await anyio.to_thread.run_sync(files.remove, self._path(transcript_id), limiter=self._searching)

    def _path(self, transcript_id: str) -> Path:
        path = files.find(self.directory, transcript_id)
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
                if any(recorder.is_due for recorder in self._recorders):
                    self._due.set()

    async def _write_due(self, now: float) -> None:
        async with self._writing:  # no file is closed while it is written
            for recorder in list(self._recorders):
                while batch := recorder.take(now):
                    await anyio.to_thread.run_sync(self._write, recorder, batch, limiter=self._thread)
                if recorder.is_over:
                    self._recorders.remove(recorder)
                    if recorder.file is not None:
                        recorder.file.close()
        if not self._is_clean and any(recorder.file is not None for recorder in self._recorders):
            self._is_clean = True
            self._tasks.spawn(self._clean)

    def _write(self, recorder: Recorder, batch: Sequence[Event | About]) -> None:
        """Write a batch. Blocks. After a failure nothing is written any more."""
        if self._is_broken:
            return
        try:
            with self._lock:
                if recorder.file is None:
                    recorder.file = self._new_file(recorder, self.directory)
                masked = [recorder.masked(one, self._masking.masker) for one in batch]
                recorder.file.write(b"".join(encode(one, self._masking) for one in masked))
        except OSError as error:
            log.error("%r cannot be written: %s", recorder, error)
            self._give_up(error)
        except Exception as error:  # a bug here must not end the conversation
            log.exception("%r cannot be written", recorder)
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._is_broken = True
        self._trouble(f"Conversations are not kept any more: {error}. Everything else works.")

    def _new_file(self, recorder: Recorder, directory: Path) -> TranscriptFile:
        before = recorder.before
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
        days, megabytes = self.settings.days, self.settings.megabytes
        await anyio.to_thread.run_sync(files.remove_old, self.directory, days, megabytes, limiter=self._searching)
