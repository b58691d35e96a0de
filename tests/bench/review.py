"""How the review feels in a file of 20,000 lines with 200 hunks, on a real screen; the floor has no hunks."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.screen import ScreenEditor

LINES = 20_000
HUNKS = 200
EVERY = LINES // HUNKS
JUMPS = 400
KEYS = 300
LIMIT = 30.0

# Each figure ends when all is on the screen that will be, the colours of old lines too.
PREPARE = """
local path, language = ...
vim.cmd.edit(vim.fn.fnameescape(path))
local sent = require("acp_nvim.host")
sent.send = function() return true end
sent.channel = function() return 1 end
require("acp_nvim.events") -- the host has told something long before it tells of a review
_G.bench = { done = 0 }
local function milliseconds(from)
  return (vim.uv.hrtime() - from) / 1e6
end
---Runs, draws, waits for what was put off, draws again; the times until each of them.
function bench.time(run, told)
  local from = vim.uv.hrtime()
  run()
  local ran = milliseconds(from)
  vim.cmd.redraw()
  local first = milliseconds(from)
  vim.schedule(function()
    vim.schedule(function()
      vim.cmd.redraw()
      told(ran, first, milliseconds(from))
    end)
  end)
end
function bench.show(event)
  event.state = require("acp_nvim.buffers.text").state(vim.api.nvim_get_current_buf())
  bench.shown = nil
  bench.time(function()
    require("acp_nvim.events").apply({ event })
  end, function(_, first, all)
    bench.shown = { first, all }
  end)
end
function bench.run(count, step)
  local times = { ran = {}, first = {}, all = {} }
  bench.times = nil
  local function once()
    if #times.first == count then
      bench.times = times
      return
    end
    bench.time(step, function(ran, first, all)
      table.insert(times.ran, ran)
      table.insert(times.first, first)
      table.insert(times.all, all)
      vim.schedule(once)
    end)
  end
  once()
end
function bench.cpu()
  local usage = vim.uv.getrusage()
  return (usage.utime.sec + usage.stime.sec) * 1e3 + (usage.utime.usec + usage.stime.usec) / 1e3
end
"""
SHOW = "vim.fn.cursor(150, 1) vim.cmd('normal! zz') vim.cmd.redraw() bench.show(...)"
JUMP = "vim.fn.cursor(1, 1) bench.run(..., function() require('acp_nvim.review.files.open').step(false) end)"
PLAIN_JUMP = f"""
vim.fn.cursor(1, 1)
bench.run(..., function()
  local line = vim.fn.line(".") + {EVERY}
  vim.api.nvim_win_set_cursor(0, {{ line > {LINES} and 50 or line, 0 }})
  vim.cmd("normal! zvzz")
end)
"""


@dataclass(frozen=True)
class Typed:
    """Milliseconds for each key: until the cursor on the screen has moved (median), and of Neovim's processor time."""

    latency: float
    cpu: float


@dataclass(frozen=True)
class Jumps:
    """Milliseconds, medians: of the command, until it is drawn, until all of it is drawn."""

    ran: float
    drawn: float
    all: float


@dataclass(frozen=True)
class Felt:
    """Milliseconds. `shown`, `shown_all`: the event until it is drawn, until all its colours are."""

    shown: float
    shown_all: float
    jumps: Jumps
    typed: Typed


def line_of(row: int, language: str) -> str:
    """Return a line of code."""
    if language == "lua":
        return f'local value_{row} = compute(value_{row - 1}, "text {row}") -- a comment of the line {row}'
    return f'value_{row} = compute(value_{row - 1}, "text {row}")  # a comment of the line {row}'


def event(path: Path, language: str) -> dict[str, Any]:
    """What the host tells: changed, added and deleted lines in turns."""
    hunks = []
    for number in range(HUNKS):
        row = number * EVERY + 50
        old = [line_of(row + offset, language).replace("compute", "calculate") for offset in range(3)]
        kinds: list[dict[str, Any]] = [{"count": 3, "old": old}, {"count": 2, "old": []}, {"count": 0, "old": old}]
        hunks.append({"id": number + 1, "first": row, "by": "agent", **kinds[number % 3]})
    told = {"path": str(path), "operation": "modify", "sessions": [1], "added": 335, "removed": 399}
    return {"type": "review", **told, "hunks": hunks}


def typed(editor: ScreenEditor) -> Typed:
    """Types in the middle of the screen, beside a hunk, a key at a time."""
    editor.lua("vim.fn.cursor(50 + 99, 1) vim.cmd('normal! zz')")
    editor.type("O")
    editor.wait_until("vim.api.nvim_get_mode().mode == 'i'")
    waits = []
    before = editor.lua("return bench.cpu()")
    for _ in range(KEYS):
        was, start = editor.cursor(), time.perf_counter()
        editor.type("x" if was[1] < 80 else "\r")
        while editor.cursor() == was:
            if time.perf_counter() - start > LIMIT:
                raise AssertionError("the key is not on the screen")
        waits.append((time.perf_counter() - start) * 1000)
    cpu = (editor.lua("return bench.cpu()") - before) / KEYS
    editor.type("\x1b")
    return Typed(statistics.median(waits), cpu)


def jumps(editor: ScreenEditor, code: str) -> Jumps:
    """Jump from hunk to hunk, or as far without hunks."""
    editor.lua(code, JUMPS)
    times = editor.wait_until("bench.times", 120, "the jumps")
    return Jumps(*(statistics.median(times[which]) for which in ("ran", "first", "all")))


def measure(directory: Path, language: str, with_review: bool) -> Felt:
    """One Neovim. Lua has its colours by tree-sitter, Python by 'syntax'."""
    editor = ScreenEditor(directory, columns=120, rows=50)
    try:
        path = editor.project / f"file.{'lua' if language == 'lua' else 'py'}"
        path.write_text("".join(f"{line_of(row, language)}\n" for row in range(LINES)))
        editor.lua(PREPARE, str(path), language)
        if with_review:
            editor.lua(SHOW, event(path, language))
            shown, shown_all = editor.wait_until("bench.shown", what="the review")
        else:
            shown = shown_all = 0.0
        return Felt(shown, shown_all, jumps(editor, JUMP if with_review else PLAIN_JUMP), typed(editor))
    finally:
        editor.close()
