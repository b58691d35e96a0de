"""Neovim in a terminal, for tests of what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.editor import Editor
from tests.support.terminal import Terminal

# The terminal becomes the controlling one only when a process without one takes it.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class ScreenEditor(Editor):
    """Neovim with its real screen under a pseudo terminal."""

    def __init__(self, directory: Path, *, columns: int = 100, rows: int = 30, **given: Any) -> None:
        self._master, self._slave = pty.openpty()
        self._lock = threading.Lock()
        self._open = True
        self.terminal = Terminal(columns, rows, self._write)
        self._set_size(columns, rows)
        self._reader = threading.Thread(target=self._read, name="screen", daemon=True)
        env: Mapping[str, str] = given.pop("env", None) or {}
        try:
            super().__init__(directory, env={"TERM": "xterm-256color", "COLORTERM": "truecolor", **env}, **given)
        except BaseException:
            self._close_terminal()
            raise

    def _start(self, command: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *command],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            cwd=self.project,
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
                self.terminal.feed(data)

    def _write(self, data: bytes) -> None:
        while data and self._open:
            data = data[os.write(self._master, data) :]

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # What a person does

    def type(self, keys: str) -> None:
        """Sends these characters as a keyboard would (`\\x1b` is Esc, `\\r` is Enter)."""
        self._write(keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Makes the window of the terminal larger or smaller."""
        with self._lock:
            self.terminal.screen.resize(rows, columns)
        self._set_size(columns, rows)

    # What a person sees

    def rows(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        with self._lock:
            return [row.rstrip() for row in self.terminal.screen.display]

    def screen_text(self) -> str:
        """The whole screen as text."""
        return "\n".join(self.rows())

    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 0."""
        with self._lock:
            return self.terminal.screen.cursor.y, self.terminal.screen.cursor.x

    def cell(self, row: int, column: int) -> Any:
        """One cell: `.data`, `.fg`, `.bg`, `.bold`, `.italics`, `.underscore`, `.reverse`."""
        with self._lock:
            return self.terminal.screen.buffer[row][column]

    def find(self, text: str) -> tuple[int, int] | None:
        """Row and column where a text stands on the screen."""
        for number, row in enumerate(self.rows()):
            if text in row:
                return number, row.index(text)
        return None

    def wait_for(self, text: str, limit: float = 10.0) -> tuple[int, int]:
        """Waits until a text is on the screen."""
        place: tuple[int, int] = self.wait_until(lambda: self.find(text), limit, f"{text!r} on the screen")
        return place

    def describe(self) -> str:
        """The screen, and what the editor knows."""
        return f"--- screen\n{self.screen_text()}\n{super().describe()}"

    def close(self, limit: float = 10.0) -> None:
        """Leaves Neovim and gives the terminal back."""
        try:
            super().close(limit)
        finally:
            self._close_terminal()

    def _close_terminal(self) -> None:
        self._open = False
        if self._slave >= 0:
            os.close(self._slave)
        if self._reader.ident is not None:
            self._reader.join(5)
        os.close(self._master)
