"""What a command that floods its terminal costs: `yes`, 200 MB of it, of which an agent wants to keep 1 MiB."""

from __future__ import annotations

import os
import pty
import resource
import subprocess
import time
import tty
from dataclasses import dataclass
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping, Report

MEGABYTES = 200
LIMIT = 300.0
LINE = f"yes | head -c {MEGABYTES}M"
KEPT = 1024 * 1024
TICKS = os.sysconf("SC_CLK_TCK")
RUNS = f"""
    def turn(agent, prompt):
        terminal = prompt.terminal("while [ ! -e go ]; do sleep 0.01; done; {LINE}", outputByteLimit={KEPT})
        shown = [dict(type="terminal", terminalId=terminal)]
        prompt.tool("c", "Flood", kind="execute", status="in_progress", content=shown)
        prompt.ask_terminal("wait_for_exit", terminal)
        got = prompt.ask_terminal("output", terminal)
        agent.note(kept=len(got["output"]), truncated=got["truncated"])
        prompt.ask_terminal("release", terminal)
        prompt.tool_update("c", status="completed")
"""
OPEN = """
local session = require("acp_nvim.host.sessions").last_used()
require("acp_nvim.terminals").open(session, { terminal = 1, words = "flood" })
"""
FIRST_OPEN = """
for _, number in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[number].filetype == "acp_terminal" then return vim.api.nvim_buf_line_count(number) end
end
"""


@dataclass(frozen=True)
class Memory:
    """Resident memory, in MB."""

    before: float
    peak: float
    after: float


@dataclass(frozen=True)
class Flood:
    """From the start of the output until the agent has heard of its end; seconds, of processors too."""

    seconds: float
    host_cpu: float
    nvim_cpu: float
    host: Memory
    nvim: Memory
    pings: Report
    lines: int
    """Of the terminal buffer, at the end; 0: none was open."""


@dataclass(frozen=True)
class Floor:
    """A Python loop that reads the same bytes from a terminal and keeps none, with `pings` of a Neovim meanwhile."""

    seconds: float
    cpu: float
    pings: Report


def floor(directory: Path) -> Floor:
    """Read them, beside a Neovim with an agent that waits."""
    script = agent_script(directory, RUNS)
    editor = HeadlessEditor(directory, agents={"flooder": {"command": script.argv}})
    try:
        editor.command("AcpChat flooder")
        editor.wait_until('require("acp_nvim").status().state == "idle"')
        with Ping(editor.places.socket) as ping:
            seconds, cpu = _read_all()
        return Floor(seconds, cpu, ping.report)
    finally:
        editor.close()


def _read_all() -> tuple[float, float]:
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    start, before = time.perf_counter(), time.process_time()
    process = subprocess.Popen(["sh", "-c", LINE], stdout=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    size = 0
    try:
        while data := os.read(ours, 65536):
            size += len(data)
    except OSError:  # EIO: the terminal has ended
        pass
    os.close(ours)
    process.wait()
    assert size == MEGABYTES * 2**20
    return time.perf_counter() - start, time.process_time() - before


def flood(directory: Path, opened: bool) -> Flood:
    """Measure output with the terminal buffer open, or only the chat."""
    script = agent_script(directory, RUNS)
    config = {"permissions": {"terminal": "allow"}}
    editor = HeadlessEditor(directory, agents={"flooder": {"command": script.argv}}, config=config)
    try:
        editor.command("AcpChat flooder")
        editor.wait_until('require("acp_nvim").status().state == "idle"')
        editor.lua('require("acp_nvim").prompt("go")')
        editor.wait_until(lambda: "$ while" in editor.chat_text(), what="the terminal in the chat")
        if opened:
            editor.lua(OPEN)
        return _measured(editor, script.notes, opened)
    finally:
        editor.close()


def _measured(editor: HeadlessEditor, notes: object, opened: bool) -> Flood:
    host = editor.host()
    assert host is not None
    pids = (host.pid, editor.pid)
    before, used = [_resident(pid) for pid in pids], [_cpu(pid) for pid in pids]
    for pid in pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak is counted from now on
    with Ping(editor.places.socket) as ping:
        start = time.perf_counter()
        (editor.project / "go").touch()
        editor.wait_until(lambda: editor.events("AcpTurnEnd"), limit=LIMIT, what="the end of the turn")
        seconds = time.perf_counter() - start
    cpu = [_cpu(pid) - was for pid, was in zip(pids, used, strict=True)]
    memory = [Memory(was, _peak(pid), _resident(pid)) for pid, was in zip(pids, before, strict=True)]
    assert notes("kept") == [KEPT], "the agent got another end of the output"  # type: ignore[operator]
    lines = int(editor.lua(FIRST_OPEN)) if opened else 0
    return Flood(seconds, cpu[0], cpu[1], memory[0], memory[1], ping.report, lines)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize() / 1e6


def _peak(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise AssertionError("no VmHWM")
