"""What an agent waits for when it reads and writes a modified buffer; the floor is plain Lua that checks nothing."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping, Report, report_of
from tests.support.waiting import wait_until

FLOOR = Path(__file__).with_name("floor")
LINES = 10_000
READS = 500
PART_LINES = 50
PARTS = 500
WRITES = 200
EDITS = 100
MARKED = range(0, LINES, LINES // 100)
"""Rows with an extmark."""
FOLDED = range(245, LINES, LINES // 20)
"""First rows of folds."""
FOLD_ROWS = 10
MARK_COLUMN = 6
USERS_ROW = 5_001
LIMIT = 300.0

# The user's side: the buffer, its marks and folds, and what the agent asks for between two reads.
PREPARE = """
local path, marked, column, folded, fold_rows, users_row = ...
vim.cmd.edit(vim.fn.fnameescape(path))
_G.bench = { buf = vim.api.nvim_get_current_buf(), win = vim.api.nvim_get_current_win(), edits = 0 }
bench.ns = vim.api.nvim_create_namespace("bench")
vim.wo.foldmethod = "manual"
for _, row in ipairs(marked) do
  vim.api.nvim_buf_set_extmark(bench.buf, bench.ns, row, column, {})
end
for _, row in ipairs(folded) do
  vim.cmd(("%d,%dfold"):format(row + 1, row + fold_rows))
end
function _G.bench_edit()
  bench.edits = bench.edits + 1
  vim.api.nvim_buf_set_text(bench.buf, users_row, 0, users_row, 5, { ("%05d"):format(99999 - bench.edits) })
