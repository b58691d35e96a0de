"""Stops a process and its descendants: close stdin (if it is ours), wait, SIGTERM, wait, SIGKILL."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal

import anyio
import anyio.abc
import anyio.to_thread

from acp_nvim.limits import EOF_GRACE_SECONDS, KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import group

PAUSE_SECONDS = 0.05

Rung = Literal["end of input", "SIGTERM", "SIGKILL"]


def ignore_rung(_rung: Rung) -> None:
    """Ignore a rung: for stops that are not reported to the user."""


async def stop(process: anyio.abc.Process, mark: str, on_rung: Callable[[Rung], None] = ignore_rung) -> None:
    """Stop the process with its descendants; return when all are gone. Call `on_rung` before each step."""
    if process.stdin is not None:
        on_rung("end of input")
        with suppress(OSError, anyio.BrokenResourceError):
            await process.stdin.aclose()
        with anyio.move_on_after(EOF_GRACE_SECONDS):
            await process.wait()
    await stop_rest(process.pid, mark, on_rung)
    with anyio.move_on_after(KILL_SECONDS):
        await process.wait()


async def stop_rest(pid: int, mark: str, on_rung: Callable[[Rung], None] = ignore_rung) -> None:
    """Stop the processes of `pid` and `mark` that still run (see `group.members`); there may be none."""
    left = await _members(pid, mark)
    if left:
        on_rung("SIGTERM")
        await _send(pid, mark, signal.SIGTERM)
        left = await _wait_until_gone(pid, mark)
    if left:
        on_rung("SIGKILL")
        await _send(pid, mark, signal.SIGKILL)  # whatever time it takes to find them on a busy machine
        with anyio.move_on_after(KILL_SECONDS):
            while await _members(pid, mark):  # a process may have started another since they were listed
                await _send(pid, mark, signal.SIGKILL)
                await anyio.sleep(PAUSE_SECONDS)


async def _wait_until_gone(pid: int, mark: str) -> set[int]:
    deadline = anyio.current_time() + TERM_GRACE_SECONDS
    while True:
        left = await _members(pid, mark)
        if not left or anyio.current_time() > deadline:
            return left
        await anyio.sleep(PAUSE_SECONDS)


async def _members(pid: int, mark: str) -> set[int]:
    return await anyio.to_thread.run_sync(group.members, pid, mark)


async def _send(pid: int, mark: str, number: int) -> None:
    await anyio.to_thread.run_sync(group.send_found, partial(group.members, pid, mark), number)
