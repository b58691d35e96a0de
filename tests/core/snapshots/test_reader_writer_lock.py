"""Many use, or one changes alone; who waits is not overtaken, and who gives up is no hindrance."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.snapshots.pins import ReaderWriterLock

pytestmark = pytest.mark.anyio


class Recorder:
    """Notes who takes and releases the lock, in order."""

    def __init__(self) -> None:
        self.gate = ReaderWriterLock()
        self.said: list[str] = []
        self.leave = anyio.Event()

    async def use(self, name: str) -> None:
        """Hold the lock for reading until `leave` is set."""
        async with self.gate.use():
            self.said.append(f"{name} in")
            await self.leave.wait()
        self.said.append(f"{name} out")

    async def change(self, name: str) -> None:
        """Hold the lock for writing for a moment."""
        async with self.gate.alone():
            self.said.append(f"{name} alone")
            await anyio.lowlevel.checkpoint()
            self.said.append(f"{name} done")


async def settle() -> None:
    """Everybody has come as far as they can."""
    for _ in range(10):
        await anyio.lowlevel.checkpoint()


async def test_users_are_together_and_a_change_is_alone() -> None:
    at = Recorder()
    async with anyio.create_task_group() as group:
        group.start_soon(at.use, "one")
        group.start_soon(at.use, "two")
        await settle()
        group.start_soon(at.change, "x")
        await settle()
        group.start_soon(at.use, "three")
        await settle()
        assert at.said == ["one in", "two in"]
        at.leave.set()
    assert at.said[2:] == ["one out", "two out", "x alone", "x done", "three in", "three out"]


async def test_who_gives_up_waiting_lets_others_in() -> None:
    at = Recorder()
    async with anyio.create_task_group() as group:
        group.start_soon(at.use, "one")
        await settle()
        with anyio.move_on_after(0):
            await at.change("x")
        group.start_soon(at.use, "two")
        await settle()
        assert at.said == ["one in", "two in"]
        at.leave.set()
        await settle()
        await at.change("y")
        assert at.said[-2:] == ["y alone", "y done"]
