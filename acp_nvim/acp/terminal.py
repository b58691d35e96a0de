"""What a terminal shows, the agent's or ours: fed with snapshots and pieces of bytes (v2 "Tool Calls")."""

from __future__ import annotations

import codecs
import re

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.limits import TERMINAL_BYTES, TERMINAL_LINE_BYTES, TERMINAL_LINES
from acp_nvim.terminals.output_tail import PlainText, start_of_last

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Exit(msgspec.Struct, frozen=True):
    """How a command ended: with a code, or by a signal (`SIGTERM`); neither, when the agent did not say."""

    exit_code: int | None = None
    signal: str | None = None


class TerminalPatch(msgspec.Struct, kw_only=True):
    """What an update says of a terminal: omitted keeps, None clears, a value replaces. `output` is a snapshot.

    `ours`: the host runs the command, under an id that nobody uses again.
    """

    terminal_id: str
    command: str | UnsetType | None = UNSET
    cwd: str | UnsetType | None = UNSET
    output: bytes | UnsetType | None = UNSET
    exit: Exit | UnsetType | None = UNSET
    ours: bool = False


class Terminal:
    """One terminal as it stands; of its output only the end is kept.

    `number` is its place among those of the session, counted from 1; `dropped` counts the bytes of its output that are
    not kept any more, all before those that are.
    """

    def __init__(self, terminal_id: str, number: int = 0) -> None:
        self.terminal_id = terminal_id
        self.number = number
        self.ours = False
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit: Exit | None = None
        self.dropped = 0
        self._output = bytearray()

    def __repr__(self) -> str:
        return f"<Terminal {self.terminal_id} {self.command!r} {len(self._output)} bytes, exit {self.exit}>"

    def apply(self, patch: TerminalPatch) -> None:
        """Take over the members of `patch` that are set; an output in it replaces the one that was there."""
        self.ours = self.ours or patch.ours
        if patch.command is not UNSET:
            self.command = patch.command
        if patch.cwd is not UNSET:
            self.cwd = patch.cwd
        if patch.exit is not UNSET:
            self.exit = patch.exit
        if patch.output is not UNSET:
            self._output.clear()
            self.dropped = 0
            self.append(patch.output or b"")

    def append(self, data: bytes, lost: int = 0) -> None:
        """More output; characters and escape codes may be split anywhere. Before it `lost` bytes were not kept."""
        if lost:
            self.dropped += len(self._output) + lost
            self._output.clear()
        self._output += data
        if len(self._output) > 2 * TERMINAL_BYTES:  # not each time: moving the rest costs
            self._keep(TERMINAL_BYTES)

    def forget_most(self) -> None:
        """Keep no more of the output than what the chat shows."""
        self._keep(TERMINAL_LINES * TERMINAL_LINE_BYTES)

    @property
    def size(self) -> int:
        """How many bytes of output are kept now, at most twice `TERMINAL_BYTES`."""
        return len(self._output)

    @property
    def output(self) -> bytes:
        """The output as it was printed, as far as it is kept."""
        return bytes(self._output)

    def tail(self, lines: int) -> str:
        """The last lines as plain text; what a carriage return overwrote is left out.

        What may be the beginning of a character or of an escape sequence is left out until more comes.
        """
        end, ended = bytes(self._output[-lines * TERMINAL_LINE_BYTES :]), self.exit is not None
        plain, decoder = PlainText(), codecs.getincrementaldecoder("utf-8")("replace")
        text = plain.feed(decoder.decode(end, final=ended).replace("\r\n", "\n"))
        text = _CONTROLS.sub("", text + (plain.flush() if ended else "")).rstrip("\n")
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")[-lines:])

    def _keep(self, limit: int) -> None:
        """Drop what is before the last `limit` bytes."""
        start = start_of_last(self._output, limit)
        del self._output[:start]
        self.dropped += start
