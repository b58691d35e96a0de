"""Shows what a command has printed as a terminal would: a small screen, and the first of the rows that have left it."""

from __future__ import annotations

from typing import Final, TypeAlias

from acp_nvim.lazy import pattern
from acp_nvim.terminals.output_tail import ESCAPE_CHARS
from acp_nvim.terminals.row import COLUMNS, Row

ROWS: Final = 50
"""Height of the screen, which bounds how far up a command can write: more than the terminals of agents have."""
PRINTED_CHARS: Final = 64 * 1024
"""Length of a text that is printed whole, in 20 ms; of a longer one only the beginning and the end is."""
BEGUN_CHARS: Final = 8 * 1024
"""Length of that beginning: as much of a text as the chat gets."""
ENDED_CHARS: Final = 16 * 1024
"""Length of that end, which draws the screen several times."""

Ends: TypeAlias = tuple[list[str], int, list[str]]
"""The first rows, the number of rows that follow, and the last rows."""

_MOVES = r"\[[0-9;]{0,40}[A-HJKXdfsu`]|[78DEM]"
_DROPPED = pattern(
    r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
    rf"|\x1b(?!{_MOVES})(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # other control sequences: colours, modes
    rf"|[\]PX^_][^\x07\x1b]{{0,{ESCAPE_CHARS}}}(?:\x07|\x1b\\)"  # strings: titles, the addresses of links
    r"|[ -/]*[0-~])?"
)
_MOVED = pattern(rf"[\r\x08]|\x1b(?:{_MOVES})")
_UNFINISHED = pattern(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_CONTROL = pattern(r"[\x00-\x08\x0b-\x1f\x7f]")


def is_plain(text: str) -> bool:
    """Return whether a terminal would show a text as it is: it has no control characters but tabs and newlines."""
    # the first way is quicker, and right whenever it says yes
    return text.replace("\n", " ").replace("\t", " ").isprintable() or _CONTROL.search(text) is None


class Screen:
    """A screen of `ROWS` rows. Of those that have left it, the first `first` are kept (all if None).

    Cursor movements, erasing, carriage returns, backspaces and tabs have their effect; colours, titles, the addresses
    of links and other sequences are dropped. A row is a string until something in it is overwritten.
    """

    def __init__(self, first: int | None) -> None:
        self._first = first
        self._head: list[str] = []
        self._gone = 0  # rows that have left the screen, those of `_head` included
        self._rows: list[str | Row] = [""]
        self._row = 0
        self._column: int | None = 0  # None: behind the text of a row that is a string
        self._saved = (0, 0)
        self._held = ""  # the possible beginning of a sequence

    def __repr__(self) -> str:
        return f"<Screen {self._gone} + {len(self._rows)} rows, at {self._row}, {self._column}>"

    def feed(self, text: str) -> None:
        """Print a text, which may be cut at any character."""
        if self._first is None or len(text) <= PRINTED_CHARS:
            self._take(text)
            return
        self._take(text[:BEGUN_CHARS])
        start = len(text) - ENDED_CHARS
        start = max(start, text.find("\n", start, start + COLUMNS) + 1)
        self.skip(text.count("\n", BEGUN_CHARS, start))
        self._take(text[start:])

    def finish(self) -> None:
        """Print what was held back, as no more comes."""
        held, self._held = self._held, ""
        self._apply(held)

    def skip(self, lines: int) -> None:
        """Leave out text with the ends of that many lines."""
        self._held = ""
        if lines:
            self._leave(len(self._rows))
            self._gone += lines - 1
            self._rows, self._row = [""], 0
        self._rows[self._row], self._column = "", 0

    def compact(self, rows: int) -> None:
        """Keep only the last rows of the screen, in less memory."""
        last = max(self._row, len(self._rows) - 1 - self._blank_rows())
        del self._rows[last + 1 :]
        self._leave(max(0, min(self._row, len(self._rows) - rows)))
        self._column = self._current_column() if self._column is None else self._column
        self._rows = [str(row) for row in self._rows]

    def ends(self, last: int) -> Ends:
        """Return the first rows and the last, and the number of others; all of them as the first if one more fits."""
        rows = [str(row) for row in self._rows[: len(self._rows) - self._blank_rows()]]
        between = self._gone - len(self._head)
        if between:
            shown = rows[-last:] if last else []
            return self._head[:], between + len(rows) - len(shown), shown
        rows = self._head + rows
        if self._first is None or len(rows) <= self._first + last + 1:
            return rows, 0, []
        return rows[: self._first], len(rows) - self._first - last, rows[len(rows) - last :]

    def _blank_rows(self) -> int:
        """Return the number of blank rows at the bottom."""
        count = 0
        for row in reversed(self._rows):
            if str(row).strip(" "):
                break
            count += 1
        return count

    def _take(self, text: str) -> None:
        text, self._held = self._held + text, ""
        if "\x1b" in text:
            unfinished = _UNFINISHED.search(text, max(0, len(text) - ESCAPE_CHARS))
            if unfinished is not None:
                self._held, text = text[unfinished.start() :], text[: unfinished.start()]
        self._apply(text)

    def _apply(self, text: str) -> None:
        if is_plain(text):
            self._print(text)
            return
        text, at = _DROPPED.sub("", text.replace("\r\n", "\n")), 0
        for move in _MOVED.finditer(text):
            if at < move.start():
                self._print(text[at : move.start()])
            at = move.end()
            self._move(move.group())
        if at < len(text):
            self._print(text[at:])

    def _print(self, text: str) -> None:
        """Print lines without movements; those that begin at the bottom are added at once."""
        line, newline, rest = text.partition("\n")
        while newline and self._row < len(self._rows) - 1:
            self._write(line)
            self._row, self._column = self._row + 1, 0
            line, newline, rest = rest.partition("\n")
        self._write(line)
        if newline:
            self._rows += rest.split("\n")
            self._leave(len(self._rows) - ROWS)
            self._row = len(self._rows) - 1
            self._column = None if self._rows[-1] else 0
            if self._first is not None:
                self._bound()

    def _bound(self) -> None:
        """Bound the memory of the rows."""
        for at, row in enumerate(self._rows):
            if type(row) is str and len(row) > COLUMNS:
                self._rows[at] = bounded = Row(row)
                if at == self._row and self._column is None:
                    self._column = bounded.width

    def _write(self, text: str) -> None:
        if not text:
            return
        row = self._rows[self._row]
        if type(row) is str and (self._column is None or not (row or self._column)):
            self._rows[self._row], self._column = row + text, None
            if self._first is not None and len(row) + len(text) > COLUMNS:
                self._bound()
            return
        column = self._current_column()
        self._column = self._cells().write(column, text)

    def _leave(self, count: int) -> None:
        """Let rows leave the screen at the top."""
        if count > 0:
            room = count if self._first is None else min(count, max(0, self._first - len(self._head)))
            if room and len(self._head) == self._gone:
                self._head += [_bounded(row) if self._first is not None else str(row) for row in self._rows[:room]]
            del self._rows[:count]
            self._gone += count
            self._row = max(0, self._row - count)

    def _cells(self) -> Row:
        """Return the current row as cells."""
        row = self._rows[self._row]
        if type(row) is str:
            self._rows[self._row] = row = Row(row)
        assert isinstance(row, Row)
        return row

    def _current_column(self) -> int:
        if self._column is None:
            self._column = self._cells().width
        return self._column

    def _move(self, sequence: str) -> None:
        """Apply a carriage return, a backspace or a sequence."""
        if sequence == "\r":
            self._column = 0
            return
        column, code = self._current_column(), sequence[-1]
        if sequence == "\x08":
            self._column = max(0, column - 1)
        elif sequence[1] != "[":
            self._escape(code, column)
        else:
            numbers = [min(int(one), 9999) if one else 0 for one in sequence[2:-1].split(";")]
            if code in "JKX":
                self._erase(code, numbers[0], column)
            else:
                self._go(code, numbers, column)

    def _escape(self, code: str, column: int) -> None:
        match code:
            case "7":
                self._saved = self._row, column
            case "8":
                self._place(*self._saved)
            case "M":
                self._place(self._row - 1, column)
            case _:  # D, E: a new line
                self._print("\n")
                self._column = column if code == "D" else 0

    def _go(self, code: str, numbers: list[int], column: int) -> None:
        count = max(1, numbers[0])
        match code:
            case "A" | "F":
                self._place(self._row - count, column if code == "A" else 0)
            case "B" | "E":
                self._place(self._row + count, column if code == "B" else 0)
            case "C":
                self._column = min(column + count, 9999)
            case "D":
                self._column = max(0, column - count)
            case "G" | "`":
                self._column = count - 1
            case "d":
                self._place(count - 1, column)
            case "H" | "f":
                self._place(count - 1, max(1, numbers[1]) - 1 if len(numbers) > 1 else 0)
            case "s":
                self._saved = self._row, column
            case _:  # u
                self._place(*self._saved)

    def _place(self, row: int, column: int) -> None:
        """Move the cursor to a place on the screen."""
        self._row, self._column = min(max(0, row), ROWS - 1), column
        self._rows += [""] * (self._row + 1 - len(self._rows))

    def _erase(self, code: str, how: int, column: int) -> None:
        """Erase characters (X), or the row (K) or the screen (J): behind the cursor, before it, or all of it."""
        if code == "X":
            self._blank(column, max(1, how))
            return
        if how not in (0, 1, 2):
            return
        if code == "J" and how != 1:
            del self._rows[self._row + 1 :]
        if code == "J" and how != 0:
            self._rows[: self._row] = [""] * self._row
        if how == 1:
            self._blank(0, column + 1)
        elif column == 0 or how == 2:
            self._rows[self._row] = ""
            self._column = column
        else:
            self._cells().erase(column)

    def _blank(self, column: int, count: int) -> None:
        """Replace cells of the row by blanks."""
        row = self._cells()
        count = min(count, len(row.cells) - column)
        if count > 0:
            row.put(column, [" "] * count)


def _bounded(row: str | Row) -> str:
    return str(Row(row) if type(row) is str and len(row) > COLUMNS else row)