end
bench_edit()
"""
LOOK = """
local marks = vim.tbl_map(function(mark)
  return { mark[2], mark[3] }
end, vim.api.nvim_buf_get_extmarks(bench.buf, bench.ns, 0, -1, {}))
local folds = vim.api.nvim_win_call(bench.win, function()
  vim.cmd("normal! zM") -- where the agent is followed to, a fold is open
  local found, line = {}, 1
  while line <= vim.api.nvim_buf_line_count(bench.buf) do
    local last = vim.fn.foldclosedend(line)
    if last > 0 then
      found[#found + 1] = { line - 1, last - line + 1 }
    end
    line = math.max(line, last) + 1
  end
  return found
end)
return { marks = marks, folds = folds, lines = vim.api.nvim_buf_get_lines(bench.buf, 0, -1, true) }
"""


@dataclass(frozen=True)
class Served:
    """Milliseconds of each call; `pings` if they were asked for.

    `parts` are reads of `PART_LINES` lines, `edits` are reads right after an edit of the user.
    """

    reads: list[float]
    parts: list[float]
    writes: list[float]
    edits: list[float]
    pings: Report | None


@dataclass(frozen=True)
class Compared:
    """One kind of calls. Milliseconds of all of them (median of the rounds), and of one call; ours over the floor's."""

    ours: float
    floor: float
    ours_each: Report
    floor_each: Report

    @property
    def ratio(self) -> float:
        """How many times as long as the floor it takes."""
        return self.ours / self.floor


def part_rows() -> list[int]:
    """First rows of the parts that the agent reads: anywhere, but not where the user's own row is the first."""
    return [number * 7_919 % (LINES - PART_LINES) // PART_LINES * PART_LINES for number in range(PARTS)]


def rows() -> list[int]:
    """What the agent writes to: anywhere, every fourth time to a row with a mark; never the user's own."""
    return [(MARKED[number // 2 % 100] if number % 4 == 0 else number * 4_813 % LINES) for number in range(WRITES)]


class Round:
    """One Neovim, one agent, one turn; everything is checked at its end."""

    def __init__(self, directory: Path, with_pings: bool) -> None:
        self._directory = directory
        self._with_pings = with_pings
        self._times = directory / "times.json"
        self._job = directory / "job.json"
        self.argv = [sys.executable, "-S", "-E", str(FLOOR / "agent.py"), str(self._job)]

    def run(self, editor: HeadlessEditor) -> Served:
        """Run one round, up to closing the editor."""
        path = editor.project / "file.txt"
        path.write_text("".join(f"{row:05d} a line of about forty letters, v000\n" for row in range(LINES)))
        where = [str(path), list(MARKED), MARK_COLUMN, list(FOLDED), FOLD_ROWS, USERS_ROW]
        editor.lua(PREPARE, *where)
        job = {"path": str(path), "reads": READS, "rows": rows(), "edits": EDITS}
        job |= {"parts": part_rows(), "part_lines": PART_LINES}
        job |= {"editor": str(editor.places.socket), "times": str(self._times)}
        self._job.write_text(json.dumps(job))
        self._open(editor)
        if self._with_pings:
            with Ping(editor.places.socket) as ping:
                self._turn(editor)
            pings = ping.report
        else:
            self._turn(editor)
            pings = None
        found = json.loads(self._times.read_text())
        assert "failed" not in found, found["failed"]
        self._check(editor.lua(LOOK), found, path.read_text())
        return Served(found["reads"], found["parts"], found["writes"], found["edits"], pings)

    def _open(self, editor: HeadlessEditor) -> None:
        raise NotImplementedError

    def _turn(self, editor: HeadlessEditor) -> None:
        self._prompt(editor)
        # not by asking Neovim, which is being measured
        wait_until(self._times.exists, LIMIT, "the agent's times", editor.describe)

    def _prompt(self, editor: HeadlessEditor) -> None:
        raise NotImplementedError

    def _check(self, looked: dict[str, Any], found: dict[str, Any], on_disk: str) -> None:
        """Nothing is where it was not, all that was written is there, and so are the user's edits."""
        assert looked["marks"] == [[row, MARK_COLUMN] for row in MARKED], "extmarks have moved"
        assert looked["folds"] == [[row, FOLD_ROWS] for row in FOLDED], "folds have moved"
        assert len(found["reads"]) == READS
        assert found["before"].split("\n")[USERS_ROW].startswith("99998"), "the agent read what is on disk"
        assert on_disk == found["after"] != found["before"], "the file is not what the agent wrote"
        expected = found["after"].removesuffix("\n").split("\n")
        expected[USERS_ROW] = f"{99998 - EDITS:05d}{expected[USERS_ROW][5:]}"
        assert looked["lines"] == expected, "the buffer is not what agent and user wrote"


class OurRound(Round):
    """A round with the plugin."""

    def _open(self, editor: HeadlessEditor) -> None:
        editor.command("AcpChat bench")
        editor.wait_until('require("acp_nvim").status().state == "idle"')

    def _prompt(self, editor: HeadlessEditor) -> None:
        editor.lua('require("acp_nvim").prompt("work")')


class FloorRound(Round):
    """A round with plain Lua."""

    def _open(self, editor: HeadlessEditor) -> None:
        editor.lua("bench.floor = dofile(...)", str(FLOOR / "floor.lua"))
        editor.lua("bench.floor.start(...)", self.argv, str(editor.project))
        editor.wait_until("bench.floor.ready")

    def _prompt(self, editor: HeadlessEditor) -> None:
        editor.lua("bench.floor.prompt()")


def ours(directory: Path, with_pings: bool = False) -> Served:
    """Measure the plugin."""
    measured = OurRound(directory, with_pings)
    editor = HeadlessEditor(directory, agents={"bench": {"command": measured.argv}})
    try:
        return measured.run(editor)
    finally:
        editor.close()


def floor(directory: Path, with_pings: bool = False) -> Served:
    """Measure plain Lua."""
    editor = HeadlessEditor(directory, plugin=False)
    try:
        return FloorRound(directory, with_pings).run(editor)
    finally:
        editor.close()


def compare(ours_all: Sequence[list[float]], floor_all: Sequence[list[float]]) -> Compared:
    """The rounds of both for one kind of calls."""
    return Compared(
        statistics.median(map(sum, ours_all)),
        statistics.median(map(sum, floor_all)),
        report_of([one for calls in ours_all for one in calls]),
        report_of([one for calls in floor_all for one in calls]),
    )
