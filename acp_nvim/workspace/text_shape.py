"""A text taken apart: byte order mark, lines, how each ends; and what of that a file keeps when an agent writes it."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from acp_nvim.workspace.encoding import BOM

MIXED: Final = "mixed"
"""The kind of a text that has line ends of several kinds."""

_ENDS: Final = re.compile("(\r\n|\n)")
_ENDS_WITH_LONE_CR: Final = re.compile("(\r\n|\n|\r)")

_END_OF = {"unix": "\n", "dos": "\r\n", "mac": "\r"}

_LAST_END = re.compile(r"(?<=[^\r\n])(?:\r\n|\n|\r)\Z")
"""The end of a last line that is not empty: an empty one would not be there without its end."""


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
    """Join `lines` with their `ends` (of equal number), behind a byte order mark if `bom`."""
    return (BOM if bom else "") + "".join([piece for pair in zip(lines, ends, strict=True) for piece in pair])


def lines_with_ends(text: str) -> list[str]:
    """The lines of `text` as an editor counts them, each with its end; a byte order mark belongs to the first."""
    shape = take_apart(text)
    lines = [line + end for line, end in zip(shape.lines, shape.ends, strict=True)]
    if shape.bom:
        lines[:1] = [BOM + "".join(lines[:1])]
    return lines


class FileShape(msgspec.Struct, frozen=True):
    """How a file stores its lines.

    `end` is the one kind of line end that the file has, or "" for a file that has several or none; `ended` says
    whether the last line gets one.
    """

    bom: bool
    end: str
    ended: bool

    def applied(self, text: str) -> str:
        """`text` as this file stores it.

        A missing byte order mark is added. Plain newlines become the file's line ends; a text that has a carriage
        return anywhere was written with care for line ends, and keeps what it has.
        """
        bom = BOM if self.bom or text.startswith(BOM) else ""
        lines = text.removeprefix(BOM)
        if "\r" not in lines and self.end:
            lines = lines.replace("\n", self.end)
        if not self.ended:
            lines = _LAST_END.sub("", lines)
        elif lines and not lines.endswith("\r" if is_mac(lines) else "\n"):
            lines += _kind(lines) or ("\n" if "\n" in lines else self.end or "\n")
        return bom + lines


def of_buffer(text: str, fileformat: str | None) -> FileShape:
    """The shape of a buffer with this text, which is what `:write` would write, so that 'fixendofline' is in it.

    `fileformat` is the option; it decides when the text has no newline, and is not needed when it has one.
    """
    end = _kind(text) if "\n" in text else _END_OF.get(fileformat or "", "")
    return FileShape(text.startswith(BOM), end, _is_ended(text))


def of_file(text: str, fixeol: bool, mac: bool) -> FileShape:
    """The shape of a file with this text that no buffer has.

    `fixeol` and `mac` are what a buffer of it would have: 'fixendofline', and whether 'fileformats' has "mac".
    """
    end = _kind(text) if "\n" in text or mac else ""
    return FileShape(text.startswith(BOM), end, fixeol or _is_ended(text))


def _kind(text: str) -> str:
    """The one kind of line end in `text`; "" for several or none."""
    if is_mac(text):
        return "\r"
    newlines, pairs = text.count("\n"), text.count("\r\n")
    if not newlines or 0 < pairs < newlines:
        return ""
    if pairs == 1 < text.count("\r"):  # a mac file in a buffer whose only line 'fixendofline' ended
        return ""
    return "\r\n" if pairs else "\n"


def _is_ended(text: str) -> bool:
    """Whether the last line has its end; also true without a line: Neovim would end it."""
    return text in ("", BOM) or text.endswith("\r" if is_mac(text) else "\n")
