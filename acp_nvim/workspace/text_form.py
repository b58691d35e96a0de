"""Two texts taken apart so that their lines can be compared: the lines, and the form that each text has beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from acp_nvim.workspace.encoding import BOM
from acp_nvim.workspace.text_shape import MIXED, is_mac

_END_OF: Final = {"unix": "\n", "dos": "\r\n", "mac": "\r"}
_NAMES: Final = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


class TextForm(msgspec.Struct, frozen=True):
    """What of a text is in no line. Where kinds of line ends are mixed, `end` is a newline, and lines keep their CR."""

    bom: bool
    end: str
    ended: bool

    def text(self, lines: Sequence[str]) -> str:
        """Join lines to the whole text, with byte order mark and line ends as this form has them."""
        return (BOM if self.bom else "") + self.end.join(lines) + (self.end if lines and self.ended else "")

    def fitting(self, lines: Sequence[str]) -> TextForm:
        """The form in which none of these lines is lost: an empty last one is one by its end."""
        return TextForm(self.bom, self.end, ended=True) if lines and not lines[-1] else self

    def has_ends(self, lines: Sequence[str]) -> bool:
        """Whether there is any line end in the text of these lines."""
        return len(lines) > 1 or (len(lines) == 1 and self.ended)


def ends(texts: Sequence[str], fileformat: str | None) -> list[str]:
    """What the lines of each text are to be split at, so that lines that are the same have the same characters.

    The last text is the buffer's; `fileformat` is the option that the buffer has, None: what Neovim takes by default,
    for which a carriage return alone ends no line.
    """
    kinds = [_kind(text, fileformat == "mac") for text in texts]
    kinds[-1] = kinds[-1] or _END_OF.get(fileformat or "", "")
    if MIXED in kinds or (fileformat == "unix" and kinds[-1] == "\r\n"):
        kinds = ["\n" if kind in (MIXED, "\r\n") else kind for kind in kinds]
    usual = next(filter(None, reversed(kinds)), "\n")
    return [kind or usual for kind in kinds]


def hides_returns(text: str, end: str, fileformat: str | None) -> bool:
    """Whether a buffer with that text has no carriage returns in its lines, but those have that are split at `end`."""
    kind = _kind(text, mac=False)
    return end == "\n" and (kind, fileformat) in (("\r\n", None), ("\r\n", "dos"), ("", "dos"))


def split(text: str, end: str) -> tuple[TextForm, list[str]]:
    """The form and the lines of a text; what has no line counts as ended."""
    bom = text.startswith(BOM)
    lines = (text[len(BOM) :] if bom else text).split(end)
    ended = not lines[-1]
    return TextForm(bom, end, ended), lines[:-1] if ended else lines


def settled(form: TextForm, lines: Sequence[str], other: TextForm) -> TextForm:
    """`form`; where there is no line, the last one would end as in the other text."""
    return form if lines else TextForm(form.bom, form.end, other.ended)


def carried(base: TextForm, old: TextForm, new: TextForm) -> TextForm:
    """`base` with what was changed from `old` to `new`."""
    return TextForm(
        new.bom if new.bom != old.bom else base.bom,
        new.end if new.end != old.end else base.end,
        new.ended if new.ended != old.ended else base.ended,
    )


def in_words(base: TextForm, base_lines: Sequence[str], current: TextForm, lines: Sequence[str]) -> str | None:
    """How the forms differ, as far as texts of these lines show it; None when they do not."""
    words = []
    if base.end != current.end and base.has_ends(base_lines) and current.has_ends(lines):
        words.append(f"line ends: {_NAMES[base.end]} -> {_NAMES[current.end]}")
    if base.bom != current.bom:
        words.append(f"byte order mark {'added' if current.bom else 'removed'}")
    if base_lines and lines and base.ended != current.ended:
        words.append("end of the last line added" if current.ended else "no end of the last line")
    return ", ".join(words) or None


def _kind(text: str, mac: bool) -> str:
    """How lines end; "" for a text without a line end."""
    if "\r" not in text:
        return "\n" if "\n" in text else ""
    if mac and is_mac(text):
        return "\r"
    newlines, pairs = text.count("\n"), text.count("\r\n")
    if pairs and pairs < newlines:
        return MIXED
    return ("\r\n" if pairs else "\n") if newlines else ""
