"""Splits texts into lines, and describes their shape: byte order mark, line ends, the end of the last line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.workspace.encoding import BOM

MIXED: Final = "mixed"
"""The kind of a text that has line ends of several kinds."""

_ENDS: Final = pattern("(\r\n|\n)")
_ENDS_WITH_LONE_CR: Final = pattern("(\r\n|\n|\r)")

_END_OF: Final = {"unix": "\n", "dos": "\r\n", "mac": "\r"}
"""Line ends by 'fileformat'."""
_NAMES: Final = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}

_LAST_END = pattern(r"(?<=[^\r\n])(?:\r\n|\n|\r)\Z")
"""The end of a last line that is not empty: without its end, an empty line would not exist."""


class TextShape(msgspec.Struct, frozen=True):
    """A text as lines without their ends, and the end of each line. Only the last end can be empty."""

    bom: bool
    lines: list[str]
    ends: list[str]

    @property
    def kind(self) -> str:
        """The line end: `"\\n"`, `"\\r\\n"`, `"\\r"` or `MIXED`; `""` for a text without a line end."""
        kinds = set(self.ends) - {""}
        return MIXED if len(kinds) > 1 else "".join(kinds)

    @property
    def ended(self) -> bool | None:
        """Whether the last line has an end; None for a text without lines."""
        return bool(self.ends[-1]) if self.ends else None


def is_mac(text: str) -> bool:
    """Whether `text` has carriage returns and no newline, so that a carriage return alone ends a line."""
    return "\r" in text and "\n" not in text


def take_apart(text: str, lone_cr: bool | None = None) -> TextShape:
    """Split `text`. `lone_cr`: whether a carriage return alone ends a line; by default if `is_mac(text)`."""
    bom = text.startswith(BOM)
    lines, ends = _split(text.removeprefix(BOM), is_mac(text) if lone_cr is None else lone_cr)
    if lines[-1]:
        return TextShape(bom, lines, [*ends, ""])
    return TextShape(bom, lines[:-1], ends)  # after the last end there is no line


def _split(text: str, lone_cr: bool) -> tuple[list[str], list[str]]:
    if "\r" not in text:  # three times as fast
        pieces = text.split("\n")
        return pieces, ["\n"] * (len(pieces) - 1)
    pieces = (_ENDS_WITH_LONE_CR if lone_cr else _ENDS).split(text)
    return pieces[::2], pieces[1::2]


def put_together(bom: bool, lines: list[str], ends: list[str]) -> str:
    """Join `lines` with their `ends` (of equal number), behind a byte order mark if `bom`."""
    return (BOM if bom else "") + "".join([piece for pair in zip(lines, ends, strict=True) for piece in pair])


def lines_with_ends(text: str) -> list[str]:
    """Return the lines of `text`, each with its end; a byte order mark belongs to the first line."""
    shape = take_apart(text)
    lines = [line + end for line, end in zip(shape.lines, shape.ends, strict=True)]
    if shape.bom:
        lines[:1] = [BOM + "".join(lines[:1])]
    return lines


class TextForm(msgspec.Struct, frozen=True):
    """The properties of a text that no line shows: byte order mark, line end, whether the last line is ended.

    If kinds of line ends are mixed, `end` is a newline where lines keep their CR (`split`), and "" for a file that an
    agent writes (`of_buffer`, `of_file`), as for one without a line end.
    """

    bom: bool
    end: str
    ended: bool

    def text(self, lines: Sequence[str]) -> str:
        """Join lines to the whole text, with byte order mark and line ends as this form has them."""
        return (BOM if self.bom else "") + self.end.join(lines) + (self.end if lines and self.ended else "")

    def fitting(self, lines: Sequence[str]) -> TextForm:
        """Return the form in which all these lines survive: an empty last line exists only by its end."""
        return TextForm(self.bom, self.end, ended=True) if lines and not lines[-1] else self

    def has_ends(self, lines: Sequence[str]) -> bool:
        """Whether there is any line end in the text of these lines."""
        return len(lines) > 1 or (len(lines) == 1 and self.ended)

    def applied(self, text: str) -> str:
        """Return `text` as a file of this form stores it.

        A missing byte order mark is added. Plain newlines become the file's line ends; a text with a carriage return
        anywhere keeps its line ends, because its author chose them.
        """
        bom = BOM if self.bom or text.startswith(BOM) else ""
        lines = text.removeprefix(BOM)
        if self.end not in ("", "\n") and "\r" not in lines:
            lines = lines.replace("\n", self.end)
        if not self.ended:
            lines = _LAST_END.sub("", lines)
        elif lines and not lines.endswith("\r" if is_mac(lines) else "\n"):
            lines += _single_kind(lines) or ("\n" if "\n" in lines else self.end or "\n")
        return bom + lines


def of_buffer(text: str, fileformat: str | None, fixeol: bool) -> TextForm:
    """Return the form of a buffer with this text.

    `fileformat` is the option; it decides only when the text has no newline. `fixeol`: `:write` ends the last line.
    """
    end = _single_kind(text) if "\n" in text else _END_OF.get(fileformat or "", "")
    return TextForm(text.startswith(BOM), end, fixeol or _is_ended(text))


def of_file(text: str, fixeol: bool, mac: bool) -> TextForm:
    """Return the form of a file with this text that is in no buffer.

    `fixeol` and `mac` say what its buffer would have: 'fixendofline', and "mac" in 'fileformats'.
    """
    end = _single_kind(text) if "\n" in text or mac else ""
    return TextForm(text.startswith(BOM), end, fixeol or _is_ended(text))


def ends(texts: Sequence[str], fileformat: str | None) -> list[str]:
    """Return the separator to split each text at, such that equal lines get equal characters.

    The last text is the buffer's; `fileformat` is its option, or None for Neovim's default, with which a carriage
    return alone does not end a line.
    """
    kinds = [_kind(text, fileformat == "mac") for text in texts]
    kinds[-1] = kinds[-1] or _END_OF.get(fileformat or "", "")
    if MIXED in kinds or (fileformat == "unix" and kinds[-1] == "\r\n"):
        kinds = ["\n" if kind in (MIXED, "\r\n") else kind for kind in kinds]
    usual = next(filter(None, reversed(kinds)), "\n")
    return [kind or usual for kind in kinds]


def hides_returns(text: str, end: str, fileformat: str | None) -> bool:
    """Whether lines of `text` split at `end` have carriage returns that the lines of its buffer do not show."""
    kind = _kind(text, mac=False)
    return end == "\n" and (kind, fileformat) in (("\r\n", None), ("\r\n", "dos"), ("", "dos"))


def split(text: str, end: str) -> tuple[TextForm, list[str]]:
    """Split a text at `end` into its form and its lines; a text without lines counts as ended."""
    bom = text.startswith(BOM)
    lines = text.removeprefix(BOM).split(end)
    ended = not lines[-1]
    return TextForm(bom, end, ended), lines[:-1] if ended else lines


def settled(form: TextForm, lines: Sequence[str], other: TextForm) -> TextForm:
    """Return `form`; if there are no lines, with `ended` from the other text."""
    return form if lines else TextForm(form.bom, form.end, other.ended)


def carried(base: TextForm, old: TextForm, new: TextForm) -> TextForm:
    """Apply the changes from `old` to `new` to `base`."""
    return TextForm(
        new.bom if new.bom != old.bom else base.bom,
        new.end if new.end != old.end else base.end,
        new.ended if new.ended != old.ended else base.ended,
    )


def in_words(base: TextForm, base_lines: Sequence[str], current: TextForm, lines: Sequence[str]) -> str | None:
    """Describe how the forms differ, as far as texts of these lines show it; None when they do not differ."""
    words = []
    if base.end != current.end and base.has_ends(base_lines) and current.has_ends(lines):
        words.append(f"line ends: {_NAMES[base.end]} -> {_NAMES[current.end]}")
    if base.bom != current.bom:
        words.append(f"byte order mark {'added' if current.bom else 'removed'}")
    if base_lines and lines and base.ended != current.ended:
        words.append("end of the last line added" if current.ended else "no end of the last line")
    return ", ".join(words) or None


def _kind(text: str, mac: bool) -> str:
    """The line end of `text`, or `MIXED`; "" for a text without one. `mac`: a lone carriage return may end lines."""
    if "\r" not in text:
        return "\n" if "\n" in text else ""
    if mac and is_mac(text):
        return "\r"
    newlines, pairs = text.count("\n"), text.count("\r\n")
    if pairs and pairs < newlines:
        return MIXED
    return ("\r\n" if pairs else "\n") if newlines else ""


def _single_kind(text: str) -> str:
    """The only kind of line end in `text`; "" for several or none."""
    kind = _kind(text, mac=True)
    if kind == "\r\n" and text.count("\n") == 1 < text.count("\r"):
        return ""  # a mac file in a buffer whose only line 'fixendofline' ended
    return "" if kind == MIXED else kind


def _is_ended(text: str) -> bool:
    """Whether the last line has its end; also true without a line: Neovim would end it."""
    return text in ("", BOM) or text.endswith("\r" if is_mac(text) else "\n")
