"""A child process: how it is started, and the end of what it says on stderr."""

from __future__ import annotations

import codecs
import logging
import os
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import anyio
import anyio.abc
import anyio.lowlevel

from acp_nvim.file_time import now
from acp_nvim.limits import TAKEN_BYTES
from acp_nvim.process import group, umask
from acp_nvim.process.end_times import note_end
from acp_nvim.process.guarding import Guard
from acp_nvim.process.stopping import Rung, stop, untold

STDERR_LINES: Final = 20
"""Lines of stderr kept for the moment an agent dies."""
STDERR_LINE_CHARS: Final = 400
"""Characters kept of one such line."""
STDERR_READ_LINES: Final = 500
"""Lines of stderr that are looked at of one read, its last: of 16 kB of empty lines all would take 0.1 s."""


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")


class StderrTail:
    """Keeps a bounded number of bounded lines, without colours and control characters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines: deque[str] = deque(maxlen=STDERR_LINES)
        self._open = ""

    def __repr__(self) -> str:
        return f"<StderrTail {len(self._lines)} lines>"

    def feed(self, data: bytes) -> list[str]:
        """Take more bytes; the lines they completed, cleaned: the last `STDERR_READ_LINES` of them."""
        *whole, rest = self._decoder.decode(data).split("\n")
        done: list[str] = []
        if len(whole) > STDERR_READ_LINES:
            whole, self._open = whole[-STDERR_READ_LINES:], ""
        for piece in whole:
            done.append(_clean(self._open + piece))
            self._open = ""
        self._open = (self._open + rest)[: STDERR_LINE_CHARS * 4]
        self._lines.extend(line for line in done if line)
        return done

    def lines(self) -> tuple[str, ...]:
        """Oldest first; an unfinished last line included."""
        last = _clean(self._open)
        return (*self._lines, last) if last else tuple(self._lines)


def _clean(line: str) -> str:
    return _ESCAPES.sub("", line).rstrip()[:STDERR_LINE_CHARS]


log = logging.getLogger(__name__)


class Child:
    """A running process; `source` and `sink` are its stdout and stdin. It `began` then (nanoseconds since 1970)."""

    def __init__(self, name: str, process: anyio.abc.Process, mark: str, began: int, guard: Guard) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self.name = name
        self.source = process.stdout
        self.sink = process.stdin
        self.stderr = StderrTail()
        self._process = process
        self.mark = mark
        self.began = began
        self._guard = guard

    def __repr__(self) -> str:
        return f"<Child {self.name} pid={self.pid} returncode={self.returncode}>"

    @classmethod
    async def spawn(cls, name: str, argv: Sequence[str], cwd: str, env: Mapping[str, str], guard: Guard) -> Child:
        """Start `argv` in `cwd` with our environment and `env` on top. Raises `OSError` when it cannot be started."""
        mark = os.urandom(8).hex()
        environment = {**os.environ, **env, group.MARK_VARIABLE: mark}
        began = now()
        with anyio.CancelScope(shield=True):  # a process that nobody holds could not be stopped
            process = await anyio.open_process(
                argv, cwd=cwd, env=environment, start_new_session=True, umask=umask.of_users()
            )
        guard.watch(process.pid, mark)
        return cls(name, process, mark, began, guard)

    @property
    def pid(self) -> int:
        """The process id; another process may have it once this one is gone."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; minus the signal's number when one killed it; None while it runs."""
        return self._process.returncode

    async def read_stderr(self) -> None:
        """Keep the tail of stderr, and log all of it, until it ends."""
        assert self._process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                for line in self.stderr.feed(await self._process.stderr.receive(TAKEN_BYTES)):
                    log.info("%s stderr: %s", self.name, line)
                await anyio.lowlevel.checkpoint()  # to read what is there need not wait, and others have work, too

    async def wait(self) -> int:
        """The exit code, once the process has ended."""
        return await self._process.wait()

    async def stop(self, on_rung: Callable[[Rung], None] = untold) -> None:
        """End it and everything it started, as `stopping.stop` does; returns when all are gone. Cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            await stop(self._process, self.mark, on_rung)
            note_end(self._guard.ends, self.mark)
            self._guard.forget(self.pid)
