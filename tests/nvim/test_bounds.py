"""Lists of an agent that are too long, in the chat of a whole editor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

TURN = """
    def turn(agent, prompt):
        step = {"content": "step", "priority": "low", "status": "pending"}
        prompt.update("plan", entries=[step] * 100_000)
        prompt.tool("c", "Search", kind="search", status="completed", locations=[{"path": "/a"}] * 30_000)
        prompt.say("x" * 9_000_000)
        prompt.say("\\n")
        options = [{"optionId": "o", "name": "n", "kind": "allow_once"}] * 20_000
        prompt.say(str(prompt.ask("c", title="May I?", options=options)))
"""


def test_they_are_cut_and_counted(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    nvim.command("AcpPrompt go")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    text = nvim.chat_text()
    assert "… and 99,500 more" in text
    assert "… and 29,990 more" in text
    assert "more bytes on this line" in text
    assert len(text) < 300_000
    assert not nvim.events("AcpPermissionRequest")
