"""Truncates texts and changes of tool calls: to the beginning and end of a text, and to the first hunks of a change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from acp_nvim.acp.diff import Piece
from acp_nvim.limits import FIRST_LINES, LAST_LINES, REQUEST_TEXT_LINES
from acp_nvim.terminals.screen import Ends
from acp_nvim.workspace.line_differences import Block, common_head, common_tail, differences
from acp_nvim.workspace.text_shape import lines_with_ends

CALL_TEXT_LINES: Final = FIRST_LINES + LAST_LINES + 1
"""Lines of a text in a tool call that is sent whole: a single further line takes no more room than its count."""
CALL_TEXT_CHARS: Final = 8 * 1024
"""Characters sent of a text in a tool call."""
REQUEST_TEXT_CHARS: Final = 512 * 1024
"""Characters sent of a text in a request: Linux runs command lines up to a quarter of that."""
DIFF_CHARS: Final = 16 * 1024
"""Characters (old and new text) of a change that is sent whole; larger ones are cut to hunks."""
DIFF_SEARCH_CHARS: Final = 256 * 1024
"""Characters of a change that is searched for hunks, in 5 ms; of larger ones the beginning is sent."""
DIFF_LINES: Final = 100
"""Lines sent of a change that is cut: the chat shows 60."""
DIFF_CONTEXT: Final = 3
"""Lines of context around a hunk."""
DETAILS_CHARS: Final = 4 * 1024 * 1024
"""Characters of one text in the details of a tool call: Neovim shows so many within 0.1 s."""
TURN_TEXT_BYTES: Final = 10 * 1024 * 1024
"""Bytes of message text kept for one turn, or for a replayed conversation: 100,000 lines; a book has 1 MB.

