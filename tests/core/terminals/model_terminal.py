"""A terminal as simple as can be, one character at a time, to compare others with."""

from __future__ import annotations

import re
from collections.abc import Callable

from acp_nvim.terminals.screen import ROWS

WIDTHS = {"語": 2, "🙂": 2, "\u0301": 0, "\u202e": 0}


class Model:
    """The cells by row and column; only the height is bounded."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], str] = {}
        self.row = self.column = self.bottom = self.top = 0
        self.saved = (0, 0)

    def go(self, row: int, column: int) -> None:
        """Move the cursor within the screen."""
        self.row = min(max(row, self.top), self.top + ROWS - 1)
        self.column = max(0, column)
        self.bottom = max(self.bottom, self.row)

    def line_feed(self, column: int = 0) -> None:
        """Go to the next row; the screen moves down if it ends there."""
        self.column = column
        self.row += 1
        self.bottom = max(self.bottom, self.row)
        if self.row >= self.top + ROWS:
            self.top += 1

    def clear(self, row: int, column: int) -> None:
        """Erase the character that has that cell, all of it."""
        if self.cells.get((row, column)) == "":
            start = column
            while self.cells.get((row, start)) == "":
                start -= 1
            end = column
            while self.cells.get((row, end)) == "":
                end += 1
            for one in range(start, end):
                self.cells[row, one] = " "

    def put(self, char: str, width: int) -> None:
        """Write a character of that width."""
        for one in range(self.length(self.row), self.column):
            self.cells[self.row, one] = " "
        self.clear(self.row, self.column)
        self.clear(self.row, self.column + width)
        for one in range(width):
            self.cells[self.row, self.column + one] = "" if one else char
        self.column += width

    def length(self, row: int) -> int:
        """The number of cells that a row has."""
        return 1 + max((column for at, column in self.cells if at == row), default=-1)

    def char(self, char: str) -> None:
        """Write a character, or join it to the one before."""
        width = WIDTHS.get(char, 1)
        if char == "\t":
            width = 8 - self.column % 8
            if self.column < self.length(self.row):
                self.column += width
                return
        if width == 0:
            at = min(self.column, self.length(self.row)) - 1
            while at > 0 and self.cells[self.row, at] == "":
                at -= 1
            if at >= 0:
                self.cells[self.row, at] += char
                return
            width = 1
        self.put(char, width)

    def erase(self, rows: range, first: int, last: int) -> None:
        """Erase these cells of these rows; a row ends where nothing but blanks was erased."""
        for row in rows:
            self.clear(row, first)
            self.clear(row, last + 1)
            for column in range(first, last + 1):
                if (row, column) in self.cells:
                    self.cells[row, column] = " "
            while self.cells.get((row, self.length(row) - 1)) == " " and last >= self.length(row) - 1 >= first:
                del self.cells[row, self.length(row) - 1]

    def move(self, code: str, numbers: list[int]) -> None:
        """Move the cursor, or remember its place."""
        count, row, column = max(1, numbers[0]), self.row, self.column
        match code:
            case "A" | "B":
                self.go(row + (count if code == "B" else -count), column)
            case "E" | "F":
                self.go(row + (count if code == "E" else -count), 0)
            case "C" | "D":
                self.column = max(0, min(column + count, 9999)) if code == "C" else max(0, column - count)
            case "G":
                self.column = count - 1
            case "d":
                self.go(self.top + count - 1, column)
            case "H":
                self.go(self.top + count - 1, max(1, numbers[1]) - 1 if len(numbers) > 1 else 0)
            case "s":
                self.saved = row - self.top, column
            case "u":
                self.go(self.top + self.saved[0], self.saved[1])

    def wipe(self, code: str, how: int) -> None:
        """Erase characters (X), or the row (K) or the screen (J): behind the cursor, before it, or all of it."""
        row, column = self.row, self.column
        if code == "X":
            self.erase(range(row, row + 1), column, column + max(1, how) - 1)
        elif how in (0, 1, 2):
            below, above = range(row + 1, self.bottom + 1), range(self.top, row)
            self.erase(range(row, row + 1), 0 if how else column, column if how == 1 else 999)
            if code == "J":
                self.erase(below if how != 1 else range(0), 0, 999)
                self.erase(above if how else range(0), 0, 999)

    def feed(self, text: str) -> None:
        """Print all of it: whole sequences only."""
        for one in re.findall(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[@-~]|\x1b\(?.|.", text, re.DOTALL):
            if re.fullmatch(r"\x1b\[[0-9;]*[A-HJKXdsu]", one):
                numbers = [min(int(n), 9999) if n else 0 for n in one[2:-1].split(";")]
                if one[-1] in "JKX":
                    self.wipe(one[-1], numbers[0])
                else:
                    self.move(one[-1], numbers)
            elif one in SHORT:
                SHORT[one](self)
            elif one[0] not in "\x1b\x07\x00":
                self.char(one)

    def rows(self) -> list[str]:
        """All rows, without blanks at their ends and blank rows at the end."""
        rows = [
            "".join(self.cells[row, column] for column in range(self.length(row))).rstrip(" ")
            for row in range(self.bottom + 1)
        ]
        while rows and not rows[-1]:
            rows.pop()
        return rows


SHORT: dict[str, Callable[[Model], None]] = {
    "\r": lambda it: it.go(it.row, 0),
    "\n": lambda it: it.line_feed(),
    "\b": lambda it: it.go(it.row, it.column - 1),
    "\x1b7": lambda it: it.move("s", [0]),
    "\x1b8": lambda it: it.move("u", [0]),
    "\x1bM": lambda it: it.go(it.row - 1, it.column),
    "\x1bD": lambda it: it.line_feed(it.column),
    "\x1bE": lambda it: it.line_feed(),
}
