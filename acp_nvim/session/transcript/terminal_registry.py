"""The terminals of a session, of its agents' and ours; and which of them somebody has opened."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.updates import TerminalChanged, TerminalNews
from acp_nvim.ui.events import TerminalOutput

TERMINALS_BYTES: Final = 32 * 1024 * 1024
"""The same of all terminals of a session; beyond it the oldest keep no more than the chat shows."""
KNOWN_TERMINALS: Final = 5000
"""Terminals of a session that have a number, by which they can be opened; of more only the last lines are shown."""


class TerminalRegistry:
    """The terminals of one session (its key), with numbers that are never used again.

    Numbers are counted from 1; ids are the agent's, and may become another terminal's later.
    """

    def __init__(self, session: int) -> None:
        self._session = session
        self._all: list[Terminal] = []
        self._by_id: dict[str, Terminal] = {}
        self._opened: set[int] = set()
        self._size = 0
        self._to_shorten: dict[int, None] = {}  # those that have printed since they were shortened, ordered

    def __repr__(self) -> str:
        return f"<TerminalRegistry {len(self._all)}, {self._size} bytes, opened: {sorted(self._opened)}>"

    def get(self, terminal_id: str) -> Terminal:
        """Whoever mentions an id first creates it; beyond `KNOWN_TERMINALS` it has number 0, and is not kept here."""
        terminal = self._by_id.get(terminal_id)
        if terminal is None and len(self._all) >= KNOWN_TERMINALS:
            return Terminal(terminal_id)
        if terminal is None:
            terminal = self._by_id[terminal_id] = Terminal(terminal_id, len(self._all) + 1)
            self._all.append(terminal)
        return terminal

    def take(self, news: TerminalNews) -> tuple[Terminal, TerminalOutput | None]:
        """The terminal that the news are of, and what is to be told if it is open."""
        if isinstance(news, TerminalChanged):
            terminal = self.get(news.patch.terminal_id)
            before = terminal.size
            terminal.apply(news.patch)
        else:
            terminal = self.get(news.terminal_id)
            before = terminal.size
            terminal.append(news.data, news.lost)
        if terminal.number:
            self._size += terminal.size - before
            self._make_room(terminal)
        return terminal, self._news(terminal, news) if terminal.number in self._opened else None

    def open(self, number: int) -> TerminalOutput | None:
        """Stream a terminal to the editor: what there is, and from now on what comes. None: there is no such."""
        if not 0 < number <= len(self._all):
            return None
        self._opened.add(number)
        return self._whole(self._all[number - 1])

    def close(self, number: int) -> TerminalOutput | None:
        """Stop streaming a terminal to the editor."""
        if number not in self._opened:
            return None
        self._opened.discard(number)
        return TerminalOutput(session=self._session, terminal=number, whole=True)

    def begin_agent(self) -> None:
        """The ids of the process that was there before mean nothing to a new one; those of ours are nobody else's."""
        self._by_id = {terminal_id: one for terminal_id, one in self._by_id.items() if one.ours}

    def _news(self, terminal: Terminal, news: TerminalNews) -> TerminalOutput:
        if isinstance(news, TerminalChanged):
            return self._told(terminal) if news.patch.output is UNSET else self._whole(terminal)
        return self._told(terminal, news.data, news.lost)

    def _told(self, terminal: Terminal, data: bytes = b"", dropped: int = 0, whole: bool = False) -> TerminalOutput:
        ended = terminal.exit
        return TerminalOutput(
            session=self._session,
            terminal=terminal.number,
            data=data,
            whole=whole,
            dropped=dropped,
            exit_code=ended.exit_code if ended else None,
            signal=ended.signal if ended else None,
        )

    def _whole(self, terminal: Terminal) -> TerminalOutput:
        return self._told(terminal, terminal.output, terminal.dropped, whole=True)

    def _make_room(self, latest: Terminal) -> None:
        """Of too much output the oldest goes first."""
        self._to_shorten.setdefault(latest.number)
        while self._size > TERMINALS_BYTES and (number := next(iter(self._to_shorten))) != latest.number:
            del self._to_shorten[number]
            terminal = self._all[number - 1]
            before = terminal.size
            terminal.forget_most()
            self._size += terminal.size - before
