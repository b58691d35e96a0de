"""What an idle session takes of the host's memory, and a long transcript of Neovim's."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.chat import texts
from tests.bench.chat.stage import Ours, Stage, Who, at_once, cpu, stage

LINES = 90_000
LOOK_AT = """
vim.api.nvim_win_set_cursor(vim.fn.win_findbuf(probe.bufnr)[1], { ..., 0 })
"""
"""A row; the screen is drawn when the request was answered."""
PAGE = 40
AFTER_START_SECONDS = 10
IDLE_SECONDS = 60


@dataclass(frozen=True)
class Memory:
    """MB of the host with one idle session; bytes of Neovim for a byte of text: when it came, and when all was seen."""

    host: float
    came: float
    seen: float


@dataclass(frozen=True)
class Idle:
    """Milliseconds of processors in `IDLE_SECONDS` in which nothing happens, after all that a start puts off."""

    host: float
    editor: float


def resident(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize()


def resident_now(on: Stage) -> int:
    """Return the resident memory of Neovim after a garbage collection."""
    on.editor.lua("collectgarbage() collectgarbage()")
    on.rest()
    return resident(on.pid)


def measure(directory: Path, who: Who) -> Memory:
    """One turn of 100,000 chunks; then every page is on the screen once."""
    with stage(directory, who, {"go": [at_once(texts.filling(LINES))]}) as on:
        on.rest()
        pid = on.host_pid() if isinstance(on, Ours) else None
        host = resident(pid) / 1e6 if pid else 0.0
        before = resident_now(on)
        on.play("go")
        size = len(texts.markdown(LINES))
        came = (resident_now(on) - before) / size
        for row in range(1, LINES, PAGE):
            on.editor.lua(LOOK_AT, row)
        return Memory(host, came, (resident_now(on) - before) / size)


def idle(directory: Path) -> Idle:
    """One session that has nothing to do, with a screen."""
    with stage(directory, "ours", {"go": [at_once(texts.filling(10))]}) as on:
        assert isinstance(on, Ours)
        on.play("go")
        time.sleep(AFTER_START_SECONDS)
        before = on.host_cpu(), cpu(on.pid)
        time.sleep(IDLE_SECONDS)
        return Idle((on.host_cpu() - before[0]) * 1000, (cpu(on.pid) - before[1]) * 1000)
