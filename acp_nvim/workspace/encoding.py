"""Converts between text and bytes in the encodings of Neovim's 'fileencoding'."""

from __future__ import annotations

import codecs
import re

from acp_nvim.lazy import pattern
from acp_nvim.workspace.refusals import FileRefusedError

BOM = "\ufeff"
"""The byte order mark, as a character."""

_BINARY_PREFIX = 8 * 1024
"""Bytes searched for a NUL, as git does: text has none, unless its units are wider than a byte."""

_WIDE = pattern(r"(utf|ucs)-?(2|4|16|32)(?:-?(le|be))?")

_MARKS = (
    (codecs.BOM_UTF32_LE, "ucs-4le"),
    (codecs.BOM_UTF32_BE, "ucs-4"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Neovim's names by byte order mark; longer marks first, because one begins like another."""

_NOT_OF_FILES = {"utf-7", "hz", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-8-sig", "undefined"}
"""Python's codecs that differ from Neovim's, or drop a byte order mark."""


def with_mark(text: str, before: str, encoding: str) -> str:
    """Keep the byte order mark of `before` in `text`, if the encoding could not be detected without it."""
    return BOM + text if encoding != "utf-8" and before.startswith(BOM) and not text.startswith(BOM) else text


def decode(path: str, data: bytes, hint: str | None = None) -> tuple[str, str]:
    """Decode a file; return its text, with U+FEFF for a byte order mark, and its encoding.

    `hint` is the encoding of its buffer; it is kept where UTF-8 gives the same text. Without one the file is read as
    Neovim does with its default 'fileencodings'. Raises `FileRefusedError` for a binary file.
    """
    for encoding in _not_bytewise(data, hint):
        text = _decoded(data, encoding)
        if text is not None:
            return text, encoding
    if b"\0" in data[:_BINARY_PREFIX]:
        raise FileRefusedError(f"{path} is a binary file")
    return _decode_bytewise(data, hint)


def has_other_bytes(text: str, old: str, new: str) -> bool:
    """Whether a text has other bytes in the encoding `new` than in `old`, as far as both can be encoded here."""
    try:
        return old != new and encode("", text, old) != encode("", text, new)
    except FileRefusedError:
        return False


def is_known(encoding: str) -> bool:
    """Whether `encode` supports the encoding; Neovim supports some more."""
    return _codec(encoding) is not None


def encode(path: str, text: str, encoding: str) -> bytes:
    """Encode the text of a file. Raises `FileRefusedError`, which names a character that the encoding lacks."""
    codec = _codec(encoding)
    if codec is None:
        raise FileRefusedError(
            f"{path} was not written: its encoding is {encoding!r}, which only Neovim can write. "
            "The user can open it there, or convert it to UTF-8."
        )
    try:
        if _is_ucs2(encoding):
            _check_ucs2(text)
        return text.encode(codec)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FileRefusedError(
            f"{path} was not written: its encoding, {encoding}, lacks {_name(text[error.start])} of line {line}. "
            "Write the text without it, or ask the user to convert the file to UTF-8."
        ) from error


def _not_bytewise(data: bytes, hint: str | None) -> list[str]:
    """Return the encodings to try before UTF-8, the likeliest first."""
    codec = _codec(hint) if hint else None
    marked = [name for mark, name in _MARKS if data.startswith(mark)]
    if hint is None or codec is None or data.startswith(codecs.BOM_UTF8):
        return marked
    if codec.startswith("iso2022"):
        return [*marked, hint]
    if not _WIDE.fullmatch(_normal(hint)):
        return marked
    if data.startswith("\ufeff".encode(codec)):
        return [hint, *marked]
    is_bytewise = b"\0" not in data and (b"\n" in data or b"\r" in data)  # wide line ends have a NUL
    return marked or ([] if is_bytewise else [hint])


def _decode_bytewise(data: bytes, hint: str | None) -> tuple[str, str]:
    """Prefer UTF-8 to the hint: agents write it whatever the file's encoding was."""
    utf8 = _decoded(data, "utf-8")
    hinted = _decoded(data, hint) if hint else None
    if hint and hinted is not None and utf8 in (None, hinted):
        return hinted, hint
    return (data.decode("latin-1"), "latin1") if utf8 is None else (utf8, "utf-8")


def _decoded(data: bytes, encoding: str) -> str | None:
    """Decode the bytes; None when they are invalid in that encoding, or it is unknown."""
    codec = _codec(encoding)
    if codec is None:
        return None
    try:
        text = data.decode(codec)
        if _is_ucs2(encoding):
            _check_ucs2(text)
    except UnicodeError:
        return None
    return text


def _codec(encoding: str) -> str | None:
    """Return Python's name of Neovim's `encoding`; None when Python does not have it, or a different one."""
    name = _normal(encoding)
    if wide := _WIDE.fullmatch(name):
        bits = "32" if wide[2] in ("4", "32") else "16"
        return f"utf-{bits}-{wide[3] or 'be'}"
    if not re.fullmatch(r"[a-z0-9-]+", name):
        return None
    try:
        "a".encode(name)  # some of Python's codecs do not encode text
        codec = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        return None
    return None if codec.replace("_", "-") in _NOT_OF_FILES else codec


def _normal(encoding: str) -> str:
    """Return the name as `:help encoding-names` spells it."""
    return encoding.lower().replace("_", "-").removeprefix("8bit-").removeprefix("2byte-")


def _is_ucs2(encoding: str) -> bool:
    return _normal(encoding).startswith(("ucs-2", "ucs2"))


def _check_ucs2(text: str) -> None:
    """Raise `UnicodeEncodeError` for a surrogate pair, which UCS-2 lacks."""
    if beyond := re.search("[^\0-\uffff]", text):
        raise UnicodeEncodeError("ucs-2", text, beyond.start(), beyond.end(), "more than 16 bits")


def _name(character: str) -> str:
    """Describe a character; half a surrogate pair cannot be shown."""
    number = f"U+{ord(character):04X}"
    return number if "\ud800" <= character <= "\udfff" else f"{character!r} ({number})"
