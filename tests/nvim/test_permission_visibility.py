"""A long command with the real host, on the two usual screens: it is allowed only after all of it was to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lua.test_permission_visibility import stays
from tests.support.agent_scripts import agent_script
from tests.support.screen import ScreenEditor

ASKS = """
    import os

    ONCE = [
        {"optionId": "y", "name": "Go on", "kind": "allow_once"},
        {"optionId": "Y", "name": "Go on and on", "kind": "allow_always"},
        {"optionId": "n", "name": "Stop", "kind": "reject_once"},
        {"optionId": "N", "name": "Never", "kind": "reject_always"},
    ]
    LINES = ["echo step %d" % number for number in range(int(os.environ["STEPS"]))]
    COMMAND = "\\n".join(LINES + ["npm test" + " " * 400 + "; rm -rf ~"])

    def turn(agent, prompt):
        content = [{"type": "content", "content": {"type": "text", "text": COMMAND}}]
        shown = dict(title="Build", kind="execute", rawInput={"command": COMMAND}, content=content)
        prompt.say("answer: " + str(prompt.ask("c1", ONCE, **shown)))
"""


@pytest.mark.parametrize(
    ("columns", "rows", "position", "steps"), [(120, 40, "right", 52), (80, 24, "bottom", 52), (80, 24, "bottom", 1)]
)
def test_a_command_is_read_before_it_is_allowed(
    screen: Callable[..., ScreenEditor], tmp_path: Path, columns: int, rows: int, position: str, steps: int
) -> None:
    script = agent_script(tmp_path, ASKS)
    config = {"default_agent": "it", "ui": {"position": position}}
    agents = {"it": {"command": script.argv, "env": {"STEPS": str(steps)}}}
    nvim = screen(agents=agents, config=config, columns=columns, rows=rows)
    nvim.command("AcpChat")
    nvim.command("stopinsert")
    nvim.command(f"call win_gotoid(bufwinid({nvim.chat_buffer()}))")
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_for("R Never")
    nvim.type("a")
    nvim.wait_for("it asks · 1/")
    nvim.wait_for("Permission needed  execute  Build")
    assert nvim.events("AcpPermissionDone") == []
    for page in range(2, 9):
        more = f"again to see the rest ({page}/"
        nvim.wait_until(lambda more=more: nvim.find(more) or nvim.find("press a to allow"), what="what comes next")
        if nvim.find("press a to allow"):
            break
        stays(nvim)  # a key that comes again at once is one that is held down
        nvim.type("a")
        nvim.wait_for(f"it asks · {page}/")
    assert nvim.events("AcpPermissionDone") == []
    assert nvim.find("npm test ··· 400 spaces ··· ; rm -rf ~")
    stays(nvim)
    nvim.type("a")
    nvim.wait_for("answer: y")
