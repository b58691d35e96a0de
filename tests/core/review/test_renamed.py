"""Files that agents change and rename while they are open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from acp_nvim.review import rejections
from acp_nvim.review.apply import rename
from acp_nvim.snapshots.snapshot import Blob, Changed
from acp_nvim.workspace.open_files import OpenFiles
from tests.core.review.desk import Desk, running_desk

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(20))


async def test_a_buffer_that_still_has_the_old_name_brings_nothing_back(tmp_path: Path) -> None:
    """The buffer hears first that its file is gone, then it is found under its new name, then Neovim asks again."""
    async with running_desk(tmp_path) as desk:
        desk.put("g", LINES.encode())
        desk.open("g")
        await desk.begin_turn()
        desk.put("h", LINES.replace("line 3\n", "LINE 3\n").encode())
        (desk.cwd / "g").unlink()
        await desk.reviews.tracker.refresh(str(desk.cwd / "g"))
        assert desk.shown() == {"g": ("delete", 0, 20, None)}
        await desk.look_around()
        assert await desk.review("g") is None
        await desk.look_around()
        assert desk.shown() == {"h": ("rename", 1, 1, "g")}
        await desk.end_turn()
        await desk.judge("reject")
        assert desk.look() == {"g": LINES.encode()}
        assert desk.shown() == {}


async def renamed(desk: Desk) -> None:
    """The agent has changed g and renamed it h, which is known; its turn still runs."""
    desk.put("g", LINES.encode())
    await desk.begin_turn()
    (desk.cwd / "g").rename(desk.cwd / "h")
    desk.put("h", LINES.replace("line 3\n", "LINE 3\n").encode())
    await desk.look_around()
    assert desk.shown() == {"h": ("rename", 1, 1, "g")}


class Door:
    """Tells who wants to have a file alone, and who has it."""

    def __init__(self, files: OpenFiles) -> None:
        self.asked: list[str] = []
        self.entered: list[str] = []
        self._alone = files.alone
        files.alone = self.alone  # type: ignore[method-assign]

    @asynccontextmanager
    async def alone(self, *paths: str) -> AsyncIterator[None]:
        self.asked += paths
        async with self._alone(*paths):
            self.entered += paths
            yield


async def test_who_looks_while_a_name_is_taken_back_sees_no_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_desk(tmp_path) as desk, anyio.create_task_group() as tasks:
        await renamed(desk)
        g, door, over = str(desk.cwd / "g"), Door(desk.files), anyio.Event()

        async def look() -> None:
            await desk.reviews.tracker.scanned([Changed(g, None, None)])
            over.set()

        async def rename_and_look(files: OpenFiles, path: str, new: str, like: Blob) -> None:
            await rename(files, path, new, like)
            door.asked.clear()
            door.entered.clear()
            tasks.start_soon(look)
            while g not in door.asked:
                await anyio.lowlevel.checkpoint()
            for _ in range(10):  # who need not wait is in
                await anyio.lowlevel.checkpoint()
            if g in door.entered:
                await over.wait()

        monkeypatch.setattr(rejections, "rename", rename_and_look)
        await desk.judge("reject")
        await over.wait()
        assert desk.look() == {"g": LINES.encode()}
        assert desk.shown() == {}


async def test_a_look_from_before_a_name_was_taken_back_brings_nothing_back(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        await renamed(desk)
        g, h = str(desk.cwd / "g"), str(desk.cwd / "h")
        before = desk.reviews.tracker.disk.text(g, LINES, "utf-8").blob
        changed = await desk.reviews.tracker.disk.blob(h)
        await desk.judge("reject")
        await desk.reviews.tracker.scanned([Changed(h, before, changed, g)])
        assert desk.look() == {"g": LINES.encode()}
        assert desk.shown() == {}
