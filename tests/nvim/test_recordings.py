"""What an agent said is recorded where the health check says, and can be played again."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.agent_scripts import agent_script

TURN = """
    def turn(agent, prompt):
        prompt.say("You said: " + prompt.text)
"""


def ask(nvim, agent, text):
    nvim.command(f"AcpChat {agent}")
    nvim.lua('require("acp_nvim").prompt(...)', text)
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    return nvim.chat_text()


def recordings(nvim):
    """The files in the directory that the health check names."""
    return sorted(Path(nvim.lua('return require("acp_nvim.kernel.log").traffic()')).glob("*.jsonl"))


def test_a_conversation_is_recorded_and_played_again(editor, tmp_path):
    agent = {"it": {"command": agent_script(tmp_path, TURN).argv}}
    first = editor(agents=agent, config={"log": {"traffic": True}})
    said = ask(first, "it", "good morning")
    assert "You said: good morning" in said
    (recording,) = recordings(first)
    assert "good morning" in recording.read_text()
    assert recording.stat().st_mode & 0o077 == 0
    replay = {"replay": {"command": [sys.executable, "-P", "-m", "acp_nvim.replay", str(recording)]}}
    second = editor(agents=replay)
    assert "You said: good morning" in ask(second, "replay", "anything")
    assert recordings(second) == []


def test_nothing_is_recorded_unless_it_is_wanted(editor, tmp_path):
    nvim = editor(agents={"it": {"command": agent_script(tmp_path, TURN).argv}})
    ask(nvim, "it", "good morning")
    assert recordings(nvim) == []
