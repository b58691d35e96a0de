"""What a terminal of the agent's shows: display only, fed with snapshots and pieces of bytes (v2 "Tool Calls")."""

from __future__ import annotations

import codecs
import re

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.limits import TERMINAL_BYTES, TERMINAL_LINE_BYTES

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


class Exit(msgspec.Struct, frozen=True):
    """How the command ended."""

    exit_code: int | None = None
    signal: str | None = None


class TerminalPatch(msgspec.Struct, kw_only=True):
    """What an update says of a terminal: omitted keeps, None clears, a value replaces. `output` is a snapshot."""

    terminal_id: str
    command: str | UnsetType | None = UNSET
    cwd: str | UnsetType | None = UNSET
    output: bytes | UnsetType | None = UNSET
    exit: Exit | UnsetType | None = UNSET


class Terminal:
    """One terminal as it stands; of its output only the end is kept."""

    def __init__(self, terminal_id: str) -> None:
        self.terminal_id = terminal_id
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit: Exit | None = None
        self._output = bytearray()

    def __repr__(self) -> str:
        return f"<Terminal {self.terminal_id} {self.command!r} {len(self._output)} bytes, exit {self.exit}>"

    def apply(self, patch: TerminalPatch) -> None:
        """Take over what `patch` says."""
        if patch.command is not UNSET:
            self.command = patch.command
        if patch.cwd is not UNSET:
            self.cwd = patch.cwd
        if patch.exit is not UNSET:
            self.exit = patch.exit
        if patch.output is not UNSET:
            self._output.clear()
            self.append(patch.output or b"")

    def append(self, data: bytes) -> None:
        """More output; characters and escape codes may be split anywhere."""
        self._output += data
        if len(self._output) > 2 * TERMINAL_BYTES:  # not each time: moving the rest costs
            del self._output[:-TERMINAL_BYTES]

    def tail(self, lines: int) -> str:
        """The last lines as plain text; what a carriage return overwrote is left out."""
        end = bytes(self._output[-lines * TERMINAL_LINE_BYTES :])
        text = codecs.decode(end, "utf-8", "replace").replace("\r\n", "\n")
        plain = _ESCAPES.sub("", text).rstrip("\n")
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in plain.split("\n")[-lines:])
