"""Buffers are loaded anew, and the user goes through their undo: no text of the agent is there that nobody reviews."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.reviewing import Desk
from tests.support.agent_edits import AGENT, WORKS, Work
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

WORK = WORKS["edits"]
HUNKS = WORK.hunks["f"]
BEFORE = WORK.before["f"].decode().splitlines()
AFTER = WORK.after["f"].decode().splitlines()


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, AGENT)


@pytest.fixture
def desk(editor: Callable[..., HeadlessEditor], script: AgentScript) -> Desk:
    """The file is open, and the agent has changed it; the buffer's undo outlives it."""
    desk = Desk(editor, script)
    undo = desk.nvim.places.directory / "undo"
    undo.mkdir()
    desk.nvim.command(f"set undofile undodir={undo}")
    desk.begin(WORK.before)
    desk.nvim.command(f"edit {desk.cwd}/f")
    desk.do(WORK, "a command")
    desk.until_reviews(WORK.shown)
    desk.until_hunks("f", HUNKS)
    return desk


def lines(desk: Desk) -> list[str]:
    """Return the lines of the buffer."""
    return desk.nvim.api("buf_get_lines", 0, 0, -1, True)


def settle(desk: Desk) -> None:
    """Wait until exactly the agent's lines in the buffer are under review."""
    has = lines(desk)
    assert has in (BEFORE, AFTER)
    hunks = HUNKS if has == AFTER else []
    buffer = desk.nvim.api("get_current_buf")
    desk.nvim.wait_until(
        lambda: desk.shown_hunks(buffer) == hunks and ("f" in desk.reviews()) == bool(hunks),
        what=lambda: f"the hunks to be {hunks}, not {desk.shown_hunks(buffer)}",
    )


def reject(desk: Desk) -> None:
    desk.nvim.command("AcpReview rejectall")
    desk.nvim.wait_until(lambda: lines(desk) == BEFORE, what="the file as it was")


def undo_and_save(desk: Desk) -> None:
    while lines(desk) != BEFORE:
        desk.nvim.command("undo")
    desk.nvim.command("write")


def through_undo(desk: Desk) -> None:
    """All texts that the buffer has ever had, back and forth; the agent's is one of them."""
    last = desk.nvim.lua("return vim.fn.undotree().seq_last")
    seen = []
    for number in [*range(last, -1, -1), *range(last + 1)]:
        desk.nvim.command(f"silent! undo {number}")
        if lines(desk) in (BEFORE, AFTER):
            seen.append(lines(desk))
            settle(desk)
    assert AFTER in seen


def nothing(desk: Desk) -> None: ...


def reload(desk: Desk) -> None:
    desk.nvim.command("edit!")


def reload_twice(desk: Desk) -> None:
    reload(desk)
    reload(desk)


def delete_and_open(desk: Desk) -> None:
    desk.nvim.command("bdelete!")
    desk.nvim.command(f"edit {desk.cwd}/f")


def wipe_and_open(desk: Desk) -> None:
    desk.nvim.command("bwipeout!")
    desk.nvim.command(f"edit {desk.cwd}/f")


def delete_look_and_open(desk: Desk) -> None:
    """The host notices that there is no buffer."""
    desk.nvim.command("bdelete!")
    desk.do(Work({}, {}, "true", {}), "a command")
    desk.nvim.command(f"edit {desk.cwd}/f")


LOADS = (nothing, reload, reload_twice, delete_and_open, delete_look_and_open, wipe_and_open)


@pytest.mark.parametrize("first", [nothing, reject, undo_and_save])
def test_no_text_of_the_agent_is_there_that_nobody_reviews(desk: Desk, first: Callable[[Desk], None]) -> None:
    first(desk)
    for load in LOADS:
        load(desk)
        settle(desk)
        through_undo(desk)


def test_a_new_file_that_was_rejected_and_comes_back_by_undo_is_reviewed(desk: Desk) -> None:
    new = desk.cwd / "e" / "new"
    desk.nvim.command(f"edit {new}")
    desk.until_hunks("e/new", WORK.hunks["e/new"])
    desk.nvim.command("AcpReview rejectall")
    desk.nvim.wait_until(lambda: not new.parent.exists(), what="the file to go, and its directory")
    desk.nvim.command("undo")
    desk.nvim.command("write ++p")
    assert new.read_bytes() == b"new\n"
    desk.nvim.wait_until(lambda: desk.reviews().get("e/new", [None])[0] == "add", what="its review")
    desk.until_hunks("e/new", WORK.hunks["e/new"])


def test_what_was_kept_is_not_reviewed_again(desk: Desk) -> None:
    desk.nvim.command("AcpReview keepall")
    desk.nvim.wait_until(lambda: "f" not in desk.reviews(), what="it to be kept")
    delete_and_open(desk)
    for command in ("undo", "redo"):
        desk.nvim.command(f"silent! {command}")
        assert desk.shown_hunks(desk.nvim.api("get_current_buf")) == []
