"""What the user rejects before a turn is recorded stays rejected when that turn, or an earlier one, is restored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from acp_nvim.contract import review_events
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.rejections import Rejections
from acp_nvim.review.storage import Checkpoint
from acp_nvim.review.workspace import Workspace
from tests.core.review.desk import Desk, running_desk
from tests.core.review.test_kept_hunks import hunks

pytestmark = pytest.mark.anyio

Act = Callable[[Desk], None]

LINES = "".join(f"line {number}\n" for number in range(20))
EDITED = LINES.replace("line 3\n", "LINE 3\n").replace("line 15\n", "")


def edit(desk: Desk) -> None:
    desk.put("f", EDITED.encode())


def add(desk: Desk) -> None:
    desk.put("new/n", b"new\n")


def delete(desk: Desk) -> None:
    (desk.cwd / "f").unlink()


def rename(desk: Desk) -> None:
    (desk.cwd / "f").rename(desk.cwd / "moved")


def rename_directory(desk: Desk) -> None:
    (desk.cwd / "d").rename(desk.cwd / "core")


ACTS: dict[str, Act] = {
    "edit": edit,
    "add": add,
    "delete": delete,
    "rename": rename,
    "rename a directory": rename_directory,
}
NAMES = {"edit": "f", "add": "new/n", "delete": "f", "rename": "moved", "rename a directory": "core/"}


async def turn(desk: Desk, act: Act, when: str, decide: Callable[[], Awaitable[None]]) -> None:
    """A turn, and what the user decides during it, while its changes are collected, or after it."""
    await desk.begin_turn()
    act(desk)
    if when == "during":
        await desk.look_around()
        await decide()
    with pytest.MonkeyPatch.context() as patch:
        if when == "collecting":
            conclude = desk.reviews.conclude

            async def decided_first(log: TurnLog, workspace: Workspace) -> Checkpoint | None:
                await decide()
                return await conclude(log, workspace)

            patch.setattr(desk.reviews, "conclude", decided_first)
        await desk.end_turn()
    if when == "after":
        await decide()


async def undo(desk: Desk) -> None:
    """Take the last rejection back, without waiting for the end of the turn."""
    known = desk.reviews.workspaces.at(str(desk.cwd)).newest_checkpoints()
    told = await desk.restore(next(one.id for one in known if one.kind == "reject"))
    assert (told.problem, told.conflicts) == (None, [])


async def restore(desk: Desk, number: int) -> None:
    """Go back to the turn with that number."""
    turns = [one for one in reversed(await desk.checkpoints()) if one.kind == "turn"]
    told = await desk.restore(turns[number].id)
    assert (told.problem, told.conflicts) == (None, [])


@pytest.mark.parametrize("goes_back", [0, 1], ids=["the turn before", "the turn"])
@pytest.mark.parametrize("undone", ["", "at once", "later"])
@pytest.mark.parametrize("when", ["during", "collecting", "after"])
@pytest.mark.parametrize("what", [*ACTS, "a hunk"])
async def test_a_restore_brings_back_nothing_that_was_rejected(
    tmp_path: Path, what: str, when: str, undone: str, goes_back: int
) -> None:
    is_hunk = what == "a hunk"
    act, name = ("edit", "f") if is_hunk else (what, NAMES[what])
    async with running_desk(tmp_path) as desk:
        for path, text in {"f": LINES, "d/f": "one\n", "g": "one\n"}.items():
            desk.put(path, text.encode())
        trees = [desk.look()]
        await desk.begin_turn()
        desk.put("g", b"two\n")
        await desk.end_turn()
        trees.append(desk.look())

        async def decide() -> None:
            ids = [(await hunks(desk, name))[0]] if is_hunk else None
            await desk.reviews.judge("reject", f"{desk.cwd}/{name}", ids, None)
            assert not desk.errors()
            assert is_hunk or desk.look() == trees[1]
            if undone == "at once":
                await undo(desk)

        await turn(desk, ACTS[act], when, decide)
        if undone == "later":
            await undo(desk)
        is_recorded = [one.kind for one in await desk.checkpoints()].count("turn") == 2
        assert is_recorded or (not is_hunk and (when == "during" or what == "rename a directory"))
        if goes_back and not is_recorded:  # all that it had done was rejected before it was over
            assert (desk.look() == trees[1]) == (not undone)
            return
        await restore(desk, goes_back)
        assert (desk.look(), desk.errors()) == (trees[goes_back], [])


@pytest.mark.parametrize("when", ["collecting", "after"])
async def test_a_restore_undoes_what_came_back_with_an_undo_of_the_editor(tmp_path: Path, when: str) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", LINES.encode())
        desk.open("f")
        before = desk.look()

        async def decide() -> None:
            await desk.judge("reject", "f", [(await hunks(desk, "f"))[0]])

        await turn(desk, edit, when, decide)
        assert desk.text("f") == LINES.replace("line 15\n", "")
        await desk.type("f", EDITED, True)
        await desk.save("f")
        assert desk.shown() == {"f": ("modify", 1, 2, None)}
        await restore(desk, 0)
        assert (desk.look(), desk.errors()) == (before, [])


async def test_a_restore_reopens_a_review_whatever_was_changed_later(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        for name in ("f", "g"):
            desk.put(name, LINES.encode())
        await turn(desk, edit, "", desk.look_around)
        await turn(desk, lambda desk: desk.put("g", b"other\n"), "", desk.look_around)
        await desk.judge("reject", "f")
        assert set(desk.shown()) == {"g"}
        await turn(desk, lambda desk: desk.put("f", LINES.replace("line 9", "LINE 9").encode()), "", desk.look_around)
        await restore(desk, 1)
        assert desk.look() == {"f": EDITED.encode(), "g": LINES.encode()}
        assert desk.shown() == {"f": ("modify", 1, 2, None)}


async def test_a_rejection_that_fails_is_answered_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", LINES.encode())
        await turn(desk, edit, "", desk.look_around)
        monkeypatch.setattr(Rejections, "reject", AsyncMock(side_effect=RuntimeError))
        with pytest.raises(RuntimeError):
            await desk.judge("reject")
        assert [one.files for one in desk.editor.all(review_events.Judged)] == [[]]
