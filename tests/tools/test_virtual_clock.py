"""The clock of tests jumps over waits for nothing but time, and over nothing else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.support.virtual_clock import VirtualClockLoop

HOUR = 3600.0
SHORT = 0.05
"""Real seconds that something outside takes."""
LONG = 60.0
"""Seconds of a timer that must not be jumped to."""

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True], ids=["plain", "debug"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    """Debug mode has its own ways through the loop."""
    return "asyncio", {"loop_factory": VirtualClockLoop, "debug": request.param}


@contextmanager
def jumps(seconds: float) -> Iterator[None]:
    """Just that much time of the loop's clock passes in here. If an hour were a real one, the test would never end."""
    began = anyio.current_time()
    yield
    assert anyio.current_time() - began == pytest.approx(seconds)


@contextmanager
def does_not_jump() -> Iterator[None]:
    """No more time of the loop's clock passes in here than of the real one."""
    began_really, began = time.monotonic(), anyio.current_time()
    yield
    assert anyio.current_time() - began <= time.monotonic() - began_really


async def test_an_hour_takes_no_time() -> None:
    with jumps(HOUR):
        await anyio.sleep(HOUR)
    with jumps(HOUR):
        await asyncio.sleep(HOUR)


async def test_the_clock_stands_still_while_code_does_not_jump() -> None:
    with jumps(0.0):
        for _ in range(100):
            await anyio.lowlevel.checkpoint()


async def test_timers_run_in_their_order() -> None:
    woken = []

    async def wake(seconds: float) -> None:
        await anyio.sleep(seconds)
        woken.append((seconds, round(anyio.current_time() - began, 6)))

    began = anyio.current_time()
    async with anyio.create_task_group() as tasks:
        for seconds in (2 * HOUR, HOUR, 0.5, 3 * HOUR):
            tasks.start_soon(wake, seconds)
    assert woken == [(seconds, seconds) for seconds in (0.5, HOUR, 2 * HOUR, 3 * HOUR)]


async def test_limits() -> None:
    with jumps(HOUR), pytest.raises(TimeoutError), anyio.fail_after(HOUR):
        await anyio.sleep_forever()
    with jumps(HOUR), anyio.move_on_after(HOUR) as scope:
        await anyio.sleep(2 * HOUR)
    assert scope.cancelled_caught
    with jumps(HOUR), pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), HOUR)
    with jumps(1.0), anyio.fail_after(HOUR):
        await anyio.sleep(1)


async def test_a_thread_that_works_is_waited_for() -> None:
    with does_not_jump(), anyio.fail_after(LONG):
        await anyio.to_thread.run_sync(time.sleep, SHORT)


async def test_a_thread_that_nobody_awaits_any_more_is_waited_for() -> None:
    done, go_on = [], threading.Event()

    def work() -> None:
        go_on.wait()
        done.append(True)

    with anyio.move_on_after(SHORT):
        await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    assert done == []
    asyncio.get_running_loop().call_later(SHORT, go_on.set)
    with does_not_jump():
        await anyio.sleep(SHORT)
    await anyio.sleep(HOUR)
    assert done == [True]


async def test_an_idle_thread_is_not_waited_for() -> None:
    await anyio.to_thread.run_sync(threading.get_ident)
    with jumps(HOUR):
        await anyio.sleep(HOUR)


async def test_a_thread_may_go_back_to_the_loop() -> None:
    async def sleep() -> str:
        await anyio.sleep(SHORT)
        return "slept"

    with does_not_jump():
        assert await anyio.to_thread.run_sync(anyio.from_thread.run, sleep) == "slept"


async def test_a_thread_of_an_executor_is_waited_for() -> None:
    with does_not_jump(), anyio.fail_after(LONG):
        await asyncio.get_running_loop().run_in_executor(None, time.sleep, SHORT)


async def test_any_thread_is_waited_for_and_its_end_is_noticed() -> None:
    thread = threading.Thread(target=time.sleep, args=(SHORT,))
    thread.start()
    await anyio.sleep(HOUR)
    assert not thread.is_alive()


async def test_an_open_pipe_holds_the_clock_to_real_time() -> None:
    source, sink = os.pipe()
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(source, readable.set)
    try:
        with does_not_jump():
            await anyio.sleep(SHORT)
        loop.call_later(SHORT, os.write, sink, b"x")
        with does_not_jump():
            await asyncio.wait_for(readable.wait(), LONG)
    finally:
        loop.remove_reader(source)
        os.close(source)
        os.close(sink)
    with jumps(HOUR):
        await anyio.sleep(HOUR)


@pytest.mark.parametrize("pipes", [subprocess.PIPE, subprocess.DEVNULL], ids=["pipes", "no pipes"])
async def test_a_process_is_waited_for(pipes: int) -> None:
    program = [sys.executable, "-c", f"import time; time.sleep({SHORT})"]
    with anyio.fail_after(LONG):
        done = await anyio.run_process(program, stdin=pipes, stdout=pipes, stderr=pipes)
    assert done.returncode == 0
    with jumps(HOUR):
        await anyio.sleep(HOUR)


async def test_the_clock_does_not_jump_over_the_last_word_of_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, began, heard = asyncio.get_running_loop(), anyio.current_time(), []
    assert isinstance(loop, VirtualClockLoop)

    def say_it() -> bool:
        monkeypatch.undo()
        loop.call_soon_threadsafe(lambda: heard.append(anyio.current_time() - began))
        return False

    monkeypatch.setattr(loop, "threads_work", say_it)  # it ends while the loop looks at the threads
    await anyio.sleep(HOUR)
    assert heard == [0.0]
