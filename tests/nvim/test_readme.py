"""README.md alone is enough: its five steps, typed as they are written there, by somebody who knows only Vim."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable

from tests.support.places import ROOT
from tests.support.screen import ScreenEditor

README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_PROMPT = README.split("## Your first prompt")[1]
DEMO = {"command": [sys.executable, "-P", "-m", "acp_nvim.demo_agent"], "env": {"PYTHONPATH": str(ROOT)}}


def step(number: int) -> str:
    """The text of one of the numbered steps."""
    found = re.search(rf"^{number}\. (.*?)(?=^\d\. |\n\n)", FIRST_PROMPT, re.DOTALL | re.MULTILINE)
    assert found, number
    return found[1]


def keys(number: int, *written: str) -> str:
    """What is typed, each of which the step has as code."""
    text = step(number)
    typed = ""
    for one in written:
        assert f"`{one}`" in text, one
        typed += one + "\r" if one.startswith(":") else re.sub(r"<Esc>|<CR>|<C-(.)>", key, one)
    return typed


def key(name: re.Match[str]) -> str:
    control = name[1]
    return chr(ord(control) & 0x1F) if control else {"<Esc>": "\x1b", "<CR>": "\r"}[name[0]]


def test_the_steps_of_the_readme(screen: Callable[..., ScreenEditor]) -> None:
    nvim = screen(agents={"claude": DEMO}, columns=100, rows=30)
    shutil.copytree(ROOT / "acp_nvim" / "demo_project", nvim.project, dirs_exist_ok=True)
    file = nvim.project / "greeting.py"
    original = file.read_text(encoding="utf-8")

    def ends_up(text: str, what: str) -> None:
        nvim.wait_until(lambda: file.read_text(encoding="utf-8") == text, what=what)

    nvim.type(":edit greeting.py\r")
    nvim.wait_for("def greet")
    nvim.type(keys(1, ":AcpChat claude"))
    nvim.wait_for("claude idle")
    nvim.type(keys(2, "i") + "what is wrong here?" + keys(2, "<C-s>"))
    nvim.wait_for("Greet the")  # the request, complete
    nvim.type(keys(3, "<Esc>", "<C-w>k"))
    nvim.wait_until('vim.bo.filetype == "acp_chat"')
    nvim.type(keys(3, "a"))
    nvim.wait_for("wc -l greeting.py")
    nvim.wait_until('#require("acp_nvim").permissions() == 1', what="the request for it")
    nvim.type(keys(3, "r"))
    nvim.wait_for("claude idle")
    allowed = file.read_text(encoding="utf-8")
    assert allowed != original

    nvim.type(keys(4, ":AcpReview"))
    nvim.wait_until('vim.bo.filetype == "acp_review"')
    nvim.type(keys(4, "<CR>"))
    nvim.wait_until('vim.fn.expand("%:t") == "greeting.py"', what="the file")
    nvim.wait_for("hunk 1/1")
    nvim.type(keys(4, "ghr"))
    ends_up(original, "the hunk to be rejected")
    nvim.wait_until('vim.fn.search("range(1,", "nw") > 0 and not vim.bo.modified', what="the buffer to follow")
    nvim.type(keys(4, "u", ":w"))
    nvim.wait_for("hunk 1/1")
    ends_up(allowed, "the rejected hunk to be back")

    nvim.type(keys(5, ":AcpRestore"))
    nvim.wait_for("2: ")
    turn = re.search(r"(\d): .*what is wrong here", nvim.screen_text())
    assert turn
    nvim.type(turn[1] + "\r")
    nvim.wait_for("(Y)es: Restore this file")
    nvim.type("y")
    ends_up(original, "the state before the turn")
    nvim.type(keys(5, ":AcpRestore undo"))
    ends_up(allowed, "the restore to be undone")
