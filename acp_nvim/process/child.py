"""Starts an agent's process and keeps the tail of its stderr."""

from __future__ import annotations

import codecs
import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import anyio
import anyio.abc
import anyio.lowlevel

from acp_nvim.file_time import now
from acp_nvim.lazy import pattern
from acp_nvim.limits import TAKEN_BYTES
from acp_nvim.process.end_times import note_end
from acp_nvim.process.guarding import Guard
from acp_nvim.process.pipe_reader import PipeReader
from acp_nvim.process.stopping import Rung, ignore_rung, stop

STDERR_LINES: Final = 20
"""Lines of stderr kept for the report about an agent that died."""
STDERR_LINE_CHARS: Final = 400
"""Characters kept of one such line."""
LAST_WORDS_SECONDS: Final = 2.0
"""Time before its end in which an agent explains it: some write a traceback, answer with an error, and exit then."""
PIPES_SECONDS: Final = 0.1
"""Time by which stderr may be read after a message that was written later: the two are separate pipes."""
STDERR_READ_LINES: Final = 500
"""Lines kept of one read of stderr, the last ones: cleaning all of 16 kB of empty lines would take 0.1 s."""


_ESCAPES = pattern(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


class StderrTail:
    """Keeps a bounded number of bounded lines, the first and the last, without colours and control characters."""

    def __init__(self) -> None:
        self._fed = 0.0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines: deque[tuple[float, str]] = deque(maxlen=STDERR_LINES)
        self.first: list[str] = []
        """The first lines, as many as are kept of the last ones."""
        self._open = ""

    def feed(self, data: bytes, time: float = 0.0) -> list[str]:
        """Add bytes that were read at a time, in seconds.

        Return the lines that they complete, cleaned: at most the last `STDERR_READ_LINES`.
        """
        self._fed = time
        *whole, rest = self._decoder.decode(data).split("\n")
        done: list[str] = []
        if len(whole) > STDERR_READ_LINES:
            whole, self._open = whole[-STDERR_READ_LINES:], ""
        for piece in whole:
            done.append(_clean(self._open + piece))
            self._open = ""
        self._open = (self._open + rest)[: STDERR_LINE_CHARS * 4]
        said = [line for line in done if line]
        self.first += said[: STDERR_LINES - len(self.first)]
        self._lines.extend((self._fed, line) for line in said)
        return done

    def lines(self, since: float = 0.0) -> tuple[str, ...]:
        """Return the kept lines that were read at `since` or later, oldest first, with an unfinished last line."""
        last = [(self._fed, _clean(self._open))] if self._open else []
        return tuple(line for fed, line in (*self._lines, *last) if line and fed >= since)


def _clean(line: str) -> str:
    return _ESCAPES.sub("", line).rstrip()[:STDERR_LINE_CHARS]


log = logging.getLogger(__name__)


class Exited(NamedTuple):
    """How a process ended, with its last lines on stderr. `returncode`: None while it runs, or if unknown."""

    returncode: int | None
    last_words: tuple[str, ...]


class Child:
    """A running process with stdout `source` and stdin `sink`, started at `began` (nanoseconds since 1970)."""

    def __init__(self, name: str, process: anyio.abc.Process, mark: str, began: int, guard: Guard) -> None:
        assert process.stdin is not None
        self.name = name
        self.source = PipeReader(process)
        self.sink = process.stdin
        self.stderr = StderrTail()
        self._process = process
        self.mark = mark
        self.began = began
        self._guard = guard
        self.ended: float | None = None  # when `wait` saw the end, on the clock of `anyio.current_time`

    def __repr__(self) -> str:
        return f"<Child {self.name} pid={self.pid} returncode={self.returncode}>"

    @property
    def pid(self) -> int:
        """The process id; it may be reused once the process has ended."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; the negative signal number after a kill; None while the process runs."""
        return self._process.returncode

    def ending(self, heard: float | None = None) -> Exited:
        """Return how the process ended, with its last words; `heard` is a time in seconds, as in `last_words`."""
        return Exited(self.returncode, self.last_words(heard))

    def last_words(self, heard: float | None = None) -> tuple[str, ...]:
        """Return the lines of stderr that can explain why the process ended, or does not start; oldest first.

        Agents write to stderr all the time, so lines from before the last message say nothing about the end. `heard` is
        when it came (seconds of `anyio.current_time`), None if there was none yet. Except for those of its last
        `LAST_WORDS_SECONDS`: it may have written them before it sent an error. A process that was killed by SIGKILL did
        not know of that.
        """
        since = 0.0 if heard is None else heard + PIPES_SECONDS
        if self.returncode != -signal.SIGKILL:
            since = min(since, (self.ended or anyio.current_time()) - LAST_WORDS_SECONDS)
        return self.stderr.lines(since)

    def first_words(self) -> tuple[str, ...]:
        """Return the first lines of stderr, where a usage message says that it is one."""
        return tuple(self.stderr.first)

    async def read_aside(self) -> None:
        """Log all of stderr and keep its beginning and its tail, until it ends."""
        assert self._process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                for line in self.stderr.feed(await self._process.stderr.receive(TAKEN_BYTES), anyio.current_time()):
                    log.info("%s stderr: %s", self.name, line)
                await anyio.lowlevel.checkpoint()  # reading available data does not yield to other tasks

    async def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        code = await self._process.wait()
        self.ended = self.ended or anyio.current_time()
        return code

    async def stop(self, on_rung: Callable[[Rung], None] = ignore_rung) -> None:
        """Stop the process and its descendants (see `stopping.stop`); return when all are gone. Cannot be cancelled."""
        self.source.resume()
        with anyio.CancelScope(shield=True):
            await stop(self._process, self.mark, on_rung)
            note_end(self._guard.ends, self.mark)
            self._guard.forget(self.mark)


class ChildProcesses:
    """Starts agents in processes that do not outlive the host: `guard` stops them if it dies."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    async def start(self, name: str, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> Child:
        """Start `argv` in `cwd` with our environment and `env` on top. Raises `OSError` when it cannot be started."""
        began = now()
        process, mark = await self.guard.start(argv, cwd, {**os.environ, **env})
        return Child(name, process, mark, began, self.guard)
