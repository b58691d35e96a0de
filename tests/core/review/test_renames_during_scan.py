"""Directories change their names between the moments of one look: the snapshot, the comparison, and the entering."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.file_time import now
from acp_nvim.review.moved_directories import MovedDirectories
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.shadow import Shadow
from tests.core.review.desk import Desk, running_desk
from tests.core.review.test_moved_directories import edit, lay_out, move, rename, swap
from tests.support.everything import Everything, everything
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

Act = Callable[[Desk], None]


def swap_and_edit(desk: Desk) -> None:
    swap(desk)
    desk.put("src/b.py", b"new\n")
    edit(desk, "lib/a.py")


def edit_again_and_swap_back(desk: Desk) -> None:
    edit(desk, "lib/a.py", "line 5", "LINE 5")
    swap(desk)


def rename_and_edit(desk: Desk) -> None:
    rename(desk)
    edit(desk, "core/a.py")


def rename_back(desk: Desk) -> None:
    move(desk, "core", "src")


def replace(desk: Desk) -> None:
    move(desk, "src", "old")
    move(desk, "lib", "src")


def replace_back(desk: Desk) -> None:
    move(desk, "src", "lib")
    move(desk, "old", "src")


def edit_both(desk: Desk) -> None:
    edit(desk, "src/a.py")
    edit(desk, "lib/a.py")


def add(desk: Desk) -> None:
    desk.put("src/c.py", b"new\n")


def edit_and_take_away(desk: Desk) -> None:
    edit(desk, "src/a.py")
    move(desk, "src", "away")


def bring_back(desk: Desk) -> None:
    move(desk, "away", "src")


def swap_and_take_away(desk: Desk) -> None:
    swap(desk)
    edit(desk, "lib/a.py")
    move(desk, "src", "away")


def bring_to_the_other(desk: Desk) -> None:
    move(desk, "lib", "src")
    move(desk, "away", "lib")


CASES: dict[str, tuple[Act, Act]] = {
    "swapped, edited, and swapped back": (swap_and_edit, swap),
    "swapped, edited, edited again, and swapped back": (swap_and_edit, edit_again_and_swap_back),
    "renamed, edited, and renamed back": (rename_and_edit, rename_back),
    "replaced by another, and back": (replace, replace_back),
    "edited, then swapped": (edit_both, swap),
    "edited, then renamed": (edit_both, rename),
    "away for a moment": (edit_and_take_away, bring_back),
    "half swapped back": (swap_and_take_away, bring_to_the_other),
    "added to, then replaced by another": (add, replace),
}


def once_after(monkeypatch: pytest.MonkeyPatch, where: type, name: str, act: Callable[[], None]) -> None:
    """Act once after the first call of that method."""
    method, acts = getattr(where, name), [act]

    async def called(*args: object, **kwargs: object) -> object:
        found = await method(*args, **kwargs)
        if acts:
            acts.pop()()
        return found

    monkeypatch.setattr(where, name, called)


def reviewed(found: Everything) -> Everything:
    """The files but for the ignored one."""
    return {path: one for path, one in found.items() if one[1] and not path.endswith("out.o")}


MOMENTS = {
    "while git looks": (Index, "differences"),
    "after the snapshot": (Shadow, "take"),
    "after the comparison": (Shadow, "changes"),
    "after the names are entered": (MovedDirectories, "enter"),
}


EARLY = [MOMENTS["while git looks"], MOMENTS["after the snapshot"]]


@pytest.mark.parametrize("retakes", [True, False], ids=["taken again", "for too long"])
@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize(("before", "meanwhile"), CASES.values(), ids=CASES)
async def test_the_review_is_right_after_the_next_look(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: Act,
    meanwhile: Act,
    moment: tuple[type, str],
    retakes: bool,
) -> None:
    for name in ("looked_at", "not_looked_at"):
        (tmp_path / name).mkdir()
    async with running_desk(tmp_path / "looked_at") as desk, running_desk(tmp_path / "not_looked_at") as other:
        for one in (desk, other):
            lay_out(one)
        edge = now() + CLOCK_NS
        wait_until(lambda: now() > edge, what="the files to be older than the turn")
        first = everything(desk.cwd)
        for one in (desk, other):
            await one.begin_turn()
        before(other)
        meanwhile(other)
        await other.end_turn()
        before(desk)
        with monkeypatch.context() as busy:
            busy.setattr("acp_nvim.snapshots.shadow.RETAKE_NS", 60 * 10**9 if retakes else 0)
            once_after(busy, *moment, lambda: meanwhile(desk))
            await desk.look_around()
        assert everything(desk.cwd) == everything(other.cwd)
        await desk.end_turn()
        listed = desk.shown()
        await desk.judge("reject")
        if retakes or moment not in EARLY:
            assert (desk.errors(), desk.shown()) == ([], {})
            assert (listed, everything(desk.cwd)) == (other.shown(), first)
        else:  # they are listed file by file: empty directories and ignored files stay where they are
            now_there, was_there = reviewed(everything(desk.cwd)), reviewed(first)
            left = {path for path in {*now_there, *was_there} if now_there.get(path) != was_there.get(path)}
            still = {name for path, one in desk.shown().items() for name in (path, one[3])}
            assert left <= still
            assert not left or moment == MOMENTS["while git looks"]  # then it is not known what they were