The host and Neovim together need four times as much memory.
"""
TOO_LONG = f"\n… and more: of the messages of one turn {TURN_TEXT_BYTES // 1024 // 1024} MB are kept\n"


class TextLimits(msgspec.Struct, frozen=True):
    """The lines and characters sent of one text, and whether large changes are cut to hunks.

    Of a longer text the `first` and `last` lines are sent, if there are any, else the beginning.
    """

    lines: int
    chars: int
    cuts_diffs: bool = True
    first: int = 0
    last: int = 0


IN_CHAT = TextLimits(CALL_TEXT_LINES, CALL_TEXT_CHARS, first=FIRST_LINES, last=LAST_LINES)
BEGINNING = TextLimits(CALL_TEXT_LINES, CALL_TEXT_CHARS)
IN_REQUEST = TextLimits(REQUEST_TEXT_LINES, REQUEST_TEXT_CHARS)
WHOLE = TextLimits(DETAILS_CHARS, DETAILS_CHARS, cuts_diffs=False)


class CutHunk(msgspec.Struct, frozen=True):
    """A part of a change, and the number of `lines` after it that are left out."""

    piece: Piece
    lines: int = 0


def beginning(text: str, limits: TextLimits) -> tuple[str, int, int]:
    """Return the beginning of `text` within `limits`, and the number of lines and characters left out."""
    if len(text) <= limits.chars and text.count("\n") < limits.lines:
        return text, 0, 0
    begun = text[: limits.chars]
    lines = begun.split("\n", limits.lines)
    end = len(begun) - (len(lines[-1]) if len(lines) > limits.lines else 0)
    rest = len(text) - end
    return text[:end], text.count("\n", end, len(text) - 1) + 1 if rest else 0, rest


def cut(text: str, limits: TextLimits) -> tuple[str, int, int, str]:
    """Return what is sent of a text: its beginning, the number of lines and characters left out, and its end."""
    if not limits.last:
        return *beginning(text, limits), ""
    at = end = len(text.rstrip("\n"))
    if len(text) <= limits.chars and text.count("\n", 0, end) < limits.lines:
        return text, 0, 0, ""
    first, after = _end_of_lines(text, limits.first, limits.chars // 2), -1
    for _ in range(limits.last):
        at = text.rfind("\n", first, at)
        if at < 0:
            break
        after = at + 1
    if at < 0 and text[first - 1 : first] == "\n":
        after = first
    if after < 0:  # the rest is one line
        return *beginning(text, limits), ""
    tail = _narrow(text[after:end], limits.chars // 2)
    if after == first:
        return text[:first] + tail, 0, 0, ""
    return text[:first], text.count("\n", first, after), after - first, tail


def _end_of_lines(text: str, lines: int, most: int) -> int:
    """Return the index after the first lines of a text, at most `most`."""
    at = 0
    for _ in range(lines):
        at = text.find("\n", at, most) + 1
        if not at:
            return min(most, len(text))
    return at


def _narrow(text: str, chars: int) -> str:
    """Cut the longest lines of a text that has more characters."""
    if len(text) <= chars:
        return text
    lines = text.split("\n")
    most = chars // len(lines)
    return "\n".join(
        one if len(one) <= most else f"{one[:most]} … {len(one) - most:,} more characters" for one in lines
    )


def joined(ends: Ends) -> tuple[str, int, str]:
    """Return the rows of a screen as text: the beginning, the number of lines left out, and the end."""
    first, between, last = ends
    return "\n".join(first), between, "\n".join(last)


def hunks(piece: Piece) -> list[CutHunk]:
    """Return what is sent of a change: all of it, its hunks, or its beginning."""
    old, new = piece.old_text or "", piece.new_text
    if len(old) + len(new) <= DIFF_CHARS:
        return [CutHunk(piece)]
    narrow = _narrowed(piece, old, new)
    old, new = narrow.old_text or "", narrow.new_text
    if len(old) + len(new) <= DIFF_CHARS:
        return [CutHunk(narrow)]
    if old and new and len(old) + len(new) <= DIFF_SEARCH_CHARS:
        return _found(narrow, lines_with_ends(old), lines_with_ends(new))
    return [_first_lines(narrow, old, new)]


def _narrowed(piece: Piece, old: str, new: str) -> Piece:
    """Remove the equal lines at the beginning and the end of a change, except for the context."""
    if piece.old_text is None or not (old and new):
        return piece
    start = _lines_before(old, old.rfind("\n", 0, common_head(old, new)) + 1)
    tail = common_tail(old, new, start)
    tail = len(old) - _lines_after(old, len(old) - tail)
    line = None if piece.line is None else piece.line + old.count("\n", 0, start)
    return Piece(old[start : len(old) - tail], new[start : len(new) - tail], line)


def _lines_before(text: str, at: int) -> int:
    """Return the offset of the context before the line at offset `at`."""
    for _ in range(DIFF_CONTEXT):
        at = text.rfind("\n", 0, max(at - 1, 0)) + 1
    return at


def _lines_after(text: str, at: int) -> int:
    for _ in range(DIFF_CONTEXT + 1):  # the first is the rest of a changed line
        at = text.find("\n", at) + 1 or len(text)
    return at


def _found(piece: Piece, old: list[str], new: list[str]) -> list[CutHunk]:
    """Return the first hunks within `DIFF_LINES`; the last one counts the lines left out."""
    shown: list[CutHunk] = []
    room, hidden = DIFF_LINES, 0
    for group in _groups(list(differences(old, new))):
        first, last = group[0], group[-1]
        before = min(DIFF_CONTEXT, first.i1)
        i1, i2, j1, j2 = first.i1 - before, last.i2 + DIFF_CONTEXT, first.j1 - before, last.j2 + DIFF_CONTEXT
        size = min(i2, len(old)) - i1 + sum(one.j2 - one.j1 for one in group)
        if shown and size > room:
            room, hidden = 0, hidden + size
            continue
        room -= size
        line = None if piece.line is None else piece.line + i1
        part = Piece("".join(old[i1:i2]), "".join(new[j1:j2]), line)
        shown.append(_first_lines(part, part.old_text or "", part.new_text))
    if shown and hidden:
        shown[-1] = CutHunk(shown[-1].piece, shown[-1].lines + hidden)
    return shown


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    """Group the differences whose contexts overlap."""
    starts = [0, *(n for n, (a, b) in enumerate(pairwise(blocks), 1) if b.i1 - a.i2 > 2 * DIFF_CONTEXT), len(blocks)]
    return (blocks[a:b] for a, b in pairwise(starts) if a < b)


def _first_lines(piece: Piece, old: str, new: str) -> CutHunk:
    if len(old) + len(new) <= DIFF_CHARS:
        return CutHunk(piece)
    limits = TextLimits(DIFF_LINES, DIFF_CHARS // 2)
    (old, old_rest, _), (new, new_rest, _) = beginning(old, limits), beginning(new, limits)
    return CutHunk(Piece(None if piece.old_text is None else old, new, piece.line), max(old_rest, new_rest))


class TurnText:
    """Counts the bytes of the agent's messages since the user's last prompt."""

    def __init__(self) -> None:
        self._size = 0

    def begin(self) -> None:
        """Reset the count, as the user begins a turn."""
        self._size = 0

    def take(self, text: str, replaced: int = 0) -> str:
        """Count a text, instead of `replaced` bytes, and return what is kept of it; the last one ends in `TOO_LONG`.

        Return "" if nothing is kept; then the replaced text stays.
        """
        room = TURN_TEXT_BYTES - self._size + replaced
        if room < 0:
            return ""
        size = len(text.encode("utf-8", "surrogatepass"))
        self._size += size - replaced
        return text if size <= room else text[:room] + TOO_LONG
