"""The stop ladder: close stdin, wait, SIGTERM, wait, SIGKILL; for the process and all that it started."""

from __future__ import annotations

import signal
from contextlib import suppress

import anyio
import anyio.abc
import anyio.to_thread

from acp_nvim.limits import EOF_GRACE_SECONDS, KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import group

PAUSE_SECONDS = 0.05


async def stop(process: anyio.abc.Process, mark: str) -> None:
    """Returns when the process and everything it started are gone."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError):
            await process.stdin.aclose()
    with anyio.move_on_after(EOF_GRACE_SECONDS):
        await process.wait()
    left = await _members(process, mark)
    if left:
        group.send(left, signal.SIGTERM)
        left = await _wait_until_gone(process, mark)
    with anyio.move_on_after(KILL_SECONDS):
        if left:
            await _kill(process, mark)
        await process.wait()


async def _wait_until_gone(process: anyio.abc.Process, mark: str) -> set[int]:
    deadline = anyio.current_time() + TERM_GRACE_SECONDS
    while True:
        left = await _members(process, mark)
        if not left or anyio.current_time() > deadline:
            return left
        await anyio.sleep(PAUSE_SECONDS)


async def _kill(process: anyio.abc.Process, mark: str) -> None:
    """Until none is left: one may have started another since they were looked for."""
    while left := await _members(process, mark):
        group.send(left, signal.SIGKILL)
        await anyio.sleep(PAUSE_SECONDS)


async def _members(process: anyio.abc.Process, mark: str) -> set[int]:
    return await anyio.to_thread.run_sync(group.members, process.pid, mark)
