"""How the editor feels while the first snapshot of a large repository is taken, and while turns change files there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench import snapshots
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping, Report

LIMIT = 120.0
WRITER = """
    def turn(agent, prompt):
        agent.note(began=time.time())
        for number in range(int(prompt.text)):
            with open(os.path.join(os.getcwd(), f"part{number % 20}/module{number}/file0.py"), "a") as file:
                file.write(f"# {prompt.text}\\n")
"""
SUMMARIES = """
_G.bench_summaries = 0
local transcript = require("acp_nvim.transcript")
local draw = transcript.draw
transcript.draw = function(session, id, kind, rendered)
  _G.bench_summaries = _G.bench_summaries + (kind == "summary" and 1 or 0)
  return draw(session, id, kind, rendered)
end
"""


@dataclass(frozen=True)
class Turns:
    """`first`: session and first prompt, with the first snapshot; `later`: the next turn. Waits in seconds."""

    first: Report
    later: Report
    prompt_waits: float
    """From the prompt until the agent has it, in the later turn."""
    summary_waits: float
    """From the prompt until the chat says what was changed, in the later turn."""


def run(directory: Path) -> Turns:
    """A turn that changes 20 files of 20,000, and another one."""
    script = agent_script(directory, "import os, time\n" + WRITER.replace("\n    ", "\n"))
    editor = HeadlessEditor(directory, agents={"writer": {"command": script.argv}})
    try:
        snapshots.make(editor.project)
        editor.command(f"cd {editor.project}")
        editor.lua(SUMMARIES)
        with Ping(editor.places.socket) as first:
            editor.command("AcpChat writer")
            editor.lua('require("acp_nvim").prompt("20")')
            editor.wait_until("_G.bench_summaries == 1", limit=LIMIT, what="the first summary")
        with Ping(editor.places.socket) as later:
            start = time.time()
            editor.lua('require("acp_nvim").prompt("21")')
            editor.wait_until("_G.bench_summaries == 2", limit=LIMIT, what="the second summary")
            summary = time.time() - start
        return Turns(first.report, later.report, script.notes("began")[1] - start, summary)
    finally:
        editor.close()
