"""The terminals of a session, both the agent's and ours, and which of them are open in the editor."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.text_halves import REPLACEMENT, joined_output
from acp_nvim.acp.updates import TerminalChanged, TerminalNews
from acp_nvim.contract.events import TerminalOutput

TERMINALS_BYTES: Final = 32 * 1024 * 1024
"""Output kept for all terminals of a session; beyond it the oldest keep only what the chat shows."""
KNOWN_TERMINALS: Final = 5000
"""Terminals of a session with a number, by which they can be opened; further ones only show their last lines."""


class TerminalRegistry:
    """The terminals of one session (its key). Their numbers count from 1 and are never reused.

    Ids are the agent's, and a later agent process may reuse them.
    """

    def __init__(self, session: int) -> None:
        self._session = session
        self._all: list[Terminal] = []
        self._by_id: dict[str, Terminal] = {}
        self._opened: set[int] = set()
        self._size = 0
        self._to_shorten: dict[int, None] = {}  # numbers of terminals with output since they were shortened, ordered

    def __repr__(self) -> str:
        return f"<TerminalRegistry {len(self._all)}, {self._size} bytes, opened: {sorted(self._opened)}>"

    def get(self, terminal_id: str) -> Terminal:
        """Return the terminal with that id, created if unknown. Beyond `KNOWN_TERMINALS` it has number 0."""
        terminal = self._by_id.get(terminal_id)
        if terminal is None and len(self._all) >= KNOWN_TERMINALS:
            return Terminal(terminal_id)
        if terminal is None:
            terminal = self._by_id[terminal_id] = Terminal(terminal_id, len(self._all) + 1)
            self._all.append(terminal)
        return terminal

    def is_current(self, terminal: Terminal) -> bool:
        """Whether the terminal belongs to the present agent process, which knows it by its id."""
        return self._by_id.get(terminal.terminal_id) is terminal

    def take(self, news: TerminalNews) -> tuple[Terminal, TerminalOutput | None]:
        """Apply news of a terminal; return the terminal, and the event to publish if it is open."""
        if isinstance(news, TerminalChanged):
            terminal = self.get(news.patch.terminal_id)
            before, more, lost, lost_lines = terminal.size, b"", 0, 0
            terminal.apply(news.patch)
            if terminal.half and terminal.exit is not None:
                more, terminal.half = REPLACEMENT.encode(), b""
        else:
            terminal = self.get(news.terminal_id)
            before, lost, lost_lines = terminal.size, news.lost, news.lost_lines
            more, terminal.half = joined_output(terminal.half, news.data)
        terminal.append(more, lost, lost_lines)
        if terminal.number:
            self._size += terminal.size - before
            self._make_room(terminal)
        if terminal.number not in self._opened:
            return terminal, None
        if isinstance(news, TerminalChanged) and news.patch.output is not UNSET:
            return terminal, self._whole(terminal)
        return terminal, self._event(terminal, more, lost)

    def open(self, number: int) -> TerminalOutput | None:
        """Start streaming a terminal to the editor, with its output so far; return None if it does not exist."""
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

    def release(self, terminal_id: str, named_by: str) -> None:
        """Let an id name another terminal, as the id of the call that showed it, `named_by`, is used again.

        Only if the terminal has ended, or is that of the call alone. Ours are unique.
        """
        terminal = self._by_id.get(terminal_id)
        if terminal is not None and not terminal.ours and (terminal.exit or terminal_id == named_by):
            del self._by_id[terminal_id]

    def begin_agent(self) -> None:
        """Forget the terminal ids of the last agent process. Ours are unique, and stay."""
        self._by_id = {terminal_id: one for terminal_id, one in self._by_id.items() if one.ours}

    def _event(self, terminal: Terminal, data: bytes = b"", dropped: int = 0, whole: bool = False) -> TerminalOutput:
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
        return self._event(terminal, terminal.output, terminal.dropped, whole=True)

    def _make_room(self, latest: Terminal) -> None:
        """Shorten the terminals with the oldest output beyond `TERMINALS_BYTES`."""
        self._to_shorten.setdefault(latest.number)
        while self._size > TERMINALS_BYTES and (number := next(iter(self._to_shorten))) != latest.number:
            del self._to_shorten[number]
            terminal = self._all[number - 1]
            before = terminal.size
            terminal.forget_most()
            self._size += terminal.size - before
