"""A row of a screen, in which single cells can be overwritten."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

COLUMNS: Final = 1000
"""Columns kept of a row that is long or was overwritten; the others are counted. Text is not wrapped."""
CELL_CHARS: Final = 16
"""Characters of one cell: a character with its marks, or an emoji of several parts."""
TAB: Final = 8


@lru_cache(maxsize=4096)
def _width(char: str) -> int:
    """Return the number of columns that a character takes."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Row:
    """A row of cells. A wide character or a tab is followed by an empty cell for each further column.

    `width` counts all columns, of which at most `COLUMNS` have a cell.
    """

    __slots__ = ("cells", "width")

    def __init__(self, text: str) -> None:
        self.cells: list[str] = []
        self.width = 0
        self.write(0, text)

    def __str__(self) -> str:
        text, more = "".join(self.cells).rstrip(" "), self.width - COLUMNS
        return f"{text} … {more:,} more characters" if more > 0 else text

    def write(self, column: int, text: str) -> int:
        """Write a text, and return the column after it."""
        if "\t" not in text and text.isascii():
            self.put(column, text)
            return column + len(text)
        cells: list[str] = []  # of the text, at `column`
        for at, char in enumerate(text):
            if column + len(cells) >= COLUMNS:  # the others are only counted
                cells += text[at:]
                break
            if char == "\t":
                width = TAB - (column + len(cells)) % TAB
                if column + len(cells) < len(self.cells):  # it moves over what is there
                    self.put(column, cells)
                    column, cells = column + len(cells) + width, []
                    continue
            else:
                width = _width(char)
            if width:
                cells.append(char)
                cells += [""] * (width - 1)
            elif cells:
                _join(cells, char)
            elif not column or not _join(self.cells, char, column):
                cells.append(char)
        self.put(column, cells)
        return column + len(cells)

    def put(self, column: int, cells: str | list[str]) -> None:
        """Replace cells from a column on; a wide character that is replaced in part becomes blank."""
        end = column + len(cells)
        if column < COLUMNS:
            if len(self.cells) < column:
                self.cells += [" "] * (column - len(self.cells))
            self._split(column)
            self._split(end)
            self.cells[column:end] = cells
            del self.cells[COLUMNS:]
        self.width = max(self.width, end)

    def erase(self, column: int) -> None:
        """Erase the row from a column on."""
        self._split(column)
        del self.cells[column:]
        self.width = min(self.width, column)

    def _split(self, column: int) -> None:
        """Replace a character by blanks if the column is inside of it."""
        cells = self.cells
        if column < len(cells) and not cells[column]:
            start = end = column
            while start > 0 and not cells[start]:
                start -= 1
            while end < len(cells) and not cells[end]:
                end += 1
            cells[start:end] = [" "] * (end - start)


def _join(cells: list[str], char: str, column: int | None = None) -> bool:
    """Add a character without width to the one before the column; return whether there is one."""
    at = min(len(cells), COLUMNS if column is None else column) - 1
    while at > 0 and not cells[at]:
        at -= 1
    if at >= 0 and len(cells[at]) < CELL_CHARS:
        cells[at] += char
    return at >= 0
