"""How the editor feels while twenty sessions of three agents talk at once, one of them in a window."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping, Report
from tests.support.screen import ScreenEditor

SESSIONS = 20
QUIET_SECONDS = 1.0
AGENTS = ("anna", "bert", "carl")

TALKER = """
    def turn(agent, prompt):
        count, pause = prompt.text.split()
        lines = (f"{prompt.session_id}, line {number}: **bold** and `code`\\n" for number in range(int(count)))
        if float(pause) == 0:
            return agent.flood(prompt.session_id, lines)
        for line in lines:
            prompt.say(line)
            prompt.pause(float(pause))
"""

OPEN = """
local agent, screen = ...
local client = require("acp_nvim.sessions.client")
local session = client.session(agent, true)
if screen then
  client.show(session)
end
return session.key
"""

ALL_IDLE = """
for _, session in ipairs(require("acp_nvim.host.sessions").all()) do
  if session.status.state ~= "idle" then
    return false
  end
end
return true
"""

LINES = """
local session = require("acp_nvim.host.sessions").get(...)
local lines = vim.api.nvim_buf_get_lines(session.bufnr, 0, -1, true)
return { session.status.session_id, vim.tbl_filter(function(line) return line:find(", line ") ~= nil end, lines) }
"""


@dataclass(frozen=True)
class Sessions:
    """`seconds` from the first prompt until all turns have ended; `exact`: each chat has what its session said.

    `quiet`: pings before that, which only the machine can delay.
    """

    seconds: float
    pings: Report
    quiet: Report
    exact: bool


def talk(directory: Path, lines: int, pause: float, screen: bool) -> Sessions:
    """Let every session write so many lines, with a pause in seconds between them."""
    agents = {name: {"command": agent_script(directory, TALKER, name).argv} for name in AGENTS}
    kind = ScreenEditor if screen else HeadlessEditor
    editor = kind(directory, agents=agents)
    try:
        keys = [editor.lua(OPEN, AGENTS[number % len(AGENTS)], screen) for number in range(SESSIONS)]
        editor.wait_until(ALL_IDLE, what="all sessions to be open")
        if isinstance(editor, ScreenEditor):
            editor.terminal.look_away()  # the emulator would take a processor for itself
        with Ping(editor.places.socket) as quiet:
            time.sleep(QUIET_SECONDS)
        with Ping(editor.places.socket) as ping:
            start = time.perf_counter()
            for key in keys:
                editor.lua(
                    "require('acp_nvim.sessions.client').prompt(..., { session_id = select(2, ...) })",
                    f"{lines} {pause}",
                    key,
                )
            editor.wait_until(
                lambda: len(editor.events("AcpTurnEnd")) == SESSIONS, limit=120, what="the end of all turns"
            )
            seconds = time.perf_counter() - start
        return Sessions(
            seconds, ping.report, quiet.report, all(is_exact(*editor.lua(LINES, key), lines) for key in keys)
        )
    finally:
        editor.close()


def is_exact(session_id: str, shown: list[str], lines: int) -> bool:
    """Whether these are the lines of that session, all of them, in order."""
    return shown == [f"{session_id}, line {number}: **bold** and `code`" for number in range(lines)]
