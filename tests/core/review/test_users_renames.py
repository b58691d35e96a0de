"""Files under review that the user renames: their changes go on under the new names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.contract.review_events import Judged
from tests.core.review.desk import Desk, running_desk
from tests.support.agent_edits import git

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(20))
EDITED = LINES.replace("line 3\n", "LINE 3\n")


def terminal(desk: Desk) -> None:
    """Rename like `mv` in a terminal."""
    os.rename(desk.cwd / "a.py", desk.cwd / "z.py")


def git_mv(desk: Desk) -> None:
    """`git mv`, and `:edit` of the new file."""
    git(desk.cwd, "mv", "-f", "a.py", "z.py")
    desk.open("z.py")


def file_manager(desk: Desk) -> None:
    """Rename like oil.nvim: the file first, then its buffer."""
    terminal(desk)
    buffer = desk.editor.buffers.pop(str(desk.cwd / "a.py"), None)
    if buffer is not None:
        desk.editor.buffers[str(desk.cwd / "z.py")] = buffer


def into_another(desk: Desk) -> None:
    """Into a directory that is new."""
    (desk.cwd / "pkg").mkdir()
    os.rename(desk.cwd / "a.py", desk.cwd / "pkg/z.py")


def with_directory(desk: Desk) -> None:
    """The directory of a file is renamed."""
    os.rename(desk.cwd / "src", desk.cwd / "core")


WAYS = [terminal, git_mv, file_manager, into_another]


async def reviewed(desk: Desk, is_open: bool, before: str | None = LINES, after: str = EDITED) -> None:
    """An agent has changed the file, or has made it."""
    git(desk.cwd, "init", "-q")
    desk.put("other.py", b"other\n")
    if before is not None:
        desk.put("a.py", before.encode())
    git(desk.cwd, "add", "-A")
    await desk.begin_turn()
    desk.put("a.py", after.encode())
    await desk.end_turn()
    git(desk.cwd, "add", "-A")
    if is_open:
        desk.open("a.py")
        await desk.review("a.py")


def name_after(way: Callable[[Desk], None]) -> str:
    """What the file is called then."""
    return "pkg/z.py" if way is into_another else "z.py"


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
@pytest.mark.parametrize("way", WAYS)
async def test_rejecting_all_takes_the_content_back_and_not_the_name(
    tmp_path: Path, way: Callable[[Desk], None], is_open: bool
) -> None:
    async with running_desk(tmp_path) as desk:
        await reviewed(desk, is_open)
        way(desk)
        name = name_after(way)
        await desk.judge("reject")
        judged = desk.editor.all(Judged)[-1]
        assert (judged.files, judged.left, desk.errors()) == ([str(desk.cwd / name)], [], [])
        assert (desk.shown(), desk.look()) == ({}, {name: LINES.encode(), "other.py": b"other\n"})
        await desk.look_around()
        assert desk.shown() == {}


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
@pytest.mark.parametrize("way", WAYS)
async def test_the_change_is_there_in_the_next_turn_and_host(
    tmp_path: Path, way: Callable[[Desk], None], is_open: bool
) -> None:
    async with running_desk(tmp_path) as desk:
        await reviewed(desk, is_open)
        way(desk)
        name = name_after(way)
        await desk.begin_turn()
        desk.put(name, EDITED.replace("line 9\n", "LINE 9\n").encode())
        await desk.end_turn()
        assert desk.shown() == {name: ("modify", 2, 2, None)}
        await desk.restart()
        assert desk.shown() == {name: ("modify", 2, 2, None)}
        await desk.judge("reject", name)
        assert desk.look() == {name: LINES.encode(), "other.py": b"other\n"}


@pytest.mark.parametrize(("before", "after"), [(None, EDITED), (None, ""), (None, "x"), ("", "x"), ("one\n", "two\n")])
@pytest.mark.parametrize("way", [terminal, file_manager])
async def test_small_and_new_files(tmp_path: Path, way: Callable[[Desk], None], before: str | None, after: str) -> None:
    async with running_desk(tmp_path) as desk:
        await reviewed(desk, True, before, after)
        [(_, *counts)] = desk.shown().values()
        way(desk)
        await desk.begin_turn()
        await desk.end_turn()
        [(name, (_, *now))] = desk.shown().items()
        assert (name, now) == ("z.py", counts)
        await desk.judge("reject")
        rest = {} if before is None else {"z.py": before.encode()}
        assert (desk.shown(), desk.look()) == ({}, {"other.py": b"other\n", **rest})


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
async def test_a_file_saved_under_another_name(tmp_path: Path, is_open: bool) -> None:
    """`:saveas`, with an edit, and the old file is deleted."""
    async with running_desk(tmp_path) as desk:
        await reviewed(desk, is_open)
        desk.put("z.py", EDITED.replace("line 19\n", "mine\n").encode())
        await desk.reviews.tracker.saved(str(desk.cwd / "z.py"))
        desk.editor.buffers.clear()
        (desk.cwd / "a.py").unlink()
        await desk.judge("reject")
        assert desk.shown() == {}
        assert (desk.cwd / "z.py").read_text() == LINES.replace("line 19\n", "mine\n")


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
async def test_the_directory_of_a_file(tmp_path: Path, is_open: bool) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("src/a.py", LINES.encode())
        desk.put("src/b.py", f"other\n{LINES}".encode())
        await desk.begin_turn()
        desk.put("src/a.py", EDITED.encode())
        desk.put("src/new.py", b"a new file\n")
        await desk.end_turn()
        if is_open:
            desk.open("src/a.py")
            await desk.review("src/a.py")
        with_directory(desk)
        await desk.reviews.load(str(desk.cwd), str(desk.cwd))
        assert desk.shown() == {"core/a.py": ("modify", 1, 1, None), "core/new.py": ("add", 1, 0, None)}
        await desk.judge("reject")
        assert (desk.shown(), desk.errors()) == ({}, [])
        assert desk.look() == {"core/a.py": LINES.encode(), "core/b.py": f"other\n{LINES}".encode()}


async def test_the_users_name_settles_that_of_an_agent(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("old.py", LINES.encode())
        await desk.begin_turn()
        os.rename(desk.cwd / "old.py", desk.cwd / "a.py")
        desk.put("a.py", EDITED.encode())
        await desk.end_turn()
        assert desk.shown() == {"a.py": ("rename", 1, 1, "old.py")}
        terminal(desk)
        await desk.judge("reject")
        assert (desk.shown(), desk.look()) == ({}, {"z.py": LINES.encode()})


@pytest.mark.parametrize("is_open", [False, True], ids=["", "open"])
async def test_a_file_that_the_user_has_deleted_is_named(tmp_path: Path, is_open: bool) -> None:
    async with running_desk(tmp_path) as desk:
        await reviewed(desk, is_open)
        (desk.cwd / "a.py").unlink()
        await desk.judge("reject")
        judged = desk.editor.all(Judged)[-1]
        assert (judged.files, [one.path for one in judged.left]) == ([], [str(desk.cwd / "a.py")])
        assert "deleted" in judged.left[0].why
        assert (desk.shown(), desk.look()) == ({}, {"other.py": b"other\n"})


async def test_a_copy_is_no_rename(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        await reviewed(desk, False)
        desk.put("z.py", EDITED.encode())
        await desk.judge("reject")
        assert (desk.cwd / "a.py").read_text() == LINES
        assert (desk.cwd / "z.py").read_text() == EDITED
