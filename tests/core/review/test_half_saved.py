"""A file that another Neovim is saving is not looked at before it is saved."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest

from tests.core.review.desk import Desk, running_desk
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


class OtherNeovim:
    """Notes its saves as Lua does."""

    def __init__(self, desk: Desk, name: str) -> None:
        self._journal = desk.state / "saves" / "2026-01-01.jsonl"
        self._path = desk.cwd / name
        self._was = str(self._path.stat().st_ctime_ns)

    def begin(self) -> None:
        """Announce that the file will be written."""
        self._note(began=self._was)

    def end(self, text: str) -> None:
        """Write the file, and say so."""
        self._path.write_text(text)
        now = self._path.stat()
        mtime, ctime = str(now.st_mtime_ns), str(now.st_ctime_ns)
        self._note(size=now.st_size, mtime=mtime, ctime=ctime, ino=now.st_ino, was=self._was)

    def _note(self, **fields: object) -> None:
        with open(self._journal, "a") as file:
            file.write(json.dumps({"path": str(self._path), "pid": os.getpid(), **fields}) + "\n")


@pytest.mark.parametrize("half", ["", "one\nby\n", "one\nby the agent\ntyped\n"], ids=["empty", "half", "all"])
@pytest.mark.parametrize("was_seen", [True, False], ids=["on what was seen", "on what was not seen"])
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_what_is_half_saved_is_nobodys(tmp_path: Path, half: str, was_seen: bool, is_open: bool) -> None:
    async with running_desk(tmp_path) as desk:
        saves, waited_for = desk.files.saves, anyio.Event()
        saves.wait_seconds, ended = LIMIT, saves.wait_until_saved

        async def wait(path: str) -> bool:
            waited_for.set()
            return await ended(path)

        saves.wait_until_saved = wait
        desk.put("f", b"one\n")
        if is_open:
            desk.open("f")
        await desk.begin_turn()
        desk.put("f", b"one\nby the agent\n")
        if was_seen:
            await desk.look_around()
        other = OtherNeovim(desk, "f")
        other.begin()
        desk.put("f", half.encode())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.look_around)
            with anyio.fail_after(LIMIT):
                await waited_for.wait()
            other.end("one\nby the agent\ntyped\n")
        await desk.end_turn()
        (entry,) = desk.reviews.ledger.entries.values()
        assert entry.verdict.by == ("agent" if was_seen else "unknown"), entry.verdict
        await desk.judge("reject", "f")
        text = (desk.cwd / "f").read_text()
        assert text == ("one\ntyped\n" if was_seen else "one\n")
