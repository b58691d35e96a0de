"""What an agent did is reviewed in the real Neovim, whichever way it did it; what the user types stays the user's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.reviewing import Desk
from tests.support.agent_edits import AGENT, NEW, OLD, WAYS, WORKS, Work, look
from tests.support.agent_scripts import agent_script
from tests.support.cases import case
from tests.support.editor import HeadlessEditor

WORKED = ("edits", "a deletion", "a new name and an edit", "modes", "bytes")


@pytest.fixture
def desk(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Desk:
    """A Neovim and an agent that does what it is told."""
    return Desk(editor, agent_script(tmp_path, AGENT))


@pytest.mark.parametrize("way", WAYS)
def test_the_same_review_in_five_ways(desk: Desk, way: str) -> None:
    for name in WORKED:
        if way != "fs/write" or WORKS[name].is_written:
            for is_open in (False, True):
                words = f"{name}, {'open' if is_open else 'closed'}"
                with case(words):
                    desk.go_on_in(words)
                    check_review(desk, WORKS[name], way, is_open)


def check_review(desk: Desk, work: Work, way: str, is_open: bool) -> None:
    """The work is shown as what it is, and rejected to the last byte."""
    desk.begin(work.before)
    users = look(desk.cwd / ".git", git=True)
    for name, data in work.before.items() if is_open else ():
        if b"\0" not in data:
            desk.nvim.command(f"edit {desk.cwd / name.rstrip('*')}")
    desk.do(work, way)
    desk.until_reviews(work.shown)
    for name, hunks in work.hunks.items():
        desk.until_hunks(name, hunks)
    desk.until_reviews(work.shown)
    desk.until_told(work.shown)
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    assert look(desk.cwd) == work.before
    assert look(desk.cwd / ".git", git=True) == users
    desk.check_silence()


def test_all_is_kept(desk: Desk) -> None:
    work = WORKS["edits"]
    desk.begin(work.before)
    desk.nvim.command(f"edit {desk.cwd}/f")
    desk.do(work, "a command")
    desk.until_reviews(work.shown)
    desk.nvim.command("AcpReview! keepall")
    desk.until_nothing_is_left()
    assert look(desk.cwd) == work.after


class Typing:
    """One file in a window, which the agent makes NEW of OLD."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.nvim = desk.nvim
        desk.begin({"f": OLD})
        self.nvim.command(f"edit {desk.cwd}/f")
        self.buffer = self.nvim.api("get_current_buf")

    def agent(self, old: str = "two", new: str = "TWO") -> None:
        """Let the agent change a line on disk."""
        count = len(self.nvim.events("AcpTurnEnd"))
        self.desk.shell(f"sed -i 's/{old}/{new}/' f", "a command")
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > count, what="the end of the turn")

    @property
    def text(self) -> str:
        """The text of the buffer."""
        return self.nvim.buffer_text(self.buffer)

    def until_hunks(self, *hunks: tuple[int, int, list[str]]) -> None:
        """Wait until exactly these hunks are shown in the buffer."""
        wanted = list(hunks)
        self.nvim.wait_until(
            lambda: self.desk.shown_hunks(self.buffer) == wanted,
            what=lambda: f"the hunks to be {wanted}, not {self.desk.shown_hunks(self.buffer)}",
        )

    def reject(self, text: str) -> None:
        """All of it: the buffer and the file have that text."""
        self.nvim.command(f"buffer {self.buffer}")
        self.nvim.command("AcpReview rejectall")
        self.nvim.wait_until(
            lambda: (self.desk.cwd / "f").read_text() == text == self.text + "\n",  # the buffer follows the file
            what=lambda: f"the file to be {text!r}, not {(self.desk.cwd / 'f').read_text()!r}",
        )
        self.until_hunks()
        self.desk.check_silence()


@pytest.fixture
def typing(desk: Desk) -> Typing:
    """A user who types in the file."""
    return Typing(desk)


HUNK = (1, 1, ["two"])


def test_typed_before_the_agent_comes(typing: Typing) -> None:
    typing.nvim.keys("GAmine<Esc>")
    typing.agent()
    typing.until_hunks(HUNK)
    typing.reject("one\ntwo\nthree\nfour\nfivemine\n")


