"""What an editor is told of a terminal that somebody has opened."""

from __future__ import annotations

from acp_nvim.events import SessionEvent


class TerminalOutput(SessionEvent, tag="terminal_output"):
    """More output of an opened terminal, as it was printed; `dropped` bytes before it are not kept.

    `whole`: it takes the place of all that was shown. With an `exit_code` or a `signal` the command has ended.
    """

    terminal: int
    data: bytes = b""
    whole: bool = False
    dropped: int = 0
    exit_code: int | None = None
    signal: str | None = None
