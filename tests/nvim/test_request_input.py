"""A request whose call shows nothing of its own, on the real screen: what would be allowed is read before."""

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
        {"optionId": "n", "name": "Stop", "kind": "reject_once"},
    ]

    def turn(agent, prompt):
        cwd = os.getcwd()
        inputs = {
            "edit": {"path": cwd + "/.env", "content": "SECRET=1"},
            "delete": {"file_path": cwd + "/old.txt"},
            "move": {"source": cwd + "/old.txt", "destination": cwd + "/link/new.txt"},
            "fetch": {"url": "https://example.org/" + "x/" * 4000 + "end", "prompt": "read it"},
        }
        kind = prompt.text
        shown = dict(title=kind, kind=kind, rawInput=inputs[kind])
        prompt.say("answer: " + str(prompt.ask("c" + kind, ONCE, **shown)))
"""

SAID: dict[str, tuple[list[str], list[str]]] = {
    "edit": (["path: .env", "content: SECRET=1"], ["Always allow edit of .env in this project"]),
    "delete": (["file_path: old.txt"], ["Always allow delete of old.txt in this project"]),
    "move": (["source: old.txt", "new.txt leads to", "outside of the session's directories"], []),
    "fetch": (["url: https://example.org/x/", "prompt: read it"], []),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_a_key_would_allow_has_been_on_the_screen(
    screen: Callable[..., ScreenEditor], tmp_path: Path, kind: str
) -> None:
    said, options = SAID[kind]
    script = agent_script(tmp_path, ASKS)
    config = {"default_agent": "it", "ui": {"position": "bottom", "size": 0.8}}
    nvim = screen(agents={"it": {"command": script.argv}}, config=config, columns=200, rows=50)
    project = Path(nvim.lua("return vim.fn.getcwd()"))
    (project / "old.txt").write_text("x\n")
    (project / "link").symlink_to("/")
    nvim.command("AcpChat")
    nvim.command("stopinsert")
    nvim.command(f"call win_gotoid(bufwinid({nvim.chat_buffer()}))")
    nvim.lua(f'require("acp_nvim").prompt("{kind}")')
    nvim.wait_for("Stop")
    lines = "\n".join(nvim.lua("return vim.api.nvim_buf_get_lines(...)", nvim.chat_buffer(), 0, -1, False))
    flat = lines.replace(f"{project}/", "")
    assert [words for words in (*said, *options) if words not in flat] == []
    assert ("Always allow" in flat) == bool(options)
    if kind != "fetch":
        stays(nvim)
        nvim.type("a")
        nvim.wait_for("answer: y")
        return
    nvim.type("a")  # its address takes more rows than the window has
    nvim.wait_for("it asks · 1/")
    assert nvim.events("AcpPermissionDone") == []
