"""A conversation whose turns use the same ids of tool calls, as the user loads it: in the chat, and exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

SCRIPT = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}

    def session_load(agent, request):
        for prompt, title, kind in (("tidy up", "rm -rf cache", "execute"), ("look", "Read README.md", "read")):
            text = {"type": "text", "text": prompt}
            agent.update("old", {"sessionUpdate": "user_message_chunk", "content": text})
            call = {"toolCallId": "call_1", "title": title, "kind": kind, "status": "completed"}
            agent.update("old", {"sessionUpdate": "tool_call", **call})
        return {}

    def turn(agent, prompt):
        prompt.tool("call_1", "Write notes.txt", kind="edit", status="completed")
        prompt.tool("call_1", "make test", kind="execute", status="completed")
"""
SAID = ["tidy up", "rm -rf cache", "look", "Read README.md", "go on", "Write notes.txt", "make test"]


def test_each_turn_shows_its_own_calls(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = editor(agents={"it": {"command": agent_script(tmp_path, SCRIPT).argv}}, config={"default_agent": "it"})
    entry = {"agent": "it", "session_id": "old", "cwd": str(nvim.project), "kept": []}
    nvim.lua("require('acp_nvim').session_do(..., { id = 'load' })", entry)
    nvim.wait_until(lambda: "README.md" in nvim.chat_text(), what="the replay")
    nvim.command("AcpPrompt go on")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    exported = tmp_path / "out.md"
    nvim.command(f"AcpExport {exported}")
    nvim.wait_until(lambda: exported.exists() and "make test" in exported.read_text(), what="the file")
    for where, text in (("chat", nvim.chat_text()), ("file", exported.read_text())):
        places = [text.find(words) for words in SAID]
        assert -1 not in places, (where, text)
        assert places == sorted(places), (where, text)
    calls = [one["call"]["title"] for one in nvim.events("AcpToolCall")]
    assert calls == [one for one in SAID if one not in ("tidy up", "look", "go on")]
