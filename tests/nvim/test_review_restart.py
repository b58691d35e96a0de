"""What is left to review, and what can be gone back to, outlives Neovim, however it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.reviewing import Desk
from tests.support.agent_edits import AGENT, WORKS, Work, look
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.below import below
from tests.support.editor import HeadlessEditor

CHOOSE = """
vim.ui.select = function(items, opts, on_choice)
  vim.schedule(function() on_choice(items[1], 1) end)
end
"""
WORK = WORKS["edits"]


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, AGENT)


def reviewed(start: Callable[..., HeadlessEditor], script: AgentScript) -> Desk:
    """A Neovim with something to review."""
    desk = Desk(start, script)
    desk.begin(WORK.before)
    desk.do(WORK, "a command")
    desk.until_reviews(WORK.shown)
    return desk


def again(start: Callable[..., HeadlessEditor], script: AgentScript, before: Desk) -> Desk:
    """The next Neovim in the same directory, of the same user."""
    state = before.nvim.places.directory / "state"
    desk = Desk(start, script, env={"XDG_STATE_HOME": str(state)})
    desk.cwd = before.cwd
    desk.nvim.command(f"cd {before.cwd}")
    return desk


def end(desk: Desk, how: str) -> None:
    """End Neovim or its host in this way."""
    if how == "is killed":
        os.kill(desk.nvim.pid, signal.SIGKILL)
    if how != "the host is killed":
        desk.nvim.close()
        return
    host = desk.nvim.host()
    assert host is not None
    os.kill(host.pid, signal.SIGKILL)
    desk.nvim.wait_until(lambda: "the host ended" in "".join(desk.nvim.messages()), what="Neovim to know of it")


HOWS = ["quits", "is killed", "the host is killed"]


@pytest.mark.parametrize("how", HOWS)
def test_what_is_left_is_reviewed_later(editor, script, how) -> None:
    first = reviewed(editor, script)
    end(first, how)
    desk = first if how == "the host is killed" else again(editor, script, first)
    desk.nvim.command("AcpReview")
    desk.until_reviews(WORK.shown)
    desk.nvim.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    desk.nvim.command("wincmd p")
    desk.until_hunks("f", WORK.hunks["f"])
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    assert look(desk.cwd) == WORK.before


@pytest.mark.parametrize("how", HOWS)
def test_turns_can_be_gone_back_to_later(editor, script, how) -> None:
    first = reviewed(editor, script)
    first.nvim.command("AcpReview! keepall")
    first.until_nothing_is_left()
    end(first, how)
    desk = first if how == "the host is killed" else again(editor, script, first)
    desk.nvim.lua(CHOOSE)
    desk.nvim.command("AcpRestore")
    desk.nvim.wait_until(lambda: look(desk.cwd) == WORK.before, what="the files of before")
    desk.nvim.wait_until(lambda: "restored" in "".join(desk.nvim.messages()), what="the words")
    desk.nvim.command("AcpRestore undo")
    desk.nvim.wait_until(lambda: look(desk.cwd) == WORK.after, what="the files of after")


@pytest.mark.parametrize("how", HOWS)
def test_what_a_turn_did_that_nobody_saw_end(editor, script, how) -> None:
    first = Desk(editor, script)
    first.begin(WORK.before)
    first.nvim.command(f"edit {first.cwd}/f")
    go = first.cwd.parent / "go"
    first.shell(f"{WORK.shell}; while ! [ -e {go} ]; do sleep 0.01; done", "a tool with locations")
    first.nvim.wait_until(lambda: look(first.cwd) == WORK.after, what="the agent's work")
    state = first.nvim.places.directory / "state"  # a prompt does not wait for more than a second until it is there
    first.nvim.wait_until(lambda: [*below(state, "review/*.turns")], what="the open turn to be written down")
    end(first, how)
    desk = first if how == "the host is killed" else again(editor, script, first)
    desk.nvim.command("AcpReview")
    desk.until_reviews(WORK.shown)
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    assert look(desk.cwd) == WORK.before
    go.touch()


def test_after_a_crash_of_the_host_the_status_knows_what_is_under_review(editor, script) -> None:
    desk = reviewed(editor, script)
    end(desk, "the host is killed")
    desk.do(Work({}, {}, "true", {}), "a command")
    desk.nvim.wait_until(
        'vim.deep_equal(require("acp_nvim").status().review, { files = 3, added = 3, removed = 2 })',
        what="the status",
    )
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    desk.nvim.wait_until('require("acp_nvim").status().review == nil', what="the status")


ODD = {
    b"caf\xe9.txt": (b"a\nb\n", b"a\nB\n"),
    b"new\nline.txt": (b"a\nb\n", b"a\nB\n"),
    b"q\"u'o`te $x|.txt": (b"a\nb\n", b"a\nB\n"),
    b"x" * 251 + b".txt": (b"a\nb\n", b"a\nB\n"),
}
NAMES = """
return vim.tbl_map(function(one) return one.path end, require("acp_nvim.review.files").all())
"""


@pytest.mark.parametrize("how", ["quits", "is killed"])
def test_names_that_are_not_utf8_or_not_on_one_line(editor, script, how) -> None:
    first = Desk(editor, script)
    before = {os.fsdecode(name): old for name, (old, _) in ODD.items()}
    after = {os.fsdecode(name): new for name, (_, new) in ODD.items()}
    first.begin(before)
    first.do(Work({}, {}, 'for f in *; do sed -i s/b/B/ "$f"; done', {}), "a command")
    paths = sorted(str(first.cwd / name) for name in before)
    first.nvim.wait_until(lambda: sorted(first.nvim.lua(NAMES)) == paths, what="all of them")
    assert sorted(one["path"] for one in first.nvim.events("AcpFileChanged")) == paths
    end(first, how)
    desk = again(editor, script, first)
    desk.nvim.command("AcpReview")
    desk.nvim.wait_until(lambda: sorted(desk.nvim.lua(NAMES)) == paths, what="all of them again")
    desk.nvim.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    for path in paths:
        desk.nvim.lua('require("acp_nvim.review.files.open").file(...)', path)
        desk.nvim.wait_until(lambda: desk.shown_hunks(desk.nvim.api("get_current_buf")) == [(1, 1, ["b"])], what=path)
    desk.nvim.command("AcpReview rejectall")
    desk.nvim.wait_until(lambda: len(desk.nvim.lua(NAMES)) == len(paths) - 1, what="one to be rejected")
    desk.nvim.command("AcpReview! rejectall")
    desk.nvim.wait_until(lambda: look(desk.cwd) == before, what="the files of before")
    desk.nvim.wait_until(lambda: desk.nvim.lua(NAMES) == [], what="nothing to be left")
    for left in (len(paths) - 1, len(paths)):
        desk.nvim.command("AcpRestore undo")
        desk.nvim.wait_until(lambda left=left: len(desk.nvim.lua(NAMES)) == left, what="it to be reviewed again")
    assert look(desk.cwd) == after
    desk.nvim.lua(CHOOSE.replace("items[1], 1", "items[#items == 2 and 1 or #items], 1"))
    desk.nvim.command("AcpRestore")
    desk.nvim.wait_until(lambda: look(desk.cwd) == before, what="the files of before")
