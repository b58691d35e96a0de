"""A text taken apart into what merges by itself: the byte order mark, the lines, and how each of them ends."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from acp_nvim.workspace.encoding import BOM

"""The byte order mark, at the beginning of a text."""

MIXED: Final = "mixed"
"""The kind of a text that has line ends of several kinds."""

_ENDS: Final = re.compile("(\r\n|\n)")
_ENDS_WITH_LONE_CR: Final = re.compile("(\r\n|\n|\r)")


class TextShape(msgspec.Struct, frozen=True):
    """Lines without their ends, and as many ends; only the last can be empty, and then its line is not."""

    bom: bool
    lines: list[str]
    ends: list[str]

    @property
    def kind(self) -> str:
        """How lines end: `"\\n"`, `"\\r\\n"`, `"\\r"`, `MIXED`; `""` for a text without a line end."""
        kinds = {*self.ends[:-1], *self.ends[-1:]} - {""}
        return MIXED if len(kinds) > 1 else "".join(kinds)

    @property
    def ended(self) -> bool | None:
        """Whether the last line has an end; None without a line."""
        return bool(self.ends[-1]) if self.ends else None


def is_mac(text: str) -> bool:
    """Whether a carriage return alone ends the lines of `text`: it has some, and no newline."""
    return "\r" in text and "\n" not in text


def take_apart(text: str, lone_cr: bool | None = None) -> TextShape:
    """The parts of `text`. A lone carriage return ends a line if `lone_cr` says so; None: if `is_mac` does."""
    bom = text.startswith(BOM)
    rest = text[len(BOM) :] if bom else text
    lines, ends = _split(rest, is_mac(text) if lone_cr is None else lone_cr)
    if lines[-1]:
        return TextShape(bom, lines, [*ends, ""])
    return TextShape(bom, lines[:-1], ends)  # what follows the last end is no line


def _split(text: str, lone_cr: bool) -> tuple[list[str], list[str]]:
    """The pieces of `text`, and what stands between them."""
    if "\r" not in text:  # three times as fast
        pieces = text.split("\n")
        return pieces, ["\n"] * (len(pieces) - 1)
    pieces = (_ENDS_WITH_LONE_CR if lone_cr else _ENDS).split(text)
    return pieces[::2], pieces[1::2]


def put_together(bom: bool, lines: list[str], ends: list[str]) -> str:
    """The text of these parts."""
    return (BOM if bom else "") + "".join([piece for pair in zip(lines, ends, strict=True) for piece in pair])


def lines_with_ends(text: str) -> list[str]:
    """The lines of `text` as an editor counts them, each with its end; a byte order mark belongs to the first."""
    shape = take_apart(text)
    lines = [line + end for line, end in zip(shape.lines, shape.ends, strict=True)]
    if shape.bom:
        lines[:1] = [BOM + "".join(lines[:1])]
    return lines
