"""Agents of a few lines of shell, watched by a real guard; whatever they start is found again by a mark."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack

import anyio
import pytest

from acp_nvim.process.child import Child, ChildProcesses
from acp_nvim.process.guarding import Guard
from tests.core.guards import close_guard
from tests.support.processes import MARK, kill, marked

Start = Callable[[Sequence[str], str, Mapping[str, str]], Awaitable[Child]]
Spawn = Callable[[str], Awaitable[Child]]


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


@pytest.fixture
def guard() -> Iterator[Guard]:
    """A guard that is closed after the test."""
    guard = Guard()
    yield guard
    close_guard(guard)


@pytest.fixture
async def start(guard: Guard) -> AsyncIterator[Start]:
    """Starts a command in a directory with more environment on top; its pipes are closed at the end.

    The event loop notices only a moment after the end of a process that its pipes have ended, too.
    """
    async with AsyncExitStack() as stack:

        async def started(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> Child:
            child = await ChildProcesses(guard).start("it", command, cwd, env)
            stack.push_async_callback(child._process.aclose)
            stack.push_async_callback(child.stop)
            return child

        yield started


@pytest.fixture
async def spawn(start: Start, mark: str) -> Spawn:
    """Starts `sh -c SCRIPT`, waits until it has said `ready`; it is stopped at the end, if the test did not."""

    async def spawned(script: str) -> Child:
        child = await start(["sh", "-c", script], "/", {MARK: mark})
        said = b""
        with anyio.fail_after(60):
            while b"ready" not in said:
                said += await child.source.receive()
        return child

    return spawned
