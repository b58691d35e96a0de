"""`:AcpTutor` walked through with its own keys, on a real screen: each step is noticed, and nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.screen import ScreenEditor

TITLES = 'return vim.tbl_map(function(step) return step.title end, require("acp_nvim.tutor.steps"))'
TABS = "return #vim.api.nvim_list_tabpages()"
ESCAPE, CHAT, SEND = "\x1b", "\x1b\x17k", "\x13"


class Tutor:
    """A tutor on the screen, and the step that its text must have come to."""

    def __init__(self, nvim: ScreenEditor) -> None:
        self.nvim = nvim
        nvim.type(":AcpTutor\r")
        nvim.wait_for("demo idle")
        self.titles = nvim.lua(TITLES)
        self.step = 1

    def type(self, keys: str) -> None:
        self.nvim.type(keys)

    def shown(self, words: str) -> None:
        self.nvim.wait_for(words)

    def done(self) -> None:
        """Waits until the text has come to the next step."""
        self.step += 1
        titles = [*(f"## {number}. {title}" for number, title in enumerate(self.titles, 1)), "# That was it"]
        self.shown(titles[self.step - 1] + "  ◀")


@pytest.fixture
def tutor(screen: Callable[..., ScreenEditor]) -> Tutor:
    nvim = screen(columns=120, rows=44)
    (nvim.project / "mine.py").write_text("mine\n")
    return Tutor(nvim)


def answer(tutor: Tutor, key: str) -> None:
    tutor.shown("Permission needed")
    tutor.type(CHAT)
    tutor.shown("✓ a Allow")
    tutor.type(key)


def answer_until_edits(tutor: Tutor) -> None:
    """Allows the first edit, rejects the command, and has the agent make the edits that are reviewed."""
    answer(tutor, "a")
    tutor.done()
    tutor.shown("wc -l")
    tutor.type("r")
    tutor.done()
    tutor.type("i/edits" + SEND)
    answer(tutor, "a")
    tutor.done()


def test_its_steps_are_walked_with_the_keys_that_it_names(tutor: Tutor) -> None:
    nvim = tutor.nvim
    directory = nvim.lua("return vim.fn.getcwd()")
    assert Path(directory) != nvim.project
    tutor.type("iWhat is wrong?" + SEND)
    tutor.done()
    tutor.shown("? <Esc><C-w>k: a allows, r rejects")
    answer_until_edits(tutor)
    tutor.shown("demo idle")  # what is rejected during the turn is no change of it
    tutor.type(":AcpReview next\r")
    tutor.shown("/3")
    tutor.type("ghr")
    tutor.done()
    tutor.type("u")
    tutor.done()
    tutor.type("ghk")
    tutor.shown("2 hunks")
    tutor.type("ghK")
    tutor.done()
    tutor.type(":AcpPrompt\r")
    tutor.type("/slow" + SEND)
    tutor.shown("Part 1 of 5")
    tutor.type("/markdown" + SEND)
    tutor.done()
    tutor.type(ESCAPE)
    nvim.wait_until("vim.api.nvim_get_mode().mode == 'n'", what="Normal mode")  # both at once would be another key
    tutor.type("\x03")
    tutor.shown("1 prompt is held: <CR> sends it")
    tutor.type("\r")
    tutor.done()
    for mode in ("Accept edits", "Plan"):
        tutor.type("\x07m")
        tutor.shown(f"· {mode}")
    tutor.done()
    tutor.type("iExplain @exp")
    nvim.wait_until("vim.fn.pumvisible() == 1", what="the menu")
    tutor.type("\x0e")
    tutor.shown("Explain @expected.txt")
    tutor.type(SEND)
    tutor.done()
    nvim.lua(SELECT)
    tutor.type(ESCAPE + ":AcpRestore\r")
    nvim.wait_until("_G.choose ~= nil", what="the list of turns")
    nvim.lua(CHOOSE, "What is wrong?")
    nvim.wait_until("_G.choose ~= nil", what="the question")
    nvim.lua(CHOOSE, "Restore this file")
    tutor.done()
    tutor.type(":AcpFork\r")
    tutor.done()
    leave(tutor, directory)


SELECT = """
vim.ui.select = function(items, opts, done)
  _G.items, _G.format, _G.choose = items, opts.format_item, done
end
"""
CHOOSE = """
local words, choose = ..., _G.choose
_G.choose = nil
for index, item in ipairs(_G.items) do
  if (_G.format or tostring)(item):find(words, 1, true) then
    return choose(item, index)
  end
end
error("nothing says " .. words)
"""


def leave(tutor: Tutor, directory: str) -> None:
    """Ends it as its text says: nothing of it is left, and the user's own project is as it was."""
    nvim = tutor.nvim
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('acp://tutor'))")
    tutor.type("q")
    nvim.wait_until(lambda: nvim.lua(TABS) == 1, what="the tab page to be gone")
    nvim.wait_until(lambda: not Path(directory).exists(), what="the copy to be gone")
    assert nvim.lua("return vim.fn.getcwd()") == str(nvim.project)
    assert nvim.lua("return #require('acp_nvim.host.sessions').all()") == 0
    assert [one.name for one in nvim.project.iterdir()] == ["mine.py"]
    assert nvim.lua("return vim.fn.bufnr('greeting.py')") == -1


def test_a_wrong_turn_is_noticed_and_the_way_back_is_said(tutor: Tutor) -> None:
    nvim = tutor.nvim
    tutor.type("iWhat is wrong?" + SEND)
    tutor.done()
    tutor.shown("? <Esc><C-w>k: a allows, r rejects")
    answer(tutor, "r")
    tutor.shown("┃ $ wc -l")
    tutor.type("r")
    tutor.shown("The agent asks nothing any more: send `What is wrong?` again.")
    tutor.type("iiWhat is wrong?" + SEND)
    answer_until_edits(tutor)
    tutor.shown("demo idle")
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('greeting.py'))")
    tutor.type(f":edit {nvim.project}/mine.py\r")
    tutor.shown("mine.py is not of the tutor")
    tutor.type("\x0f")
    nvim.wait_until(lambda: not nvim.find("is not of the tutor"), what="the note to be gone")
    tutor.type(":AcpReview next\r")
    tutor.shown("/3")
    tutor.type("ghk")
    tutor.shown("That has kept it: reject another one")
    tutor.type(":AcpReview! keepall\r")
    tutor.shown("Nothing is left to review: send `/edits`")


def test_it_is_ended_at_any_step_and_begins_anew(tutor: Tutor) -> None:
    nvim = tutor.nvim
    tutor.type("iWhat is wrong?" + SEND)
    tutor.done()
    tutor.type(ESCAPE + ":AcpTutor\r")
    nvim.wait_until("vim.bo.filetype == 'acp_tutor'", what="the tutor that is open")
    leave(tutor, nvim.lua("return vim.fn.getcwd()"))
    Tutor(nvim)
    assert nvim.lua(TABS) == 2


def test_it_can_be_ended_in_the_only_tab_page(tutor: Tutor) -> None:
    directory = tutor.nvim.lua("return vim.fn.getcwd()")
    tutor.type(":tabonly\r")
    tutor.nvim.wait_until(lambda: tutor.nvim.lua(TABS) == 1, what="the only tab page")
    leave(tutor, directory)
