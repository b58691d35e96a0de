"""Where a scenario is played: the chat, or its floor, in the same layout, with the same agent and the same probe."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.support.editor import Editor, HeadlessEditor
from tests.support.ping import Ping, Report, report_of
from tests.support.screen import ScreenEditor
from tests.support.waiting import wait_until

HERE = Path(__file__).parent
FLOOR = HERE.parent / "floor" / "chat.lua"
COLUMNS, ROWS, WIDTH, PROMPT_HEIGHT = 160, 50, 70, 6
LIMIT = 60.0
STILL_SECONDS = 0.1
STILL_SHARE = 0.02
BEFORE, AFTER = 0.01, 0.1
"""Seconds around a turn in which stalls count."""

NO_RECORD = 'vim.api.nvim_clear_autocmds({ event = "User", pattern = "Acp*" })'
"""Ends the tests' own record of all that is told, which costs as much as to show it."""

Who = Literal["ours", "floor"]
WHO: tuple[Who, Who] = ("ours", "floor")
Step = dict[str, Any]
Turns = dict[str, list[tuple[bytes, Step]]]


def at_once(data: bytes) -> tuple[bytes, Step]:
    """A step: all of it without a pause."""
    return data, {}


def paced(data: bytes, lines: int, every: float) -> tuple[bytes, Step]:
    """A step: so many lines every so many seconds."""
    return data, {"lines": lines, "every": every}


def cpu(pid: int) -> float:
    """Seconds of processors that a process has used, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


@dataclass(frozen=True)
class Played:
    """A turn. Times are of the monotonic clock; `seen`: when the text with that number was in the buffer.

    Processors in seconds, from before the prompt until Neovim has come to rest.
    """

    begun: float
    times: list[float]
    seen: list[tuple[float, int]]
    cpu: float
    host_cpu: float = field(default=0.0)

    @property
    def seconds(self) -> float:
        """From the agent's first byte until the last text is in the buffer."""
        return self.seen[-1][0] - self.begun


@dataclass(frozen=True)
class Stalls:
    """Milliseconds: of requests from outside every 5 ms, and between two calls of a timer of 1 ms inside."""

    pings: Report
    gaps: Report


@dataclass
class Measured:
    """Stalls when each began, with their milliseconds, and the time in which they count."""

    begun: float = 0.0
    ended: float = 0.0
    pings: list[tuple[float, float]] = field(default_factory=list)
    gaps: list[tuple[float, float]] = field(default_factory=list)

    def found(self) -> Stalls:
        """Return the stalls that began in that time, or right around it."""
        begun, ended = self.begun - BEFORE, self.ended + AFTER
        both = [[wait for at, wait in waits if begun <= at <= ended] for waits in (self.pings, self.gaps)]
        return Stalls(*map(report_of, both))


class Stage:
    """One Neovim with one agent; `play` is a turn."""

    def __init__(self, editor: Editor, log: Path) -> None:
        self.editor = editor
        self.pid = editor.pid
        self._log = log

    def open(self) -> None:
        """Make ready for the first turn."""
        raise NotImplementedError

    def say(self, turn: str) -> None:
        """Send a prompt."""
        raise NotImplementedError

    def host_cpu(self) -> float:
        """The processor time of the process beside Neovim, if there is one."""
        return 0.0

    def text(self) -> str:
        """Return the text of the buffer."""
        return "\n".join(self.editor.lua("return vim.api.nvim_buf_get_lines(probe.bufnr, 0, -1, true)"))

    def play(
        self, turn: str, *, rest: bool = True, start: Callable[[], None] | None = None, ended: str = "probe.ended"
    ) -> Played:
        """The whole of a turn, until nothing moves any more; without `rest` until its last text is there."""
        self._log.unlink(missing_ok=True)
        self.editor.lua("probe.begin()")
        if rest:
            self.rest()
        before, host_before = cpu(self.pid), self.host_cpu()
        (start or (lambda: self.say(turn)))()
        told = self.log()
        self.editor.wait_until(ended, LIMIT, what="the end of the turn")
        if rest:
            self.rest()
        seen = [(one[0], int(one[1])) for one in self.editor.lua("return probe.seen")]
        used, host_used = cpu(self.pid) - before, self.host_cpu() - host_before
        return Played(told["begun"], told["times"], seen, used, host_used)

    def log(self) -> dict[str, Any]:
        """What the agent says of the turn, when it has said all."""
        wait_until(self._log.exists, LIMIT, "the agent to have said all", self.editor.describe)
        told: dict[str, Any] = json.loads(self._log.read_text(encoding="utf-8"))
        return told

    def felt(self, turn: str) -> Stalls:
        """A turn with both measures of stalls, which cost Neovim some work themselves."""
        self.rest()
        with self.measured() as stalls:
            played = self.play(turn, rest=False)
            stalls.begun, stalls.ended = played.begun, played.seen[-1][0]
        return stalls.found()

    @contextmanager
    def measured(self) -> Iterator[Measured]:
        """Both measures; whoever asks for them says from when until when they count."""
        measured = Measured()
        self.editor.lua("probe.count_gaps()")
        with Ping(self.editor.places.socket) as ping:
            yield measured
            wait_until(lambda: time.monotonic() > measured.ended + AFTER, what="the moment after it")
        measured.pings = ping.waits
        measured.gaps = [(one[0], one[1]) for one in self.editor.lua("return probe.stop_gaps()")]

    def rest(self) -> None:
        """Wait until Neovim does nothing: what is put off belongs to what it costs."""
        resting(self.pid)