def test_typed_while_it_works(typing: Typing) -> None:
    go = typing.desk.cwd / "go"
    typing.desk.shell(f"sed -i s/two/TWO/ f; touch began; while ! [ -e {go} ]; do sleep 0.01; done", "a command")
    typing.nvim.wait_until(lambda: (typing.desk.cwd / "began").exists(), what="the agent to work")
    typing.nvim.keys("GAmine<Esc>")
    go.touch()
    typing.nvim.wait_until(lambda: typing.nvim.events("AcpTurnEnd"), what="the end of the turn")
    typing.until_hunks(HUNK)
    typing.reject("one\ntwo\nthree\nfour\nfivemine\n")


def test_typed_afterwards_in_other_lines(typing: Typing) -> None:
    typing.agent()
    typing.until_hunks(HUNK)
    typing.nvim.keys("ggOmine<Esc>GAmine<Esc>")
    typing.until_hunks((2, 1, ["two"]))
    typing.reject("mine\none\ntwo\nthree\nfour\nfivemine\n")


def test_typed_into_the_agents_lines(typing: Typing) -> None:
    typing.agent()
    typing.until_hunks(HUNK)
    typing.nvim.keys("2GAmine<Esc>")
    typing.until_hunks((1, 0, ["two"]))
    assert "TWOmine" in typing.text
    typing.nvim.keys("u")
    typing.until_hunks(HUNK)
    typing.nvim.keys("<C-r>")
    typing.until_hunks((1, 0, ["two"]))
    typing.nvim.keys("u")
    typing.until_hunks(HUNK)
    typing.reject(OLD.decode())


def test_undone_is_rejected_and_redone_is_to_be_reviewed_again(typing: Typing) -> None:
    typing.agent()
    typing.until_hunks(HUNK)
    typing.nvim.keys("u")
    typing.until_hunks()
    typing.nvim.keys("<C-r>")
    typing.until_hunks(HUNK)
    typing.reject(OLD.decode())
    typing.nvim.keys("u")
    typing.until_hunks(HUNK)


def test_written_and_formatted(typing: Typing) -> None:
    typing.nvim.command("autocmd BufWritePre f silent! %s/four/FOUR/")
    typing.agent()
    typing.until_hunks(HUNK)
    typing.nvim.keys("GAmine<Esc>:write<CR>")
    typing.until_hunks(HUNK)
    assert (typing.desk.cwd / "f").read_text() == "one\nTWO\nthree\nFOUR\nfivemine\n"
    typing.agent("one", "ONE")
    typing.until_hunks((0, 2, ["one", "two"]))
    typing.reject("one\ntwo\nthree\nFOUR\nfivemine\n")


def test_read_again(desk: Desk) -> None:
    for how in ("edit!", "bdelete | edit f", "bwipeout | edit f"):
        with case(how):
            desk.go_on_in(how.replace(" | edit f", ""))
            typing = Typing(desk)
            typing.agent()
            typing.until_hunks(HUNK)
            typing.nvim.keys("GAmine<Esc>:write<CR>")
            typing.until_hunks(HUNK)
            typing.nvim.command(how)
            typing.buffer = typing.nvim.api("get_current_buf")
            typing.until_hunks(HUNK)
            typing.reject("one\ntwo\nthree\nfour\nfivemine\n")


def test_thrown_away(desk: Desk) -> None:
    for how in ("edit!", "bdelete! | edit f", "bwipeout! | edit f"):
        with case(how):
            desk.go_on_in(how.replace("! | edit f", ""))
            typing = Typing(desk)
            typing.agent()
            typing.until_hunks(HUNK)
            typing.nvim.keys("GAmine<Esc>")
            typing.nvim.command(how)
            typing.buffer = typing.nvim.api("get_current_buf")
            typing.until_hunks(HUNK)
            assert typing.text + "\n" == NEW.decode().replace("six\n", "")
            typing.reject(OLD.decode())


def test_thrown_away_for_good(typing: Typing) -> None:
    typing.agent()
    typing.until_hunks(HUNK)
    typing.nvim.keys("GAmine<Esc>")
    typing.nvim.command("bdelete!")
    typing.nvim.command("AcpReview! rejectall")
    typing.desk.until_nothing_is_left()
    assert (typing.desk.cwd / "f").read_bytes() == OLD
