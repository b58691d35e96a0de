"""Agents of a few lines of shell, watched by a real guard; whatever they start is found again by a mark."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import anyio
import pytest

from acp_nvim.process.child import Child
from acp_nvim.process.guarding import Guard
from tests.core.guards import close_guard
from tests.support.processes import MARK, kill, marked

Spawn = Callable[[str], Awaitable[Child]]


@pytest.fixture
def mark() -> Iterator[str]:
    """In the environment of all that a test starts; nothing of it outlives the test."""
    word = secrets.token_hex(8)
    yield word
    kill(marked(word))


@pytest.fixture
def guard() -> Iterator[Guard]:
    """Ended with the test."""
    guard = Guard()
    yield guard
    close_guard(guard)


@pytest.fixture
async def spawn(guard: Guard, mark: str) -> AsyncIterator[Spawn]:
    """Starts `sh -c SCRIPT`, waits until it has said `ready`; it is stopped at the end, if the test did not."""
    async with AsyncExitStack() as stack:

        async def start(script: str) -> Child:
            child = await Child.spawn("it", ["sh", "-c", script], "/", {MARK: mark}, guard)
            stack.push_async_callback(child.stop)
            said = b""
            with anyio.fail_after(60):
                while b"ready" not in said:
                    said += await child.source.receive()
            return child

        yield start
