"""What it costs the editor to follow an agent that is at a thousand places a second; the floor is not followed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.support.agent_scripts import agent_script
from tests.support.ping import Ping, Report
from tests.support.screen import ScreenEditor

PLACES = 1_000
SECONDS = 5
FILES = 20
LINES = 2_000

What = Literal["idle", "not followed", "followed"]
WHAT: tuple[What, ...] = ("idle", "not followed", "followed")

# One tool call that moves on: what the chat draws for it is the same, followed or not.
AGENT = f"""
    import os, time
    def turn(agent, prompt):
        how = prompt.text
        prompt.tool("c", "Look around", kind="read", status="in_progress")
        begin = time.monotonic()
        for number in range({PLACES * SECONDS}):
            late = begin + number / {PLACES} - time.monotonic()
            if late > 0:
                time.sleep(late)
            if how != "idle":
                path = os.path.join(os.getcwd(), f"file{{number % {FILES}}}.py")
                places = [{{"path": path, "line": number * 37 % {LINES} + 1}}]
                prompt.tool_update("c", locations=places)
"""
# Processor time of Neovim, and how often a place was shown.
COUNT = """
_G.bench = { shown = 0 }
local jump = require("acp_nvim.follow.jump")
local show = jump.show
jump.show = function(...)
  bench.shown = bench.shown + 1
  return show(...)
end
function bench.cpu()
  local usage = vim.uv.getrusage()
  return usage.utime.sec + usage.stime.sec + (usage.utime.usec + usage.stime.usec) / 1e6
end
"""


@dataclass(frozen=True)
class Followed:
    """`share`: of one processor, that Neovim had while the turn ran; `shown`: places."""

    share: float
    shown: int
    pings: Report


def line_of(row: int) -> str:
    """Functions of twenty lines: how far back Neovim looks for the beginning of one, to colour it, costs most."""
    if row % 20 == 0:
        return f"def function_{row}(argument):\n"
    return f"    value_{row} = compute({row}, 'text')  # a comment of line {row}\n"


def measure(directory: Path, what: What) -> Followed:
    """One Neovim with a screen, the chat beside the code, the cursor in the prompt."""
    script = agent_script(directory, AGENT)
    config: dict[str, Any] = {"follow": {"enabled": what == "followed"}}
    editor = ScreenEditor(directory, columns=160, rows=50, agents={"it": {"command": script.argv}}, config=config)
    try:
        for number in range(FILES):
            (editor.project / f"file{number}.py").write_text("".join(map(line_of, range(LINES))))
        editor.command("filetype plugin on | syntax on | edit file0.py")
        editor.command("AcpChat it")
        editor.wait_until('require("acp_nvim").status().state == "idle"')
        editor.lua(COUNT)
        with Ping(editor.places.socket) as ping:
            editor.lua('require("acp_nvim").prompt(...)', what)
            editor.wait_until(lambda: editor.events("AcpTurnStart"), what="the turn to begin")
            script.wait_received("session/prompt")
            before = editor.lua("return { bench.cpu(), vim.uv.hrtime() / 1e9 }")
            editor.wait_until(lambda: editor.events("AcpTurnEnd"), limit=SECONDS * 10, what="the end of the turn")
            after = editor.lua("return { bench.cpu(), vim.uv.hrtime() / 1e9, bench.shown }")
        return Followed((after[0] - before[0]) / (after[1] - before[1]), after[2], ping.report)
    finally:
        editor.close()
