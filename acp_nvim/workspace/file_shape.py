"""What a file keeps when an agent writes it: byte order mark, kind of line ends, and the end of the last line."""

from __future__ import annotations

import re

import msgspec

from acp_nvim.workspace.encoding import BOM
from acp_nvim.workspace.text_shape import is_mac

_END_OF = {"unix": "\n", "dos": "\r\n", "mac": "\r"}
_LAST_END = re.compile(r"(?<=[^\r\n])(?:\r\n|\n|\r)\Z")
"""The end of a last line that is not empty: an empty one would not be there without its end."""


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
