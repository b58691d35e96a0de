"""Passes the output of our terminals to the transcript, throttled and at most its end."""

from __future__ import annotations

from typing import Final

import anyio

from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.updates import TerminalChanged, TerminalPrinted
from acp_nvim.limits import TERMINAL_BYTES
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.terminals.output_tail import start_of_last
from acp_nvim.terminals.terminal import Ended
from acp_nvim.transcript.presenter import Presenter

TERMINAL_SHOW_SECONDS: Final = 0.05
"""Interval between two updates of a terminal's output in the chat: users cannot read faster."""

BEGUN_BYTES: Final = 8 * 1024
"""Bytes of the beginning of a command's output that are kept of a flood: the chat shows the first lines."""


class ShownTerminals:
    """The output of the terminals of one session, which tool calls show."""

    def __init__(self, presenter: Presenter, tasks: Tasks) -> None:
        self._presenter = presenter
        self._tasks = tasks
        self._printed: dict[str, bytearray] = {}
        self._lost: dict[str, tuple[int, int]] = {}  # bytes, and ends of lines
        self._begun: set[str] = set()  # terminals whose first output was passed on
        self._looks: anyio.Event | None = None

    def begin(self, terminal_id: str, words: str, cwd: str) -> None:
        """Show a command that has started in a terminal, with its directory."""
        patch = TerminalPatch(terminal_id=terminal_id, command=words, cwd=cwd, ours=True)
        self._presenter.update(TerminalChanged(patch))

    def printed(self, terminal_id: str, data: bytes) -> None:
        """Buffer output of a terminal until the next update; drop the oldest bytes of a flood."""
        waiting = self._printed.setdefault(terminal_id, bytearray())
        waiting += data
        if len(waiting) > 2 * TERMINAL_BYTES:
            self._begin_printed(terminal_id, waiting)
            start = start_of_last(waiting, TERMINAL_BYTES)
            size, lines = self._lost.get(terminal_id, (0, 0))
            self._lost[terminal_id] = size + start, lines + waiting.count(b"\n", 0, start)
            del waiting[:start]
        if not is_running(self._looks):
            self._looks = self._tasks.spawn(self._look_again)

    def _begin_printed(self, terminal_id: str, waiting: bytearray) -> None:
        """Pass on the beginning of the output, before any of it is dropped."""
        if terminal_id not in self._begun:
            self._begun.add(terminal_id)
            self._presenter.update(TerminalPrinted(terminal_id, bytes(waiting[:BEGUN_BYTES])))
            del waiting[:BEGUN_BYTES]

    def end(self, terminal_id: str, ended: Ended) -> None:
        """Show how a command has ended. Its children may still print."""
        self._show()
        self._begun.discard(terminal_id)
        how = Exit(ended.exit_code, ended.signal)
        self._presenter.update(TerminalChanged(TerminalPatch(terminal_id=terminal_id, exit=how)))
        self._presenter.caught_up()

    async def _look_again(self) -> None:
        await anyio.sleep(TERMINAL_SHOW_SECONDS)
        self._show()

    def _show(self) -> None:
        printed, self._printed = self._printed, {}
        lost, self._lost = self._lost, {}
        self._begun |= printed.keys()
        for terminal_id, data in printed.items():
            self._presenter.update(TerminalPrinted(terminal_id, bytes(data), *lost.get(terminal_id, (0, 0))))
        self._presenter.caught_up()
