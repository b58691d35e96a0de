"""Neovim in a terminal, for tests of what a person sees."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.editor import Editor
from tests.support.pseudo_terminal import PseudoTerminal
from tests.support.waiting import LIMIT

TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


class ScreenEditor(Editor):
    """Neovim with its real screen under a pseudo terminal."""

    def __init__(self, directory: Path, *, columns: int = 100, rows: int = 30, **given: Any) -> None:
        self.terminal = PseudoTerminal(columns, rows)
        env: Mapping[str, str] = given.pop("env", None) or {}
        try:
            super().__init__(directory, env={**TERMINAL, **env}, **given)
        except BaseException:
            self.terminal.close()
            raise

    def _start(self, command: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        return self.terminal.start(command, self.project, env)

    def _last_words(self) -> str:
        return self.terminal.text()

    # What a person does

    def type(self, keys: str) -> None:
        """Sends these characters as a keyboard would (`\\x1b` is Esc, `\\r` is Enter)."""
        self.terminal.write(keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Makes the window of the terminal larger or smaller."""
        self.terminal.resize(columns, rows)

    # What a person sees

    def rows(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        return self.terminal.rows()

    def screen_text(self) -> str:
        """The whole screen as text."""
        return self.terminal.text()

    def cursor(self) -> tuple[int, int]:
        """Row and column of the cursor, from 0."""
        return self.terminal.cursor()

    def cell(self, row: int, column: int) -> Any:
        """One cell: `.data`, `.fg`, `.bg`, `.bold`, `.italics`, `.underscore`, `.reverse`."""
        return self.terminal.cell(row, column)

    def find(self, text: str) -> tuple[int, int] | None:
        """Row and column where a text stands on the screen."""
        for number, row in enumerate(self.rows()):
            if text in row:
                return number, row.index(text)
        return None

    def row_with(self, text: str) -> str:
        """The row where a text stands, from one look at the screen; `""` where it does not."""
        return next((row for row in self.rows() if text in row), "")

    def wait_for(self, text: str, limit: float = LIMIT) -> tuple[int, int]:
        """Waits until a text is on the screen."""
        place: tuple[int, int] = self.wait_until(lambda: self.find(text), limit, f"{text!r} on the screen")
        return place

    def describe(self) -> str:
        """The screen, and what the editor knows."""
        return f"--- screen\n{self.screen_text()}\n{super().describe()}"

    def close(self, limit: float = LIMIT) -> None:
        """Leaves Neovim and gives the terminal back."""
        try:
            super().close(limit)
        finally:
            self.terminal.close()
