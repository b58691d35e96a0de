"""An agent and its programs write files that the user has open, with and without asking us."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

OLD = "one\ntwo\nthree\nfour\nfive\n"

# Runs what the prompt says, as its own tool, or as a request.
SCRIPT = """
def turn(agent, prompt):
    import subprocess
    how, what = prompt.text.split(" ", 1)
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": what, "kind": "execute", "status": "in_progress"}
    agent.update(prompt.session_id, call)
    prompt.until_heard()
    if how == "run":
        subprocess.run(what, shell=True, check=True, cwd=DIRECTORY)
    else:
        path, old, new = what.split()
        text = prompt.read(path)
        if how == "slow":
            agent.note(read=True)
            while not os.path.exists(path + ".go"):
                time.sleep(0.005)
        try:
            prompt.write(path, text.replace(old, new))
            agent.note(written=True)
        except Error as error:
            agent.note(error=error.message)
    agent.update(prompt.session_id, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
"""


class Desk:
    """A Neovim with one file open in a window, and an agent beside it."""

    def __init__(self, nvim: HeadlessEditor, script: AgentScript) -> None:
        self.nvim = nvim
        self.script = script
        self.file = nvim.project / "f.txt"
        self.file.write_text(OLD)
        nvim.command(f"edit {self.file}")
        nvim.lua("_G.file = vim.api.nvim_get_current_buf()")

    def say(self, text: str) -> None:
        """Prompt, and wait for the end of the turn."""
        before = len(self.nvim.events("AcpTurnEnd"))
        self.nvim.lua('require("acp_nvim").prompt(...)', text)
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > before, what="the end of the turn")

    @property
    def text(self) -> str:
        """The text of the buffer."""
        return self.nvim.buffer_text(self.nvim.lua("return _G.file"))

    def until_text(self, text: str) -> None:
        """Wait until the buffer has this text."""
        self.nvim.wait_until(lambda: self.text == text, what=lambda: f"the buffer to be {text!r}, not {self.text!r}")

    def until_told(self, words: str) -> str:
        """Wait until the chat has these words; return its text."""
        self.nvim.wait_until(lambda: words in self.nvim.chat_text(), what=words)
        return self.nvim.chat_text()

    def write(self) -> None:
        """The user writes the buffer, and is asked nothing."""
        self.nvim.keys(":write<CR>")
        assert self.nvim.api("get_mode") == {"mode": "n", "blocking": False}


@pytest.fixture
def desk(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Desk:
    """A Neovim with a file and a session that is ready."""
    script = agent_script(tmp_path, "DIRECTORY = None")
    nvim = editor(agents={"it": {"command": script.argv}})
    text = f"DIRECTORY = {str(nvim.project)!r}\n{SCRIPT}"
    script.path.write_text(text)
    return Desk(nvim, script)


def test_a_program_of_the_agent_and_unsaved_edits_are_merged(desk: Desk) -> None:
    desk.nvim.keys("Atyped<Esc>")
    desk.say("run sed -i s/five/5/ f.txt")
    desk.until_text("onetyped\ntwo\nthree\nfour\n5")
    desk.until_told("merged with your unsaved edits")
    assert desk.file.read_text() == OLD.replace("five", "5")
    desk.write()
    assert desk.file.read_text() == "onetyped\ntwo\nthree\nfour\n5\n"
    desk.nvim.keys("u")
    assert desk.text == "onetyped\ntwo\nthree\nfour\nfive"


def test_what_cannot_be_merged_is_kept_in_a_file(desk: Desk) -> None:
    desk.nvim.keys("Atyped<Esc>")
    desk.say("run sed -i s/one/1/ f.txt")
    told = desk.until_told("Your edits were kept")
    assert desk.text.startswith("onetyped\n")
    kept = Path(told.split("is kept in ")[1].split(": compare")[0].replace("\n", ""))
    assert kept.read_text() == OLD.replace("one", "1")
    desk.write()
    assert desk.file.read_text() == OLD.replace("one", "onetyped")


def test_an_unmodified_buffer_follows_within_the_turn_and_undo_goes_back(desk: Desk) -> None:
    desk.nvim.keys("Ax<Esc>:write<CR>")
    desk.say("run printf 'zero\\n' | cat - f.txt > g.txt && cat g.txt > f.txt")
    desk.until_text("zero\nonex\ntwo\nthree\nfour\nfive")
    assert desk.nvim.api("win_get_cursor", 0) == [2, 3]
    desk.nvim.keys("uu")
    assert desk.text == OLD.rstrip()
    assert desk.nvim.printed().count("W1") == 0


def test_renamed_deleted_and_new_files(desk: Desk) -> None:
    desk.nvim.command("set hidden")
    desk.nvim.command(f"edit {desk.nvim.project}/new.txt")
    new = desk.nvim.api("get_current_buf")
    desk.nvim.command("buffer f.txt")
    desk.say("run mkdir -p d && mv f.txt d/g.txt && echo new > new.txt")
    desk.nvim.wait_until(lambda: desk.nvim.api("buf_get_name", 0) == f"{desk.nvim.project}/d/g.txt", what="the name")
    desk.nvim.wait_until(lambda: desk.nvim.buffer_text(new) == "new", what="the new text")
    desk.nvim.keys("Ax<Esc>")
    desk.write()
    assert (desk.nvim.project / "d" / "g.txt").read_text() == OLD.replace("one", "onex")
    assert not desk.file.exists()
    desk.say("run rm -r d")
    desk.until_told("was deleted. Its buffer keeps the text")
    assert desk.text == OLD.replace("one", "onex").rstrip()


def test_an_agent_that_writes_over_an_edit_that_it_has_not_seen(desk: Desk) -> None:
    desk.nvim.command("AcpChat")
    desk.nvim.command("wincmd p | wincmd t")
    desk.nvim.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(_G.file)[1])")
    desk.nvim.lua('require("acp_nvim").prompt(...)', f"slow {desk.file} two 2")
    desk.nvim.wait_until(lambda: desk.script.notes("read"), what="the read")
    desk.nvim.keys("GAtyped<Esc>")
    desk.file.with_name("f.txt.go").touch()
    desk.nvim.wait_until(lambda: desk.nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert (desk.script.notes("written"), desk.script.notes("error")) == ([True], [])
    assert desk.file.read_text() == "one\n2\nthree\nfour\nfivetyped\n"
    desk.until_told("was merged with edits that it had not seen")
    desk.nvim.keys("u")
    assert desk.text == "one\ntwo\nthree\nfour\nfivetyped"
    desk.nvim.keys("u")
    assert desk.text == OLD.rstrip()


def test_when_the_session_ends_the_buffers_are_the_users_again(desk: Desk) -> None:
    desk.say("run true")
    assert desk.nvim.lua("return vim.bo[_G.file].autoread") is False
    desk.nvim.command("AcpStop")
    desk.nvim.wait_until("vim.bo[_G.file].autoread ~= false")


def test_what_a_formatter_program_makes_of_a_saved_file_the_agent_knows(desk: Desk) -> None:
    desk.nvim.command(f"autocmd BufWritePost {desk.file} silent !sed -i s/three/THREE/ %")
    desk.nvim.command(f"edit {desk.file}")
    for old, new in (("two", "2"), ("four", "4")):
        desk.say(f"write {desk.file} {old} {new}")
    assert desk.script.notes("error") == []
    desk.until_text("one\n2\nTHREE\n4\nfive")
    assert desk.file.read_text() == "one\n2\nTHREE\n4\nfive\n"
    assert "edits" not in desk.nvim.chat_text()
