"""A program under a pseudo terminal, and what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.terminal import Terminal

# The terminal becomes the controlling one only when a process without one takes it.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass
class LookedFor:
    """A pattern that is short, and has no escape sequence in it; `at`: when it was written first (`time.monotonic`)."""

    pattern: bytes
    at: float | None = None
    rest: bytes = b""

    def look(self, data: bytes) -> None:
        """Search the new output for the pattern."""
        if self.at is None:
            self.rest += data
            if re.search(self.pattern, self.rest):
                self.at = time.monotonic()
            self.rest = self.rest[-100:]


class PseudoTerminal:
    """A terminal of the given size; a thread of its own reads what is written to it."""

    def __init__(self, columns: int, rows: int) -> None:
        self._master, self._slave = pty.openpty()
        self._lock = threading.Lock()
        self._open = True
        self._looking = True
        self._looked_for: LookedFor | None = None
        self._terminal = Terminal(columns, rows, self.write)
        self._set_size(columns, rows)
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)

    def start(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts a program in this terminal, once; the first word is its full path."""
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *command],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        os.close(self._slave)
        self._slave = -1
        self._reader.start()
        return process

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:  # EIO: the last process has left the terminal
                return
            if not data:
                return
            with self._lock:
                if self._looked_for:
                    self._looked_for.look(data)
                if self._looking:
                    self._terminal.feed(data)

    def look_away(self) -> None:
        """What is written from now on is read, and not shown: to show it takes more than to write it."""
        with self._lock:
            self._looking = False

    def look_for(self, pattern: bytes) -> LookedFor:
        """Notice when this is written next, looked at or not."""
        with self._lock:
            self._looked_for = LookedFor(pattern)
            return self._looked_for

    def write(self, data: bytes) -> None:
        """Write to the terminal, like a user who types."""
        while data and self._open:
            data = data[os.write(self._master, data) :]

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Makes the window of the terminal larger or smaller."""
        with self._lock:
            self._terminal.screen.resize(rows, columns)
        self._set_size(columns, rows)

    def rows(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        with self._lock:
            screen = self._terminal.screen  # its `display` fails while half of a wide character is left
            lines = (screen.buffer[row] for row in range(screen.lines))
            return ["".join(line[column].data for column in range(screen.columns)).rstrip() for line in lines]

    def text(self) -> str:
        """Return the whole screen as text."""
        return "\n".join(self.rows())

    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 0."""
        with self._lock:
            return self._terminal.screen.cursor.y, self._terminal.screen.cursor.x

    def cell(self, row: int, column: int) -> Any:
        """One cell, as pyte has it."""
        with self._lock:
            return self._terminal.screen.buffer[row][column]

    def close(self) -> None:
        """Gives the terminal back; programs in it should have ended."""
        self._open = False
        if self._slave >= 0:
            os.close(self._slave)
        if self._reader.ident is not None:
            self._reader.join(5)
        os.close(self._master)
