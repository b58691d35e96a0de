"""The stop ladder: close stdin (if it is ours), wait, SIGTERM, wait, SIGKILL; for a process and all that it started."""

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
    await stop_rest(process.pid, mark)
    with anyio.move_on_after(KILL_SECONDS):
        await process.wait()


async def stop_rest(pid: int, mark: str) -> None:
    """The same for whatever there is of `pid` and `mark` (as `group.members` has them); it may be nothing."""
    left = await _members(pid, mark)
    if left:
        group.send(left, signal.SIGTERM)
        left = await _wait_until_gone(pid, mark)
    if left:
        with anyio.move_on_after(KILL_SECONDS):
            await _kill(pid, mark)


async def _wait_until_gone(pid: int, mark: str) -> set[int]:
    deadline = anyio.current_time() + TERM_GRACE_SECONDS
    while True:
        left = await _members(pid, mark)
        if not left or anyio.current_time() > deadline:
            return left
        await anyio.sleep(PAUSE_SECONDS)


async def _kill(pid: int, mark: str) -> None:
    """Until none is left: one may have started another since they were looked for."""
    while left := await _members(pid, mark):
        group.send(left, signal.SIGKILL)
        await anyio.sleep(PAUSE_SECONDS)


async def _members(pid: int, mark: str) -> set[int]:
    return await anyio.to_thread.run_sync(group.members, pid, mark)
