"""What a terminal shows: pyte's screen, fed with what Neovim writes, less what pyte misunderstands.

Neovim writes a change of the screen as one synchronized update (mode 2026), if the terminal has that. It arrives in
pieces of 4 kB; nobody sees the half of it, so a test that has found a text may look at the rest of the screen at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyte

# Strings for the terminal itself (DCS, APC, PM, OSC) and private sequences that pyte would take for colours.
UNKNOWN = re.compile(rb"\x1b[P_^\]].*?(?:\x1b\\|\x07)|\x1b\[[>=<][0-9;]*[a-zA-Z]", re.DOTALL)
ASKED_FOR_UPDATES, HAS_UPDATES = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
UPDATE, END_OF_UPDATE = b"\x1b[?2026h", b"\x1b[?2026l"
SUB_PARAMETERS = re.compile(rb"\x1b\[[0-9;:]*:[0-9;:]*m")
UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;:<=>?$ ]*|[P_^\]](?:(?!\x1b\\|\x07).)*)?\Z", re.DOTALL)


class Screen(pyte.Screen):
    """A screen that answers the questions that Neovim asks of a terminal."""

    def __init__(self, columns: int, lines: int, answer: Callable[[bytes], None]) -> None:
        self._answer = answer
        super().__init__(columns, lines)

    def write_process_input(self, data: str) -> None:
        """Sends an answer of the terminal."""
        self._answer(data.encode())


class Terminal:
    """Bytes in, rows and cells out."""

    def __init__(self, columns: int, lines: int, answer: Callable[[bytes], None]) -> None:
        self._answer = answer
        self.screen = Screen(columns, lines, answer)
        self._stream = pyte.ByteStream(self.screen)
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Takes what was written; an unfinished update, or escape sequence, waits for its end."""
        data = UNKNOWN.sub(b"", self._rest + data)
        if ASKED_FOR_UPDATES in data:
            data = data.replace(ASKED_FOR_UPDATES, b"")
            self._answer(HAS_UPDATES)
        begun = data.rfind(UPDATE)
        if begun > data.rfind(END_OF_UPDATE):
            at = begun
        else:
            unfinished = UNFINISHED.search(data)
            at = unfinished.start() if unfinished else len(data)
        self._rest = data[at:]
        shown = data[:at].replace(UPDATE, b"").replace(END_OF_UPDATE, b"")
        self._stream.feed(SUB_PARAMETERS.sub(_plain_colours, shown))


def _plain_colours(found: re.Match[bytes]) -> bytes:
    """`38:2::1:2:3` as `38;2;1;2;3`, `4:3` (undercurl) as `4`."""
    plain = []
    for part in found[0][2:-1].split(b";"):
        words = part.split(b":")
        if words[0] in (b"38", b"48"):
            plain += [word for word in words if word]
        elif words[0] != b"58":
            plain.append(b"24" if words == [b"4", b"0"] else words[0])
    return b"\x1b[" + b";".join(plain) + b"m"
