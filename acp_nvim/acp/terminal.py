"""The state of a terminal, the agent's or the host's, built from snapshots and pieces of output (v2 "Tool Calls")."""

from __future__ import annotations

import codecs

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.lazy import pattern
from acp_nvim.limits import FIRST_LINES, LAST_LINES, TERMINAL_BYTES, TERMINAL_LINE_BYTES, TERMINAL_LINES
from acp_nvim.terminals.output_tail import PlainText, start_of_last
from acp_nvim.terminals.screen import BEGUN_CHARS, ENDED_CHARS, PRINTED_CHARS, Ends, Screen

_CONTROLS = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Exit(msgspec.Struct, frozen=True):
    """How a command ended: with a code, or by a signal (`SIGTERM`); neither if the agent did not report it."""

    exit_code: int | None = None
    signal: str | None = None


class TerminalPatch(msgspec.Struct, kw_only=True):
    """An update of a terminal: omitted keeps, None clears, a value replaces. `output` is a snapshot.

    `ours`: the host runs the command, with an id that is never reused. `cancellable`: the agent can cancel it alone.
    """

    terminal_id: str
    command: str | UnsetType | None = UNSET
    cwd: str | UnsetType | None = UNSET
    output: bytes | UnsetType | None = UNSET
    exit: Exit | UnsetType | None = UNSET
    cancellable: bool | UnsetType = UNSET
    ours: bool = False


class Terminal:
    """The current state of one terminal, with the end of its output.

    `number` counts the terminals of the session, from 1; `dropped` is the number of bytes before the kept output.
    """

    def __init__(self, terminal_id: str, number: int = 0) -> None:
        self.terminal_id = terminal_id
        self.number = number
        self.ours = False
        self.cancellable = False
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit: Exit | None = None
        self.half = b""
        """Half a character at the end of the output, whose other half may come."""
        self.dropped = 0
        self._output = bytearray()
        self._begin()

    def _begin(self) -> None:
        """Begin an empty screen."""
        self._screen = Screen(FIRST_LINES)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._fed = 0  # bytes of all output that the screen has got

    def apply(self, patch: TerminalPatch) -> None:
        """Update the members that are set in `patch`; its output replaces the present one."""
        self.ours = self.ours or patch.ours
        if patch.command is not UNSET:
            self.command = patch.command
        if patch.cwd is not UNSET:
            self.cwd = patch.cwd
        if patch.exit is not UNSET:
            self.exit = patch.exit
        if patch.cancellable is not UNSET:
            self.cancellable = patch.cancellable
        if patch.output is not UNSET:
            self.half = b""
            self._replace(patch.output or b"")

    def append(self, data: bytes, lost: int = 0, lost_lines: int = 0) -> None:
        """Append output, cut at any byte; `lost` bytes before it were dropped, with the ends of `lost_lines`."""
        if lost:
            self._catch_up()  # with what came before
            self._screen.skip(lost_lines)
            self.dropped += len(self._output) + lost
            self._fed = self.dropped
            self._output.clear()
        self._output += data
        if len(self._output) > 2 * TERMINAL_BYTES:  # not each time, since moving the rest costs
            self._keep(TERMINAL_BYTES)

    def forget_most(self) -> None:
        """Drop the output except for what the chat shows."""
        self._keep(TERMINAL_LINES * TERMINAL_LINE_BYTES)
        self._screen.compact(LAST_LINES + 1)

    def ends(self) -> Ends:
        """Return the first and the last rows of the output as a terminal shows it, and the number of those between.

        An incomplete character or escape sequence at the end is omitted until more output arrives.
        """
        self._catch_up()
        return self._screen.ends(LAST_LINES)

    def rows(self) -> list[str]:
        """Return all rows of the kept output as a terminal shows it."""
        screen = Screen(first=None)
        screen.feed(self._output.decode("utf-8", "replace"))
        screen.finish()
        return screen.ends(0)[0]

    @property
    def size(self) -> int:
        """The size of the kept output in bytes, at most twice `TERMINAL_BYTES`."""
        return len(self._output)

    @property
    def output(self) -> bytes:
        """The kept output, exactly as it was printed."""
        return bytes(self._output)

    def tail(self, lines: int) -> str:
        """Return the last lines as plain text, without what a carriage return has overwritten.

        An incomplete character or escape sequence at the end is omitted until more output arrives.
        """
        end, ended = bytes(self._output[-lines * TERMINAL_LINE_BYTES :]), self.exit is not None
        plain, decoder = PlainText(), codecs.getincrementaldecoder("utf-8")("replace")
        text = plain.feed(decoder.decode(end, final=ended).replace("\r\n", "\n"))
        text = _CONTROLS.sub("", text + (plain.flush() if ended else "")).rstrip("\n")
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")[-lines:])

    def _replace(self, output: bytes) -> None:
        """Replace all output; one that continues it changes only the end of the screen."""
        if self.dropped or not output.startswith(self._output):
            self._output.clear()
            self.dropped = 0
            self._begin()
        self.append(output[len(self._output) :])

    def _catch_up(self) -> None:
        """Print on the screen what it has not got yet."""
        ended, start = self.exit is not None, self._fed - self.dropped
        self._fed = self.dropped + len(self._output)
        if len(self._output) - start > PRINTED_CHARS:  # as `Screen.feed` does, without decoding what is left out
            begun = start + BEGUN_CHARS
            self._screen.feed(self._decoder.decode(self._output[start:begun]))
            start = start_of_last(self._output, ENDED_CHARS)
            self._decoder.reset()
            self._screen.skip(self._output.count(b"\n", begun, start))
        self._screen.feed(self._decoder.decode(self._output[start:], final=ended))
        if ended:
            self._screen.finish()

    def _keep(self, limit: int) -> None:
        """Drop the output before its last `limit` bytes."""
        self._catch_up()
        start = start_of_last(self._output, limit)
        del self._output[:start]
        self.dropped += start
