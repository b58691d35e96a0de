"""Text and the bytes of a file: which encoding it is in, by the names that Neovim's 'fileencoding' has for them."""

from __future__ import annotations

import codecs
import re

from acp_nvim.workspace.refusals import FileRefusedError

BOM = "\ufeff"
"""The byte order mark, as a character."""

_BINARY_PREFIX = 8 * 1024
"""Bytes looked at for a NUL, as git does: text has none, unless its units are wider than a byte."""

_WIDE = re.compile(r"(utf|ucs)-?(2|4|16|32)(?:-?(le|be))?")

_MARKS = (
    (codecs.BOM_UTF32_LE, "ucs-4le"),
    (codecs.BOM_UTF32_BE, "ucs-4"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""What Neovim calls a file that begins like this; the longer marks first, for one begins like another."""

_NOT_OF_FILES = {"utf-7", "hz", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-8-sig", "undefined"}
"""Python's codecs that change other characters than Neovim would, or keep a mark to themselves."""


def with_mark(text: str, before: str, encoding: str) -> str:
    """`text` for the file that has `before`: its mark stays when without it nobody would know the encoding again."""
    return BOM + text if encoding != "utf-8" and before.startswith(BOM) and not text.startswith(BOM) else text


def decode(path: str, data: bytes, hint: str | None = None) -> tuple[str, str]:
    """The text of a file, with U+FEFF where it has a byte order mark, and its encoding.

    `hint` is the encoding that its buffer has; it is kept where UTF-8 would say the same. Without one the file is read
    as Neovim does with its default 'fileencodings'. Raises `FileRefusedError` for a binary file.
    """
    for encoding in _not_bytewise(data, hint):
        text = _decoded(data, encoding)
        if text is not None:
            return text, encoding
    if b"\0" in data[:_BINARY_PREFIX]:
        raise FileRefusedError(f"{path} is a binary file")
    return _decode_bytewise(data, hint)


def is_known(encoding: str) -> bool:
    """Whether `encode` knows it; Neovim knows some more."""
    return _codec(encoding) is not None


def encode(path: str, text: str, encoding: str) -> bytes:
    """The bytes of a file of that encoding. Raises `FileRefusedError`, which names the character that it lacks."""
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
    """The encodings that bytes which are not UTF-8, or only look like it, may be in; the likeliest first."""
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
    return marked or ([] if _is_bytewise_lines(data) else [hint])


def _is_bytewise_lines(data: bytes) -> bool:
    """Whether this is UTF-8, if it is that at all: in units of 16 or 32 bits an end of a line has a NUL."""
    return b"\0" not in data and (b"\n" in data or b"\r" in data)


def _decode_bytewise(data: bytes, hint: str | None) -> tuple[str, str]:
    """UTF-8 comes before the hint: agents write it whatever the file was in."""
    utf8 = _decoded(data, "utf-8")
    hinted = _decoded(data, hint) if hint else None
    if hint and hinted is not None and utf8 in (None, hinted):
        return hinted, hint
    return (data.decode("latin-1"), "latin1") if utf8 is None else (utf8, "utf-8")


def _decoded(data: bytes, encoding: str) -> str | None:
    """The text; None when the bytes are not of that encoding, or nobody knows it."""
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
    """Python's name of what Neovim calls `encoding`; None for one that Python does not have, or not the same."""
    name = _normal(encoding)
    if wide := _WIDE.fullmatch(name):
        bits = "32" if wide[2] in ("4", "32") else "16"
        return f"utf-{bits}-{wide[3] or 'be'}"
    if not re.fullmatch(r"[a-z0-9-]+", name):
        return None
    try:
        "a".encode(name)  # some of Python's codecs are none of texts
        codec = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        return None
    return None if codec.replace("_", "-") in _NOT_OF_FILES else codec


def _normal(encoding: str) -> str:
    """The name as `:help encoding-names` spells them."""
    return encoding.lower().replace("_", "-").removeprefix("8bit-").removeprefix("2byte-")


def _is_ucs2(encoding: str) -> bool:
    return _normal(encoding).startswith(("ucs-2", "ucs2"))


def _check_ucs2(text: str) -> None:
    """UCS-2 has no pairs of surrogates. Raises `UnicodeEncodeError`."""
    if beyond := re.search("[^\0-\uffff]", text):
        raise UnicodeEncodeError("ucs-2", text, beyond.start(), beyond.end(), "more than 16 bits")


def _name(character: str) -> str:
    """A character in words; half a pair of surrogates cannot be shown."""
    number = f"U+{ord(character):04X}"
    return number if "\ud800" <= character <= "\udfff" else f"{character!r} ({number})"
