"""Compares what a tool call shows of a change with the text of its file: where it is, and what it would overwrite."""

from __future__ import annotations

from typing import Final

import msgspec

from acp_nvim.acp.diff import FileChange, Piece
from acp_nvim.workspace.encoding import BOM
from acp_nvim.workspace.line_differences import differences
from acp_nvim.workspace.text_shape import lines_with_ends

OVERWRITE: Final = "overwrite"
"""The operation of a change that an agent calls a new file, although there is such a file."""


def overwriting(text: str, change: FileChange) -> FileChange | None:
    """Return what a change that "adds" a file with this `text` does to it; None if the file is like that already."""
    new = "".join(piece.new_text for piece in change.pieces)
    old = _plain(text)
    if old == _plain(new):
        return None
    blocks = list(differences(lines_with_ends(old), lines_with_ends(_plain(new))))
    added, removed = sum(one.j2 - one.j1 for one in blocks), sum(one.i2 - one.i1 for one in blocks)
    note = f"+{added} −{removed}"
    return msgspec.structs.replace(change, operation=OVERWRITE, pieces=(Piece(old, new, 1),), note=note)


def placed(text: str | None, change: FileChange, line: int | None) -> FileChange:
    """Return the change with the first line of each piece, where it is known: its only place in the `text` of the file.

    `line` is where the agent says that the change is, which counts for a single piece that is not found.
    """
    found: list[Piece] = []
    growth = 0
    now = None if text is None else _plain(text)
    for piece in change.pieces:
        at = piece.line or (_line_of(now, piece, growth) if now is not None else None)
        if at is None and len(change.pieces) == 1:
            at = line
        found.append(msgspec.structs.replace(piece, line=at))
        growth += piece.new_text.count("\n") - (piece.old_text or "").count("\n")
    return msgspec.structs.replace(change, pieces=tuple(found))


def _line_of(text: str, piece: Piece, growth: int) -> int | None:
    """Return the line of the old text; `growth` lines came before it if the change is made already."""
    if not piece.old_text:
        return 1 if piece.old_text is None else None
    old = _plain(piece.old_text)
    at = _only(text, old)
    if at is not None or old in text:
        return at
    at = _only(text, _plain(piece.new_text))
    return None if at is None or at <= growth else at - growth


def _only(text: str, part: str) -> int | None:
    """Return the line of a part that is in the text once; agents leave out the end of the last line."""
    for one in (part, part.removesuffix("\n")) if part.strip() else ():
        at = text.find(one)
        if at >= 0:
            return None if text.find(one, at + 1) >= 0 else text.count("\n", 0, at) + 1
    return None


def _plain(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")
