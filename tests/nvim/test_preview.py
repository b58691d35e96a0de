"""From the question to the review: what the agent asks to do is seen in the file, answered, done, and reviewed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.processes import kill, running
from tests.support.screen import ScreenEditor

TURN = """
    def turn(agent, prompt):
        path, other = os.getcwd() + "/main.py", os.getcwd() + "/new.py"
        content = [
            {"type": "diff", "path": path, "oldText": "print('two')", "newText": "print('TWO')"},
            {"type": "diff", "path": path, "oldText": "print('four')", "newText": "print('FOUR')"},
            {"type": "diff", "path": other, "oldText": None, "newText": "import main"},
        ]
        answer = prompt.ask("t", title="Shout", kind="edit", content=content)
        if answer == "allow":
            text = prompt.read(path)
            prompt.write(path, text.replace("two", "TWO").replace("four", "FOUR"))
            prompt.write(other, "import main")
        prompt.say("Done: " + str(answer))
"""
LINES = ["print('one')", "print('two')", "print('three')", "print('four')", "print('five')"]
MARKS = """
local id = vim.api.nvim_create_namespace("acp_nvim.preview")
return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("main.py"), id, 0, -1, {})
"""


def asked(nvim: HeadlessEditor, opened: bool = True) -> Path:
    """A prompt is sent, and the agent asks; the focus is in the file, if it is opened."""
    path = nvim.project / "main.py"
    path.write_text("".join(f"{line}\n" for line in LINES))
    if opened:
        nvim.command(f"edit {path}")
        nvim.api("buf_set_lines", 0, 0, 0, True, ["# mine, not saved"])
    nvim.command("AcpChat")
    nvim.command("stopinsert")
    nvim.command("AcpPrompt shout")
    nvim.wait_until('#require("acp_nvim").permissions() > 0', what="the question")
    nvim.command("wincmd h")
    return path


def has_marks(nvim: HeadlessEditor) -> bool:
    return bool(nvim.lua(MARKS))


def test_from_the_question_to_the_review(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = screen(columns=110, rows=30, agents={"scripted": {"command": script.argv}})
    path = asked(nvim)
    nvim.wait_for("scripted asks (file 1 of 2) · ghk Allow · ghr Reject")
    rows = [row[:20].rstrip(" │") for row in nvim.rows()]
    assert rows[3:8] == ["print('two')", "print('TWO')", "print('three')", "print('four')", "print('FOUR')"]
    assert path.read_text() == "".join(f"{line}\n" for line in LINES)
    nvim.type("]h")
    nvim.wait_until(lambda: nvim.lua("return vim.fn.line('.')") == 3, what="the first change")
    nvim.type("ghk")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert "Done: allow" in nvim.chat_text()
    nvim.wait_until(lambda: not nvim.find("asks"), what="no preview")
    assert not has_marks(nvim)
    assert nvim.buffer_text(nvim.lua("return vim.fn.bufnr('main.py')")).split("\n") == [
        "# mine, not saved", "print('one')", "print('TWO')", "print('three')", "print('FOUR')", "print('five')",
    ]  # fmt: skip
    nvim.wait_until(lambda: "hunk 1/2" in nvim.screen_text(), what="the review of what was done")
    nvim.type("ghr")
    nvim.wait_until(lambda: "two" in path.read_text(), what="the old line back on disk")
    assert "FOUR" in path.read_text()


def test_who_opens_the_file_later_sees_it_too(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = editor(agents={"scripted": {"command": script.argv}})
    path = asked(nvim, opened=False)
    nvim.wait_until(lambda: "preview in 2 files" in nvim.chat_text(), what="the preview in the chat")
    nvim.command(f"edit {path}")
    nvim.wait_until(lambda: has_marks(nvim), what="the preview in the file")
    nvim.keys("ggghr")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert "Done: reject" in nvim.chat_text()
    assert path.read_text() == "".join(f"{line}\n" for line in LINES)
    assert not has_marks(nvim)


def test_the_chat_leads_through_the_files(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = editor(agents={"scripted": {"command": script.argv}})
    asked(nvim, opened=False)
    nvim.lua('require("acp_nvim.limits").seen_ms = 0')  # these keys come faster than a person reads
    nvim.wait_until(lambda: "preview in 2 files" in nvim.chat_text(), what="the preview in the chat")
    seen = []
    for line in (2, 1):
        nvim.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", nvim.chat_buffer())
        nvim.keys("p")
        nvim.wait_until(
            lambda line=line: (
                nvim.lua("return vim.fn.line('.')") == line and nvim.lua("return vim.bo.filetype") != "acp_chat"
            )
        )
        seen.append(nvim.lua("return vim.fn.bufname()"))
    assert seen[0].endswith("main.py")
    assert seen[1].startswith("acp://preview")
    assert not (nvim.project / "new.py").exists()
    nvim.keys("ghk")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert (nvim.project / "new.py").read_text() == "import main"
    assert not any("acp://preview" in one for one in nvim.lua("return vim.fn.getbufinfo()") for one in [one["name"]])


@pytest.mark.parametrize("end", ["AcpCancel", "AcpStop", "host", "agent"])
def test_it_goes_with_whoever_would_do_it(editor: Callable[..., HeadlessEditor], tmp_path: Path, end: str) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = editor(agents={"scripted": {"command": script.argv}})
    asked(nvim)
    nvim.wait_until(lambda: has_marks(nvim), what="the preview")
    if end == "host":
        kill([nvim.host()])
    elif end == "agent":
        kill(running("scripted_agent", nvim.places.mark))
    else:
        nvim.command(end)
    nvim.wait_until(lambda: not has_marks(nvim), what="no preview")
    file = nvim.lua("return vim.fn.bufnr('main.py')")
    nvim.command("enew")
    assert "ghk" not in [one["lhs"] for one in nvim.api("buf_get_keymap", file, "n")]
