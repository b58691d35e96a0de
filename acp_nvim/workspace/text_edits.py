"""Applies the edits of a language server to a text (LSP "Text Edit"), also to names that are not saved."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from acp_nvim.contract.editor import LspEdit
from acp_nvim.workspace.line_differences import differences
from acp_nvim.workspace.refusals import FileRefusedError

BOM: Final = "\ufeff"
BLOCK: Final = 1024
"""Characters of a line that are counted one by one."""

ANY_NAME: Final = "\0"
"""Stands for either name where texts are compared: it is in no text that is edited."""


def applied(text: str, edits: Sequence[LspEdit], encoding: str, is_unended: bool = False) -> str:
    """Return `text` with all edits, which refer to the original text; `encoding` as in `WorkspaceEdit`.

    The new texts get the line ends of `text`. Positions beyond a line or the text are moved to its end. With
    `is_unended` the edits refer to `text` without the line end at its end, and the result has one. Raises
    `FileRefusedError` if two edits overlap.
    """
    mark = BOM if text.startswith(BOM) else ""
    body = text[len(mark) :]
    eol = _line_end(body)
    is_unended = is_unended and body.endswith(eol)
    if is_unended:
        body = body.removesuffix(eol)
    lines = _Lines(body, eol, encoding)
    found = []
    for one in edits:
        begin = lines.offset(one.line, one.character)
        end = lines.offset(one.end_line, one.end_character)
        new = one.text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", eol)
        found.append((min(begin, end), max(begin, end), new))
    found.sort(key=lambda one: (one[0], one[1]))  # stable: insertions at one place keep their order
    pieces, done = [mark], 0
    for begin, end, new in found:
        if begin < done:
            raise FileRefusedError("the language server sent edits that overlap")
        pieces += [body[done:begin], new]
        done = end
    after = "".join([*pieces, body[done:]])
    return after + eol if is_unended and not after.endswith(eol) else after


def _line_end(text: str) -> str:
    """Return the line end of a text as Neovim sees it; in a text with several kinds, a CR is part of its line."""
    newlines = text.count("\n")
    if not newlines:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text.count("\r\n") == newlines else "\n"


class _Lines:
    """The lines of a text, in which positions of the language server are found."""

    def __init__(self, text: str, eol: str, encoding: str) -> None:
        self._text = text
        self._eol = eol
        self._encoding = encoding
        self._is_ascii = text.isascii()
        self._blocks: dict[int, list[int]] = {}
        self._starts = [0]
        at = text.find(eol[-1])
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find(eol[-1], at + 1)

    def offset(self, line: int, character: int) -> int:
        """Return the index in the text of a position; one inside of a character is moved to its end."""
        if line >= len(self._starts):
            return len(self._text)
        begin = self._starts[line]
        is_last = line + 1 == len(self._starts)
        end = len(self._text) if is_last else self._starts[line + 1] - len(self._eol)
        if self._encoding == "utf-32" or self._is_ascii:
            return min(begin + character, end)
        units = self._units_before(line, begin, end)
        block = bisect_right(units, character) - 1
        at, found = begin + block * BLOCK, units[block]
        while at < end and found < character:
            found += units_of(self._text[at], self._encoding)
            at += 1
        return at

    def _units_before(self, line: int, begin: int, end: int) -> list[int]:
        """Return the units before each block of a line: a line may be long, and have thousands of positions."""
        if line not in self._blocks:
            found = [0]
            for at in range(begin, end - BLOCK, BLOCK):
                found.append(found[-1] + sum(units_of(one, self._encoding) for one in self._text[at : at + BLOCK]))
            self._blocks[line] = found
        return self._blocks[line]


def units_of(character: str, encoding: str) -> int:
    """Return how many units of an encoding, as in `WorkspaceEdit`, a character has."""
    code = ord(character)
    if encoding == "utf-16":
        return 2 if code > 0xFFFF else 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


class UnsavedNameError(Exception):
    """A line that is not saved has the old name, and it is not known whether the same symbol is meant."""


def with_unsaved(saved: str, text: str, after: str, names: tuple[str, str]) -> str:
    """Return `text` renamed, where `after` is what the language server made; `names` are the old and the new name.

    If it ignored what is not saved, `after` is the saved text renamed: then its lines replace those that are the same
    in `saved` and `text`. Raises `UnsavedNameError`.
    """
    either = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    plain = [either.sub(ANY_NAME, one) for one in (saved, text, after)]
    if plain[0] != plain[2] or plain[0] == plain[1]:
        return after
    old, new, renamed = (one.split("\n") for one in (saved, text, after))
    has_old_name = re.compile(rf"\b{re.escape(names[0])}\b").search
    lines, done = [], 0
    for block in differences(old, new):
        lines += renamed[done : block.i1]
        own = new[block.j1 : block.j2]
        if any(map(has_old_name, own)):
            raise UnsavedNameError
        lines += own
        done = block.i2
    return "\n".join([*lines, *renamed[done:]])
