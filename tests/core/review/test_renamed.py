"""Files that agents change and rename while they are open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.review.desk import running_desk

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
        await desk.reviews.tracker.look_at(str(desk.cwd / "g"))
        assert desk.shown() == {"g": ("delete", 0, 20, None)}
        await desk.look_around()
        assert await desk.review("g") is None
        await desk.look_around()
        assert desk.shown() == {"h": ("rename", 1, 1, "g")}
        await desk.end_turn()
        await desk.judge("reject")
        assert desk.look() == {"g": LINES.encode()}
        assert desk.shown() == {}
