"""How the editor feels while an agent talks as fast as it can, and while an agent is slow to start."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping, Report
from tests.support.screen import ScreenEditor

TALKER = """
    def turn(agent, prompt):
        count = int(prompt.text)
        agent.flood(prompt.session_id, (f"chunk {i:06d} of words, **bold** and `code`" + ("\\n" if i % 3 == 0 else " ")
                                        for i in range(count)))
"""
SLEEPER = """
    def initialize(agent, request):
        time.sleep(5)
        return agent.initialize_result()
"""


@dataclass(frozen=True)
class Streamed:
    """`seconds` from the prompt until the turn has ended and its last text stands in the buffer."""

    seconds: float
    pings: Report
    exact: bool


def expected(count: int) -> str:
    """Return the text that the agent sends."""
    return "".join(f"chunk {i:06d} of words, **bold** and `code`" + ("\n" if i % 3 == 0 else " ") for i in range(count))


def stream(directory: Path, count: int, with_screen: bool = False) -> Streamed:
    """`count` chunks without a pause, the chat visible."""
    script = agent_script(directory, TALKER)
    kind = ScreenEditor if with_screen else HeadlessEditor
    editor = kind(directory, agents={"talker": {"command": script.argv}})
    try:
        editor.command("AcpChat talker")
        editor.wait_until('require("acp_nvim").status().state == "idle"')
        with Ping(editor.places.socket) as ping:
            start = time.perf_counter()
            editor.lua('require("acp_nvim").prompt(...)', str(count))
            editor.wait_until(lambda: editor.events("AcpTurnEnd"), limit=120, what="the end of the turn")
            seconds = time.perf_counter() - start
        return Streamed(seconds, ping.report, expected(count) in editor.chat_text())
    finally:
        editor.close()


def slow_start(directory: Path) -> Report:
    """Pings while an agent takes 5 s to answer `initialize`."""
    script = agent_script(directory, SLEEPER)
    editor = HeadlessEditor(directory, agents={"sleeper": {"command": script.argv}})
    try:
        with Ping(editor.places.socket) as ping:
            editor.command("AcpChat sleeper")
            editor.wait_until('require("acp_nvim").status().state == "idle"', limit=30)
        return ping.report
    finally:
        editor.close()
