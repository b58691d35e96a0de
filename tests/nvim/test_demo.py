"""`make demo`, as a person sees it: it opens, it says how to leave, it leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.places import ROOT
from tests.support.processes import MARK, kill, marked, wait_gone
from tests.support.pseudo_terminal import PseudoTerminal
from tests.support.screen import TERMINAL
from tests.support.waiting import LIMIT, wait_until
from tests.tools.demo import copy_sample

DEMO = ROOT / "tests" / "tools" / "demo.py"


@pytest.fixture
def demo(tmp_path):
    """The demo in a terminal: the terminal, and its process."""
    temporary = tmp_path / "t"
    temporary.mkdir()
    (ROOT / "doc" / "tags").unlink(missing_ok=True)  # the demo makes them
    env = {**os.environ, **TERMINAL, "TMPDIR": str(temporary), "HOME": str(tmp_path), MARK: str(tmp_path)}
    terminal = PseudoTerminal(100, 30)
    process = terminal.start([sys.executable, str(DEMO)], tmp_path, env)
    yield terminal, process, temporary
    kill(marked(str(tmp_path)))
    process.wait(LIMIT)
    terminal.close()


def test_the_demo_opens_a_chat_and_leaves_nothing(demo, tmp_path):
    terminal, process, temporary = demo

    def shows(text: str) -> None:
        wait_until(lambda: text in terminal.text(), LIMIT, f"{text!r} on the screen", terminal.text)

    shows("def greet")
    shows("demo idle")
    terminal.write(b"\x1b:AcpChat second\r")
    shows("second idle")
    terminal.write(b"\x1b:help acp_nvim-setup\r")
    shows("acp_nvim.txt")
    terminal.write(b"\x1b:qa!\r")
    assert process.wait(60) == 0
    of_neovim = [one for one in temporary.glob("nvim.*") if one.is_dir()]  # which it leaves behind, empty
    assert [one for one in temporary.rglob("*") if one not in of_neovim] == []
    wait_gone(lambda: marked(str(tmp_path)))


def test_without_a_terminal_it_says_so():
    command = [sys.executable, str(DEMO)]
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "needs a terminal" in answer.stderr


def test_the_sample_has_no_compiled_files(tmp_path):
    sample = tmp_path / "sample"
    (sample / "__pycache__").mkdir(parents=True)
    (sample / "greeting.py").touch()
    copy_sample(tmp_path / "project", sample)
    assert [one.name for one in (tmp_path / "project").iterdir()] == ["greeting.py"]
