"""Terminals of real commands, watched by a real guard; whatever they start is found again by a mark."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import anyio
import anyio.to_thread
import pytest

from acp_nvim.process import stopping
from acp_nvim.process.guarding import Guard
from acp_nvim.terminals.command_line import command_to_run
from acp_nvim.terminals.terminal import Ended, Listener, Terminal
from tests.core.guards import close_guard
from tests.support.processes import MARK, kill, marked
from tests.support.waiting import LIMIT, wait_until

LIMIT_SECONDS = LIMIT


async def until(condition: Callable[[], object], what: str) -> None:
    """Wait for it, while everything else goes on."""
    await anyio.to_thread.run_sync(wait_until, condition, LIMIT_SECONDS, what)


class Heard:
    """Keeps what a terminal tells its listener."""

    def __init__(self) -> None:
        self.printed = b""
        self.ended: list[Ended] = []
        self.before_end = b""
        """What it had printed when it told of the end."""

    def listener(self) -> Listener:
        """Return a listener that keeps what it is told."""
        return Listener(self._print, self._end)

    def _print(self, data: bytes) -> None:
        self.printed += data

    def _end(self, ended: Ended) -> None:
        self.before_end = self.printed
        self.ended.append(ended)

    async def until(self, words: bytes) -> None:
        """Wait until the command has printed this."""
        await until(lambda: words in self.printed, f"{words!r} on the terminal")


Start = Callable[..., Awaitable[tuple[Terminal, Heard]]]


@pytest.fixture
def anyio_backend() -> str:
    """With the real clock: whether processes run is looked up again and again, and there is no pipe to most of them."""
    return "asyncio"


@pytest.fixture
def mark() -> Iterator[str]:
    """In the environment of all that a test starts; nothing of it outlives the test."""
    word = secrets.token_hex(8)
    yield word
    kill(marked(word))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who heeds SIGTERM, or was killed, is waited for however busy the machine is."""
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", LIMIT)
    monkeypatch.setattr(stopping, "KILL_SECONDS", LIMIT)


@pytest.fixture
def guard() -> Iterator[Guard]:
    """A guard that is closed after the test."""
    guard = Guard()
    yield guard
    close_guard(guard)


@pytest.fixture
async def start(guard: Guard, mark: str) -> AsyncIterator[Start]:
    """Starts a command in a terminal; it is ended with the test."""
    async with anyio.create_task_group() as tasks:

        async def begin(command: str, *args: str, cwd: str = "/", limit: int = 100_000) -> tuple[Terminal, Heard]:
            heard = Heard()
            runs = command_to_run(command, list(args), cwd, {MARK: mark, "PS1": ""})
            terminal = await Terminal.start(runs, limit, guard)
            tasks.start_soon(terminal.run, heard.listener())
            return terminal, heard

        yield begin
        tasks.cancel_scope.cancel()


@pytest.fixture
def shell(start: Start) -> Start:
    """Start a line of shell in a terminal."""

    async def begin(line: str, **options: object) -> tuple[Terminal, Heard]:
        return await start("/bin/sh", "-c", line, **options)

    return begin
