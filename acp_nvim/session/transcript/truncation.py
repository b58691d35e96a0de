"""Makes of what tool calls show as much as fits: the beginning of a text, the first hunks of a change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from acp_nvim.acp.diff import Piece
from acp_nvim.limits import REQUEST_TEXT_LINES
from acp_nvim.workspace.line_differences import Block, common_head, common_tail, differences
from acp_nvim.workspace.text_shape import lines_with_ends

CALL_TEXT_LINES: Final = 21
"""Lines told of a text in a tool call: the chat shows 20 and counts the others, or shows all 21."""
CALL_TEXT_CHARS: Final = 8 * 1024
"""Characters told of it, whatever its lines are."""
REQUEST_TEXT_CHARS: Final = 512 * 1024
"""Its characters: Linux takes no longer command line than a quarter of that."""
DIFF_CHARS: Final = 16 * 1024
"""Of the old and new text of a change that is told as it came; of a larger one, hunks: the chat shows 60 lines."""
DIFF_SEARCH_CHARS: Final = 256 * 1024
"""Of the texts in which all hunks are looked for: 5 ms; of larger ones the beginning of the change is told."""
DIFF_LINES: Final = 100
"""Lines told of a change that is cut: the chat shows 60."""
DIFF_CONTEXT: Final = 3
"""Lines around a hunk, as everywhere."""
DETAILS_CHARS: Final = 4 * 1024 * 1024
"""Of one text in the details of a tool call, which the user asks for: Neovim shows that within 0.1 s."""


class TextLimits(msgspec.Struct, frozen=True):
    """How many lines and characters of one text are told, and whether large changes are told in hunks."""

    lines: int
    chars: int
    cuts_diffs: bool = True


IN_CHAT = TextLimits(CALL_TEXT_LINES, CALL_TEXT_CHARS)
IN_REQUEST = TextLimits(REQUEST_TEXT_LINES, REQUEST_TEXT_CHARS)
WHOLE = TextLimits(DETAILS_CHARS, DETAILS_CHARS, cuts_diffs=False)


class CutHunk(msgspec.Struct, frozen=True):
    """A part of a change; it goes on for so many `lines` after this one, which are not told."""

    piece: Piece
    lines: int = 0


def beginning(text: str, limits: TextLimits) -> tuple[str, int, int]:
    """Return as much of `text` as `limits` allow, and how many lines and characters follow."""
    if len(text) <= limits.chars and text.count("\n") < limits.lines:
        return text, 0, 0
    begun = text[: limits.chars]
    lines = begun.split("\n", limits.lines)
    end = len(begun) - (len(lines[-1]) if len(lines) > limits.lines else 0)
    rest = len(text) - end
    return text[:end], text.count("\n", end, len(text) - 1) + 1 if rest else 0, rest


def hunks(piece: Piece) -> list[CutHunk]:
    """What there is room for of a change: all of it, its hunks, or its beginning."""
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
    """Without the lines at its beginning and its end that are the same, but for a few."""
    if piece.old_text is None or not (old and new):
        return piece
    start = _lines_before(old, old.rfind("\n", 0, common_head(old, new)) + 1)
    tail = common_tail(old, new, start)
    tail = len(old) - _lines_after(old, len(old) - tail)
    line = (piece.line or 1) + old.count("\n", 0, start)
    return Piece(old[start : len(old) - tail], new[start : len(new) - tail], line)


def _lines_before(text: str, at: int) -> int:
    """Where the lines begin that stand before that line, as many as a hunk has around it."""
    for _ in range(DIFF_CONTEXT):
        at = text.rfind("\n", 0, max(at - 1, 0)) + 1
    return at


def _lines_after(text: str, at: int) -> int:
    for _ in range(DIFF_CONTEXT + 1):  # the first is the rest of one that differs
        at = text.find("\n", at) + 1 or len(text)
    return at


def _found(piece: Piece, old: list[str], new: list[str]) -> list[CutHunk]:
    """Hunk by hunk; the last one that there is room for knows how many lines the others have."""
    told: list[CutHunk] = []
    room, hidden = DIFF_LINES, 0
    for group in _groups(list(differences(old, new))):
        first, last = group[0], group[-1]
        before = min(DIFF_CONTEXT, first.i1)
        i1, i2, j1, j2 = first.i1 - before, last.i2 + DIFF_CONTEXT, first.j1 - before, last.j2 + DIFF_CONTEXT
        size = min(i2, len(old)) - i1 + sum(one.j2 - one.j1 for one in group)
        if told and size > room:
            room, hidden = 0, hidden + size
            continue
        room -= size
        part = Piece("".join(old[i1:i2]), "".join(new[j1:j2]), (piece.line or 1) + i1)
        told.append(_first_lines(part, part.old_text or "", part.new_text))
    if told and hidden:
        told[-1] = CutHunk(told[-1].piece, told[-1].lines + hidden)
    return told


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    """Those whose contexts meet."""
    starts = [0, *(n for n, (a, b) in enumerate(pairwise(blocks), 1) if b.i1 - a.i2 > 2 * DIFF_CONTEXT), len(blocks)]
    return (blocks[a:b] for a, b in pairwise(starts) if a < b)


def _first_lines(piece: Piece, old: str, new: str) -> CutHunk:
    if len(old) + len(new) <= DIFF_CHARS:
        return CutHunk(piece)
    limits = TextLimits(DIFF_LINES, DIFF_CHARS // 2)
    (old, old_rest, _), (new, new_rest, _) = beginning(old, limits), beginning(new, limits)
    return CutHunk(Piece(None if piece.old_text is None else old, new, piece.line), max(old_rest, new_rest))


TURN_TEXT_BYTES: Final = 10 * 1024 * 1024
"""Text of the messages of one turn that is kept: 100,000 lines; what follows is left out. A book has 1 MB.

A conversation that is told again is one turn, too. The host and Neovim together take four times as much memory.
"""


TOO_LONG = f"\n… and more: of the messages of one turn {TURN_TEXT_BYTES // 1024 // 1024} MB are kept\n"


class TurnText:
    """Counts the bytes of the agent's messages since the user's last prompt."""

    def __init__(self) -> None:
        self._size = 0

    def __repr__(self) -> str:
        return f"<TurnText {self._size} bytes>"

    def begin(self) -> None:
        """Count from nothing how much text a turn has: the user prompts."""
        self._size = 0

    def take(self, text: str, replaced: int = 0) -> str:
        """As much of `text` as is kept, in the place of so many bytes; the last text that is kept says that more came.

        Empty when nothing is kept of it: then what it would have replaced stays.
        """
        room = TURN_TEXT_BYTES - self._size + replaced
        if room < 0:
            return ""
        size = len(text.encode("utf-8", "surrogatepass"))
        self._size += size - replaced
        return text if size <= room else text[:room] + TOO_LONG
