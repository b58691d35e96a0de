"""A file of which all hunks are decided is decided on; a name or a mode is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.core.review.desk import Desk, running_desk

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(20))


async def hunks(desk: Desk, name: str) -> list[int]:
    found = await desk.review(name)
    assert found is not None
    return [one.id for one in found.hunks or []]


def add(desk: Desk) -> None:
    desk.put("new.py", b"one\ntwo\n")


def add_executable(desk: Desk) -> None:
    add(desk)
    (desk.cwd / "new.py").chmod(0o755)


def add_without_end(desk: Desk) -> None:
    desk.put("new.py", b"one\r\ntwo")


def delete(desk: Desk) -> None:
    (desk.cwd / "old.py").unlink()


def edit(desk: Desk) -> None:
    desk.put("old.py", LINES.replace("line 3\n", "LINE 3\n").replace("line 15\n", "").encode())


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
@pytest.mark.parametrize(
    ("act", "name"),
    [(add, "new.py"), (add_executable, "new.py"), (add_without_end, "new.py"), (delete, "old.py"), (edit, "old.py")],
)
async def test_with_its_last_hunk_a_file_is_decided_on(tmp_path: Path, act, name: str, is_open: bool) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("old.py", LINES.encode())
        await desk.begin_turn()
        act(desk)
        await desk.end_turn()
        if is_open and act is not delete:
            desk.open(name)
        done = desk.look()
        found = await hunks(desk, name)
        for number in found:
            assert set(desk.shown()) == {name}
            await desk.judge("keep", name, [number])
        assert len(found) in (1, 2)
        assert desk.shown() == {}
        await desk.judge("reject")
        assert (desk.look(), desk.errors()) == (done, [])
        await desk.begin_turn()
        desk.put(name, b"more\n")
        await desk.end_turn()
        await desk.judge("reject")
        assert desk.look() == done


async def test_an_empty_file_is_kept_as_a_whole(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        await desk.begin_turn()
        desk.put("empty", b"")
        await desk.end_turn()
        assert await hunks(desk, "empty") == []
        await desk.judge("keep", "empty")
        assert desk.shown() == {}


async def test_a_new_name_and_a_mode_are_left_when_the_lines_are_kept(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("old.py", LINES.encode())
        desk.put("run.sh", LINES.encode())
        await desk.begin_turn()
        edit(desk)
        (desk.cwd / "old.py").rename(desk.cwd / "new.py")
        desk.put("run.sh", LINES.replace("line 3\n", "LINE 3\n").encode())
        (desk.cwd / "run.sh").chmod(0o755)
        await desk.end_turn()
        text = (desk.cwd / "new.py").read_text()
        await desk.judge("keep", "new.py", await hunks(desk, "new.py"))
        await desk.judge("keep", "run.sh", await hunks(desk, "run.sh"))
        assert desk.shown() == {"new.py": ("rename", 0, 0, "old.py"), "run.sh": ("mode", 0, 0, None)}
        await desk.judge("reject")
        assert desk.shown() == {}
        assert (desk.cwd / "old.py").read_text() == text
        assert (desk.cwd / "run.sh").read_text() == LINES.replace("line 3\n", "LINE 3\n")
        assert not os.access(desk.cwd / "run.sh", os.X_OK)


async def test_lines_of_a_new_file_that_are_kept_are_not_rejected_with_the_rest(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        await desk.begin_turn()
        desk.put("new.py", LINES.encode())
        await desk.end_turn()
        desk.open("new.py")
        await desk.review("new.py")
        await desk.type("new.py", LINES.replace("line 10\n", "mine\n"), is_told=True)
        first, _ = await hunks(desk, "new.py")
        await desk.judge("keep", "new.py", [first])
        assert desk.shown() == {"new.py": ("modify", 9, 0, None)}
        await desk.judge("reject", "new.py")
        assert desk.shown() == {}
        assert desk.text("new.py") == "".join(f"line {number}\n" for number in range(10)) + "mine\n"


async def test_a_new_file_goes_with_its_only_hunk(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("old.py", LINES.encode())
        was = desk.look()
        await desk.begin_turn()
        desk.put("d/new.py", LINES.encode())
        await desk.end_turn()
        await desk.judge("reject", "d/new.py", await hunks(desk, "d/new.py"))
        assert (desk.shown(), desk.look()) == ({}, was)
        assert not (desk.cwd / "d").exists()
