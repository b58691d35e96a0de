"""Applies the edits of a language server to a text (LSP "Text Edit")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from acp_nvim.ui.editor import LspEdit
from acp_nvim.workspace.refusals import FileRefusedError

BOM: Final = "\ufeff"


def applied(text: str, edits: Sequence[LspEdit], encoding: str) -> str:
    """Return `text` with all edits, which refer to the original text; `encoding` as in `WorkspaceEdit`.

    The new texts get the line ends of `text`. Positions beyond a line or the text are moved to its end. Raises
    `FileRefusedError` if two edits overlap.
    """
    mark = BOM if text.startswith(BOM) else ""
    body = text[len(mark) :]
    eol = _line_end(body)
    last = eol[-1]
    starts = [0]
    at = body.find(last)
    while at >= 0:
        starts.append(at + 1)
        at = body.find(last, at + 1)
    found = []
    for one in edits:
        begin = _offset(body, starts, eol, one.line, one.character, encoding)
        end = _offset(body, starts, eol, one.end_line, one.end_character, encoding)
        new = one.text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", eol)
        found.append((min(begin, end), max(begin, end), new))
    found.sort(key=lambda one: (one[0], one[1]))  # stable: insertions at one place keep their order
    pieces, done = [mark], 0
    for begin, end, new in found:
        if begin < done:
            raise FileRefusedError("the language server sent edits that overlap")
        pieces += [body[done:begin], new]
        done = end
    return "".join([*pieces, body[done:]])


def _line_end(text: str) -> str:
    """Return the line end of a text as Neovim sees it; in a text with several kinds, a CR is part of its line."""
    newlines = text.count("\n")
    if not newlines:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text.count("\r\n") == newlines else "\n"


def _offset(text: str, starts: Sequence[int], eol: str, line: int, character: int, encoding: str) -> int:
    """Return the index in `text` of a position."""
    if line >= len(starts):
        return len(text)
    begin = starts[line]
    end = starts[line + 1] - len(eol) if line + 1 < len(starts) else len(text)
    if encoding == "utf-32":
        return min(begin + character, end)
    units = 0
    for index in range(begin, end):
        if units >= character:
            return index
        code = ord(text[index])
        if encoding == "utf-16":
            units += 2 if code > 0xFFFF else 1
        else:
            units += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    return end
