"""Following a real agent through the real host, while the user types in another window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.cases import case
from tests.support.editor import HeadlessEditor
from tests.support.typing_user import CHUNKS, LINES, LUA, differences, typed

# At a thousand places while the user types; then it reads, edits and writes, and is there.
AGENT = """
    import os
    def place(prompt, number, line):
        path = os.path.join(os.getcwd(), f"code{number % 3}.py")
        prompt.tool_update("c", locations=[{"path": path, "line": line}])

    def turn(agent, prompt):
        path = os.path.join(os.getcwd(), "code0.py")
        if prompt.text == "burst":
            prompt.tool("c", "Look", kind="read")
            for number in range(1000):
                place(prompt, number, number % 90 + 1)
                prompt.pause(0.0005)
        elif prompt.text == "read":
            prompt.read(path, line=40, limit=2)
        elif prompt.text == "write":
            prompt.write(path, open(path).read().replace("line 60\\n", "LINE 60\\n"))
        elif prompt.text == "edit":
            diff = {"type": "diff", "path": path, "oldText": "line 70\\n", "newText": "LINE 70\\n"}
            prompt.tool("e", "Edit", kind="edit", content=[diff])
            text = open(path).read()
            open(path, "w").write(text.replace("line 70\\n", "LINE 70\\n"))
            prompt.tool_update("e", status="completed")
        elif prompt.text == "make":
            prompt.write(os.path.join(os.getcwd(), "new.py"), "new\\n")
"""


@pytest.fixture
def agent(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, AGENT)


@pytest.fixture
def nvim(editor: Callable[..., HeadlessEditor], agent: AgentScript) -> HeadlessEditor:
    """A code window, the chat, and the session open."""
    nvim = editor(agents={"it": {"command": agent.argv}}, config={"default_agent": "it"})
    for number in range(3):
        text = "".join(f"line {row}\n" for row in range(1, 101))
        (nvim.project / f"code{number}.py").write_text(text)
    nvim.api("ui_attach", 120, 40, {})
    nvim.command("edit code1.py")
    nvim.command("AcpChat")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')
    return nvim


def shown(nvim: HeadlessEditor) -> tuple[str, int]:
    """Name and line in the code window."""
    name, line = nvim.lua("""
        local win = vim.fn.win_getid(1)
        local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
        return { vim.fs.basename(name), vim.api.nvim_win_get_cursor(win)[1] }""")
    return name, line


PLACES = {"read": ("code0.py", 40), "write": ("code0.py", 60), "edit": ("code0.py", 70), "make": ("new.py", 1)}


def test_what_the_agent_does_is_shown(nvim: HeadlessEditor) -> None:
    focus = nvim.lua("return { vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode }")
    for number, (what, place) in enumerate(PLACES.items()):
        with case(what):
            nvim.lua('require("acp_nvim").prompt(...)', what)
            nvim.wait_until(lambda place=place: shown(nvim) == place, what=f"{place} in the window")
            nvim.wait_until(lambda number=number: len(nvim.events("AcpTurnEnd")) > number, what="the end of the turn")
            assert nvim.lua("return { vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode }") == focus
            assert nvim.lua("return require('acp_nvim').status().follow") == "on"


MODES = ["insert", "visual", "operators", "command line", "macros"]


def test_typing_has_the_same_effect(nvim: HeadlessEditor) -> None:
    prompt = nvim.api("get_current_win")
    nvim.command("AcpFollow on")
    nvim.lua(LUA)
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.win_getid(1)) vim.cmd('split')")
    nvim.lua("user.begin(...)", LINES)
    nvim.command("set inccommand=")
    for number, mode in enumerate(MODES):
        with case(mode):
            plain = typed(nvim, CHUNKS[mode], lambda: None)
            nvim.lua('require("acp_nvim").prompt("burst")')
            nvim.wait_until(lambda number=number: len(nvim.events("AcpTurnStart")) > number, what="the turn")
            meanwhile = typed(nvim, CHUNKS[mode], lambda: nvim.api("get_mode"))
            nvim.wait_until(lambda number=number: len(nvim.events("AcpTurnEnd")) > number, what="the end of the turn")
            found = differences(plain, meanwhile)
            found = [words for words in found if ".changes:" not in words and ".marks.''" not in words]
            assert not found, found
            assert nvim.api("get_current_win") != prompt
