"""How long a person waits for the first prompt, and what the plugin costs those who never use it."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT

TIMED_LOAD = """
local start = vim.uv.hrtime()
vim.cmd("source " .. vim.fn.fnameescape(...))
return (vim.uv.hrtime() - start) / 1e6
"""


@dataclass(frozen=True)
class FirstCommand:
    """Milliseconds: from `:AcpChat` to `idle`, of which the agent alone takes `agent`."""

    total: float
    agent: float

    @property
    def ours(self) -> float:
        """What we add."""
        return self.total - self.agent


def agent_alone(script: AgentScript, cwd: Path) -> float:
    """Milliseconds from spawning the agent to its answer to `session/new`."""
    start = time.perf_counter()
    with subprocess.Popen(script.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, method in enumerate(("initialize", "session/new")):
            params = {"protocolVersion": 1, "cwd": str(cwd), "mcpServers": []}
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
        return (time.perf_counter() - start) * 1000


def first_command(directory: Path) -> FirstCommand:
    """The first `:AcpChat` of a Neovim, with an agent that answers at once."""
    script = agent_script(directory, "")
    alone = agent_alone(script, directory)
    editor = HeadlessEditor(directory, agents={"quick": {"command": script.argv}})
    try:
        editor.lua(
            """
            vim.api.nvim_create_autocmd("User", { pattern = "AcpSessionReady", callback = function()
              _G.ready = vim.uv.hrtime()
            end })
            _G.begun = vim.uv.hrtime()
            vim.cmd("AcpChat quick")
            """
        )
        editor.wait_until("_G.ready ~= nil")
        return FirstCommand(editor.lua("return (_G.ready - _G.begun) / 1e6"), alone)
    finally:
        editor.close()


def plugin_load(rounds: int = 15) -> float:
    """Milliseconds to source `plugin/acp_nvim.lua` in a fresh Neovim; the median."""
    file = str(ROOT / "plugin" / "acp_nvim.lua")
    code = f"io.write(tostring((function(...) {TIMED_LOAD} end)('{file}')))"
    figures = []
    for _ in range(rounds):
        command = [find_nvim(), "--clean", "--headless", "--cmd", f"set rtp^={ROOT}", "--noplugin", "-c", f"lua {code}"]
        done = subprocess.run([*command, "-c", "qa!"], capture_output=True, text=True, check=True)
        figures.append(float(done.stdout or done.stderr))
    return statistics.median(figures)
