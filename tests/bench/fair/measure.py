"""One flood: what the turns of another agent, the editor and the memory notice of it."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.chat import texts
from tests.bench.chat.memory import resident
from tests.bench.chat.stage import COLUMNS, ROWS, WIDTH, at_once, make_agent, paced, resting
from tests.support.editor import Editor
from tests.support.ping import Ping
from tests.support.screen import ScreenEditor
from tests.support.two_sessions import OPEN, PROMPT, STATE

CHUNKS = 20
EVERY = 0.01
TURNS = 3
"""Turns of the second agent that begin while the flood goes on, at least."""
LIMIT = 120.0
MEMORY_SECONDS = 0.02

WATCH = """
vim.api.nvim_clear_autocmds({ event = "User", pattern = "Acp*" })
_G.ended = {}
vim.api.nvim_create_autocmd("User", { pattern = "AcpTurnEnd", callback = function(event)
  local key = tostring(event.data.session)
  _G.ended[key] = (_G.ended[key] or 0) + 1
end })
"""


@dataclass(frozen=True)
class Fair:
    """`turns`: seconds of the second agent's; `wait`: the editor's longest, in milliseconds; `quiet`: before the flood.

    Memory in MB, of the host and of Neovim together: how much it grew at most, and how much of that stayed.
    """

    turns: list[float]
    wait: float
    quiet: float
    peak: float
    kept: float

    @property
    def slowest(self) -> float:
        """The seconds of the slowest turn."""
        return max(self.turns)

    @property
    def turn(self) -> float:
        """The median of the turns, in seconds."""
        return statistics.median(self.turns)


class _Memory:
    """Looks at the memory of some processes all the time."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self._done = threading.Event()
        self.before = self.peak = self.now()

    def now(self) -> float:
        """The resident memory now, in MB."""
        return sum(map(resident, self._pids)) / 1e6

    def _watch(self) -> None:
        while not self._done.wait(MEMORY_SECONDS):
            self.peak = max(self.peak, self.now())

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Keep `peak` while the block runs."""
        watcher = threading.Thread(target=self._watch)
        watcher.start()
        try:
            yield
        finally:
            self._done.set()
            watcher.join()


def measure(directory: Path, flood: bytes) -> Fair:
    """The flooding agent's chat is on the screen."""
    places = {name: directory / name for name in ("flooder", "worker")}
    for place in places.values():
        place.mkdir()
    flood = flood.replace(b"@DIRECTORY@", str(directory).encode())
    (directory / "large.txt").write_text("words and words\n" * 60_000, encoding="utf-8")
    turns = {"go": [(flood, {"stays": True})], "hello": [at_once(texts.said("hello"))]}
    flooder, log = make_agent(places["flooder"], turns)
    chunks = texts.said_all(CHUNKS)
    worker, _ = make_agent(places["worker"], {"go": [paced(chunks, 1, EVERY)]})
    agents = {"flooder": {"command": flooder}, "worker": {"command": worker}}
    config = {"ui": {"position": "right", "width": WIDTH}, "fs": {"outside": "allow"}}
    editor = ScreenEditor(directory, columns=COLUMNS, rows=ROWS, agents=agents, config=config)
    try:
        editor.terminal.look_away()  # the emulator would take a processor for itself
        return _measure(editor, log)
    finally:
        editor.close()


def _measure(editor: Editor, log: Path) -> Fair:
    editor.lua(WATCH)
    flooder, worker = editor.lua(OPEN, "flooder", True), editor.lua(OPEN, "worker", False)
    for key in (flooder, worker):
        editor.wait_until(lambda key=key: editor.lua(STATE, key) == "idle", what="the session to be open")
    _turn(editor, worker)
    editor.lua(PROMPT, "hello", flooder)
    editor.wait_until(f"(_G.ended['{flooder}'] or 0) == 1")
    log.unlink()
    host = editor.host()
    assert host is not None
    resting(editor.pid, host.pid, limit=LIMIT)
    with Ping(editor.places.socket) as ping:
        _turn(editor, worker)
        quiet_until = time.perf_counter()
        memory = _Memory([editor.pid, host.pid])
        turns = []
        with memory.watched():
            editor.lua(PROMPT, "go", flooder)
            while len(turns) < TURNS or not log.exists():
                turns.append(_turn(editor, worker))
            turns.append(_turn(editor, worker))
            resting(editor.pid, host.pid, limit=LIMIT)
        kept = memory.now()
    waits = [wait for due, wait in ping.waits if due > quiet_until]
    quiet = [wait for due, wait in ping.waits if due <= quiet_until]
    return Fair(turns, max(waits), max(quiet), memory.peak - memory.before, kept - memory.before)


def _turn(editor: Editor, key: int) -> float:
    """Seconds from the prompt until the editor knows of the end of the turn."""
    before = editor.lua("return _G.ended[...] or 0", str(key))
    begun = time.perf_counter()
    editor.lua(PROMPT, "go", key, limit=LIMIT)
    editor.wait_until(lambda: editor.lua("return _G.ended[...] or 0", str(key), limit=LIMIT) > before, limit=LIMIT)
    return time.perf_counter() - begun