class Ours(Stage):
    """The chat of the plugin."""

    def open(self) -> None:
        self.editor.command("AcpChat it")
        self.editor.wait_until('require("acp_nvim").status().state == "idle"')
        self.editor.lua('probe.watch(require("acp_nvim.host.sessions").last_used().bufnr)')
        self.editor.lua(NO_RECORD)
        self.editor.command("autocmd User AcpTurnEnd lua probe.ended = true")

    def say(self, turn: str) -> None:
        self.editor.lua('require("acp_nvim").prompt(...)', turn)

    def host_pid(self) -> int | None:
        """The process id of the host, once it runs."""
        host = self.editor.host()
        return host and host.pid

    def host_cpu(self) -> float:
        pid = self.host_pid()
        return cpu(pid) if pid else 0.0


class Floor(Stage):
    """A chat of plain Lua, to compare with."""

    argv: list[str]

    def open(self) -> None:
        self.editor.lua("dofile(...)", str(FLOOR))
        self.editor.lua("floor.start(...)", self.argv, str(self.editor.project))
        self.editor.lua("floor.open(...)", WIDTH, PROMPT_HEIGHT)
        self.editor.lua("probe.watch(floor.bufnr)")
        self.editor.wait_until("floor.ready")

    def say(self, turn: str) -> None:
        self.editor.lua("floor.prompt(...)", turn)


def resting(*pids: int, limit: float = 20) -> None:
    """Wait until these processes do nothing."""

    def used() -> float:
        return sum(map(cpu, pids))

    since = [(time.monotonic(), used())]

    def still() -> bool:
        now = time.monotonic()
        if now - since[0][0] < STILL_SECONDS:
            return False
        before, since[0] = since[0], (now, used())
        return since[0][1] - before[1] < STILL_SECONDS * STILL_SHARE

    wait_until(still, limit, "the processes to rest")


def make_agent(directory: Path, turns: Turns) -> tuple[list[str], Path]:
    """The command of an agent that plays these turns, and the file in which it says when one was written."""
    job: dict[str, Any] = {"log": str(directory / "log.json"), "turns": {}}
    for name, steps in turns.items():
        told = job["turns"][name] = []
        for number, (data, step) in enumerate(steps):
            file = directory / f"{name}-{number}.jsonl"
            file.write_bytes(data)
            told.append({"file": str(file), **step})
    path = directory / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    return [sys.executable, "-S", "-E", str(HERE / "agent.py"), str(path)], directory / "log.json"


@contextmanager
def stage(directory: Path, who: Who, turns: Turns, screen: bool = True, opened: bool = True) -> Iterator[Stage]:
    """A Neovim with a screen (nobody looks at it) or without one."""
    argv, log = make_agent(directory, turns)
    size: dict[str, Any] = {"columns": COLUMNS, "rows": ROWS} if screen else {}
    ui = {"position": "right", "width": WIDTH, "prompt_height": PROMPT_HEIGHT}
    given = {"agents": {"it": {"command": argv}}, "config": {"ui": ui}} if who == "ours" else {"plugin": False}
    editor = (ScreenEditor if screen else HeadlessEditor)(directory, **size, **given)
    try:
        if isinstance(editor, ScreenEditor):
            editor.terminal.look_away()  # the emulator would take a processor for itself
        editor.lua("dofile(...)", str(HERE / "probe.lua"))
        on_it = (Ours if who == "ours" else Floor)(editor, log)
        if isinstance(on_it, Floor):
            on_it.argv = argv
        if opened:
            on_it.open()
        yield on_it
    finally:
        editor.close()


def ratio(ours: list[float], floor: list[float]) -> tuple[float, float, float]:
    """The medians, and how many times the floor ours is."""
    mine, least = statistics.median(ours), statistics.median(floor)
    return mine, least, mine / least
