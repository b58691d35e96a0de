"""Scripted agents inside the test: a script that uses nothing but the protocol needs no process of its own.

It runs in green threads, between the steps of the host, so that each run of a test takes the same way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import anyio

from acp_nvim.file_time import now
from acp_nvim.process.child import ChildProcesses, Exited
from acp_nvim.process.end_times import note_end
from acp_nvim.process.guarding import Guard
from acp_nvim.process.stopping import Rung, ignore_rung
from tests.agents.green_threads import GreenThreads
from tests.agents.scripted import Agent, read_script
from tests.agents.scripted_wire import Record
from tests.support import processes
from tests.support.agent_scripts import COMMAND

NEEDS_PROCESS = re.compile(
    r"\b(?:import|open|os|signal|time|STUBBORN|IGNORE_EOF|IGNORE_SIGTERM|at_eof)\b"
    r"|\.(?:spawn|exit|die|stderr|close_stdout|pause_reading|flood|say_all)\b"
)
"""What a script says that uses files, processes, clocks or pipes."""
NUMBERS = count(1_000_000_000)
"""Stand for process ids: greater than any of them."""
RUNNING: set[int] = set()


def look_at(number: int) -> object:
    """The agent that has noted that as `started`; None when it is gone."""
    return number if number in RUNNING else processes.look_at(number)


class _Source:
    """What the agent says; the host reads it as from a `PipeReader`."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._is_over = False
        self._news = anyio.Event()

    def put(self, data: bytes) -> None:
        self._data += data
        self._news.set()

    def end(self) -> None:
        self._is_over = True
        self._news.set()

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        await anyio.sleep_until(not_before)
        if not self._data and not self._is_over:
            self._news = anyio.Event()
            await self._news.wait()
        if not self._data:
            raise anyio.EndOfStream
        data = bytes(self._data[:max_bytes])
        del self._data[:max_bytes]
        return data


class _Pipes:
    """The pipes of the agent, and its end: `scripted_wire.Pipes` in memory."""

    def __init__(self, threads: GreenThreads) -> None:
        self.source = _Source()
        self.ended = anyio.Event()
        self.code: int | None = None
        self._heard = threads.SimpleQueue()
        self._threads = threads

    def hear(self, data: bytes | None) -> None:
        """What the host writes; None: it closes the pipe."""
        self._heard.put(data)

    def lines(self) -> Iterator[bytes]:
        """See `scripted_wire.Pipes`."""
        rest = b""
        while (data := self._heard.get()) is not None:
            *lines, rest = (rest + data).split(b"\n")
            yield from lines

    def write(self, data: bytes) -> None:
        """See `scripted_wire.Pipes`; the others run before the next write."""
        self.source.put(data)
        self._threads.pause()

    def exit(self, code: int) -> NoReturn:
        """See `scripted_wire.Pipes`."""
        self.code = code
        self.source.end()
        self.ended.set()
        self._threads.end()
        raise self._threads.Ended


class _Sink:
    """What the agent hears."""

    def __init__(self, pipes: _Pipes) -> None:
        self._pipes = pipes

    async def send(self, item: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        if self._pipes.code is not None:
            raise anyio.BrokenResourceError
        self._pipes.hear(item)


class InProcessAgent:
    """A `Transport` to an agent that runs in the test."""

    pid = None

    def __init__(self, argv: Sequence[str], cwd: str, guard: Guard) -> None:
        self.mark, self.began = os.urandom(8).hex(), now()
        self._guard = guard
        threads = GreenThreads()
        self._pipes = pipes = _Pipes(threads)
        self.source, self.sink = pipes.source, _Sink(pipes)
        self._number = next(NUMBERS)
        RUNNING.add(self._number)
        path, traffic = argv[-2:]
        self._record = Record(traffic)
        self._record.value("note", {"started": self._number, "cwd": cwd})
        threads.start(Agent(read_script(path), self._record, threads, pipes).run)

    def ending(self, heard: float | None = None) -> Exited:
        """See `Transport`."""
        return Exited(self._pipes.code, ())

    def last_words(self, heard: float | None = None) -> tuple[str, ...]:
        """See `Transport`."""
        return ()

    def first_words(self) -> tuple[str, ...]:
        """See `Transport`."""
        return ()

    async def read_aside(self) -> None:
        """See `Transport`."""
        await self._pipes.ended.wait()

    async def wait(self) -> int:
        """See `Transport`."""
        await self._pipes.ended.wait()
        assert self._pipes.code is not None
        return self._pipes.code

    async def stop(self, on_rung: Callable[[Rung], None] = ignore_rung) -> None:
        """See `Transport`."""
        on_rung("end of input")
        self._pipes.hear(None)
        with anyio.CancelScope(shield=True):
            await self.wait()
        self._record.close()
        RUNNING.discard(self._number)
        note_end(self._guard.ends, self.mark)


class InProcessAgents(ChildProcesses):
    """Starts scripts in the test where they need nothing else, and all else as a process.

    `with_process` are the names of agents that get one in any case.
    """

    def __init__(self, guard: Guard) -> None:
        super().__init__(guard)
        self.with_process: set[str] = set()

    async def start(self, name: str, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> Any:
        """See `ChildProcesses`."""
        if name in self.with_process or list(argv[:-2]) != COMMAND or needs_process(argv[-2]):
            return await super().start(name, argv, cwd, env)
        await anyio.lowlevel.checkpoint()
        return InProcessAgent(argv, cwd, self.guard)


def needs_process(path: str) -> bool:
    """Whether the script at the path uses more than the protocol."""
    return NEEDS_PROCESS.search(Path(path).read_text(encoding="utf-8")) is not None
