"""How long a person waits for the first prompt, and what the plugin costs those who never use it."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT
from tests.support.screen import ScreenEditor

TIMED_LOAD = """
local start = vim.uv.hrtime()
vim.cmd("source " .. vim.fn.fnameescape(...))
return (vim.uv.hrtime() - start) / 1e6
"""

FLOOR = Path(__file__).parent / "floor" / "floor.lua"
AGENT = Path(__file__).parent / "floor" / "agent.py"
KEY_SECONDS = 0.1
"""Between two keys of a person who types a command."""
COMMAND = "AcpChat quick"

MOMENTS = """
_G.moments = {}
local function at(name)
  return function()
    _G.moments[name] = _G.moments[name] or vim.uv.hrtime() / 1e9
  end
end
vim.api.nvim_create_autocmd("User", { pattern = "AcpSessionReady", callback = at("ready") })
vim.api.nvim_create_autocmd("TextChangedI", { callback = function()
  if vim.bo.filetype == "acp_prompt" then
    at("typed")()
  end
end })
vim.keymap.set("n", "gz", "<Cmd>AcpChat quick<CR>")
"""
BLOCKED = """
local begun, used = vim.uv.hrtime(), os.clock()
vim.cmd(...)
vim.cmd.redraw()
return { (vim.uv.hrtime() - begun) / 1e6, (os.clock() - used) * 1000 }
"""
GAPS = """
local last, timer = vim.uv.hrtime(), assert(vim.uv.new_timer())
_G.longest = 0
timer:start(1, 1, function()
  local now = vim.uv.hrtime()
  _G.longest = math.max(_G.longest, (now - last) / 1e6 - 1)
  last = now
end)
"""
STARTED = """
local file, argv, cwd = ...
local floor, begun = dofile(file), vim.uv.hrtime()
floor.start(argv, cwd)
vim.wait(10000, function() return floor.ready end, 1)
return (vim.uv.hrtime() - begun) / 1e6
"""

IMPORTED = """
import gc, os, sys, time
gc.disable()
spent = [time.process_time()]
import pynvim
import anyio._backends._asyncio, msgspec
spent.append(time.process_time())
sys.path.insert(0, sys.argv[1])
import acp_nvim.plugin, acp_nvim.app, acp_nvim.neovim.rpc
spent.append(time.process_time())
print(*spent, flush=True)
os._exit(0)
"""


@dataclass(frozen=True)
class Felt:
    """Milliseconds, from the key that runs the first command: until a text is typed into the prompt, until ready.

    `longest`: the longest time in which Neovim did nothing else, after the command until it is ready.
    """

    typed: float
    ready: float
    longest: float


@contextmanager
def _screen(
    directory: Path, plugin: bool = True, python: str = sys.executable
) -> Iterator[tuple[ScreenEditor, list[str]]]:
    """A Neovim with a screen that nobody looks at, and the command of an agent that answers at once."""
    job = directory / "job.json"
    job.write_text("{}", encoding="utf-8")
    argv = [sys.executable, "-S", "-E", str(AGENT), str(job)]
    given: dict[str, Any] = {"agents": {"quick": {"command": argv}}, "config": {"python": python}}
    editor = ScreenEditor(directory, **(given if plugin else {"plugin": False}))
    try:
        editor.terminal.look_away()
        yield editor, argv
    finally:
        editor.close()


def blocked(directory: Path) -> tuple[float, float]:
    """Milliseconds in which the first `:AcpChat` and its redraw let Neovim do nothing else, and of processor time."""
    with _screen(directory) as (editor, _):
        took, used = editor.lua(BLOCKED, COMMAND)
        return took, used


def floor(directory: Path) -> float:
    """Milliseconds in which plain Lua in Neovim starts the agent and its session, without a screen to draw."""
    with _screen(directory, plugin=False) as (editor, argv):
        return float(editor.lua(STARTED, str(FLOOR), argv, str(editor.project)))


def felt(directory: Path, by_hand: bool, python: str = sys.executable) -> Felt:
    """The first command: typed by a person, or mapped to keys; then a text typed at once into the prompt."""
    with _screen(directory, python=python) as (editor, _):
        editor.lua(MOMENTS)
        for key in f":{COMMAND}" if by_hand else "g":
            editor.type(key)
            time.sleep(KEY_SECONDS)
        begun = time.monotonic()
        editor.type("\rix" if by_hand else "zix")
        editor.wait_until("_G.moments.typed ~= nil")
        editor.lua(GAPS)
        editor.wait_until("_G.moments.ready ~= nil")
        moments, longest = editor.lua("return { _G.moments, _G.longest }")
        typed, ready = ((moments[name] - begun) * 1000 for name in ("typed", "ready"))
        return Felt(typed, ready, longest)


def imported() -> list[float]:
    """Milliseconds of processor time: of Python's own start, of importing the libraries, of importing our modules.

    The host needs all three before it can open a session, so their sum is a lower bound when nothing announces it.
    """
    command = [sys.executable, "-P", "-E", "-c", IMPORTED, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    begun, libraries, ours = (float(seconds) * 1000 for seconds in done.stdout.split())
    return [begun, libraries - begun, ours - libraries]


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
