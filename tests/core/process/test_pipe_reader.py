"""The stdout of a process: all of it, in order, and no more of it in memory than is wanted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import pytest

from acp_nvim.limits import READ_BYTES
from acp_nvim.process.pipe_reader import WAITING_BYTES, PipeReader
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

NUMBERS = b"".join(b"%d\n" % number for number in range(200_000))
SAY_NUMBERS = "import sys; sys.stdout.write(''.join(f'{number}\\n' for number in range(200_000)))"


@asynccontextmanager
async def running(script: str) -> AsyncIterator[anyio.abc.Process]:
    """A process that runs a script of Python, and reads its stdin."""
    argv = [sys.executable, "-S", "-c", script]
    async with await anyio.open_process(argv, stdin=subprocess.PIPE, stderr=None) as process:
        with anyio.fail_after(LIMIT):
            yield process


async def rest_of(reader: PipeReader, most: int = READ_BYTES) -> bytes:
    """Read to the end of the stream."""
    said = b""
    try:
        while True:
            piece = await reader.receive(most)
            assert 0 < len(piece) <= most
            said += piece
    except anyio.EndOfStream:
        return said


@pytest.mark.parametrize("most", [1_000, READ_BYTES])
async def test_all_of_it_arrives_in_order(most: int) -> None:
    async with running(SAY_NUMBERS) as process:
        reader = PipeReader(process)
        assert await rest_of(reader, most) == NUMBERS
        assert await rest_of(reader) == b""
        assert await process.wait() == 0
        assert repr(reader) == "<PipeReader 0 bytes waiting, over>"


async def test_what_was_said_before_comes_first() -> None:
    async with running("print('first', flush=True); input(); print('second')") as process:
        assert process.stdout is not None
        assert process.stdin is not None
        early = await process.stdout.receive(1)
        reader = PipeReader(process)
        await process.stdin.send(b"\n")
        assert early + await rest_of(reader) == b"first\nsecond\n"


async def test_of_a_process_that_has_ended_the_output_is_there() -> None:
    async with running("print('last words')") as process:
        assert await process.wait() == 0
        assert await rest_of(PipeReader(process)) == b"last words\n"


async def test_a_process_that_says_too_much_has_to_wait() -> None:
    async with running(SAY_NUMBERS) as process:
        reader = PipeReader(process)
        first = await reader.receive(1)
        while reader._size <= WAITING_BYTES:
            await anyio.lowlevel.checkpoint()
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        assert reader._size <= WAITING_BYTES + READ_BYTES
        assert first + await rest_of(reader) == NUMBERS


async def test_a_receiver_that_is_cancelled_loses_nothing() -> None:
    async with running("input(); print('words')") as process:
        assert process.stdin is not None
        reader = PipeReader(process)
        with anyio.move_on_after(0):
            await reader.receive()
        await process.stdin.send(b"\n")
        assert await rest_of(reader) == b"words\n"


async def test_what_is_not_needed_yet_is_read_later_and_all_at_once() -> None:
    async with running("import os; input(); os.write(1, b'1'); input(); os.write(1, b'2'); input()") as process:
        assert process.stdin is not None
        reader, needed_at = PipeReader(process), anyio.current_time() + 0.5
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.stdin.send, b"\n\n")
            said = await reader.receive(READ_BYTES, needed_at)
        assert anyio.current_time() >= needed_at
        assert said == b"12"
        await process.stdin.send(b"\n")
        assert await rest_of(reader) == b""


async def test_when_nothing_came_meanwhile_the_next_is_not_waited_for_again() -> None:
    async with running("import os; input(); os.write(1, b'a'); input(); os.write(1, b'b')") as process:
        assert process.stdin is not None
        reader = PipeReader(process)
        with anyio.move_on_after(0.05):
            await reader.receive(READ_BYTES, anyio.current_time() + 0.001)
        await process.stdin.send(b"\n")
        assert await reader.receive(READ_BYTES) == b"a"
        needed_at = anyio.current_time() + 0.001
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.stdin.send, b"\n")
            assert await reader.receive(READ_BYTES, needed_at) == b"b"
        assert await rest_of(reader) == b""


async def test_a_process_that_ends_during_a_pause_is_noticed() -> None:
    async with running("import os; os.write(1, b'last words')") as process:
        reader = PipeReader(process)
        assert await reader.receive() == b"last words"
        with pytest.raises(anyio.EndOfStream):
            await reader.receive(READ_BYTES, anyio.current_time() + 0.05)
        assert await process.wait() == 0


async def test_a_pause_that_is_cancelled_loses_nothing() -> None:
    async with running("input(); print('words')") as process:
        assert process.stdin is not None
        reader = PipeReader(process)
        with anyio.move_on_after(0):
            await reader.receive(READ_BYTES, anyio.current_time() + LIMIT)
        await process.stdin.send(b"\n")
        assert await rest_of(reader) == b"words\n"
