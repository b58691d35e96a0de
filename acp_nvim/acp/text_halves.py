"""Halves of characters at the seams of texts that come in pieces: agents in JavaScript cut texts between surrogates.

JSON can contain half a surrogate pair as an escape, which a whole text never has. Here it stays, at either end of a
piece, until `joined` puts it together with the next piece.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from acp_nvim.lazy import pattern

REPLACEMENT: Final = "\ufffd"
"""What is shown instead of a half whose other half never comes."""

_HALF = pattern("[\ud800-\udfff]")
_PAIR = pattern(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_HIGH_BYTES = pattern(rb"\xed[\xa0-\xaf][\x80-\xbf]")
_HALF_BYTES: Final = 3
_HIGH: Final = ("\ud800", "\udbff")
_LOW: Final = ("\udc00", "\udfff")
_OUTPUT: Final = ("terminal_output", "terminal_output_delta")
"""Members of a tool call's `_meta` with pieces of a terminal's output, see `v1.TERMINAL_OUTPUT`."""


def joined(text: str) -> tuple[str, str]:
    """Return a text with whole characters only, and the first half of a character at its end, "" if there is none.

    Two halves side by side become their character; any other half becomes `REPLACEMENT`.
    """
    if text.isascii() or not _HALF.search(text):
        return text, ""
    half = text[-1] if _HIGH[0] <= text[-1] <= _HIGH[1] else ""
    units = text[: len(text) - len(half)].encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace"), half


def whole(text: str) -> str:
    """Return a text with whole characters only, to which nothing is added."""
    said, half = joined(text)
    return said + REPLACEMENT if half else said


def piece(text: str) -> str:
    """Return a piece of a text with whole characters, except for halves at its beginning and its end."""
    first = text[:1] if _LOW[0] <= text[:1] <= _LOW[1] else ""
    said, half = joined(text[len(first) :])
    return first + said + half


def encoded(text: str) -> bytes:
    """Return a piece of a text as bytes of UTF-8; halves of characters at its ends are surrogates, of three bytes."""
    return piece(text).encode("utf-8", "surrogatepass")


def joined_output(half: bytes, data: bytes) -> tuple[bytes, bytes]:
    """Return output, of which pieces may be `encoded`, with whole characters at its ends, and the half after it.

    `half` is the one that came before it. All other bytes stay.
    """
    if not data:
        return b"", half
    if half:
        seam = half + data[:_HALF_BYTES]
        first = seam.decode("utf-8", "surrogatepass") if _PAIR.fullmatch(seam) else ""
        data = whole(first).encode() + data[_HALF_BYTES:] if first else REPLACEMENT.encode() + data
    half = data[-_HALF_BYTES:] if _HIGH_BYTES.fullmatch(data[-_HALF_BYTES:]) else b""
    return data[: len(data) - len(half)], half


def split_update(line: bytes | bytearray) -> Any | None:
    """Decode the parameters of a `session/update` that has half a character at either end of a piece of text.

    In all of its other texts halves are replaced. None for any other line.
    """
    try:
        message = json.loads(line)
        params = message["params"]
        places = list(_pieces(params["update"]))
        if message["method"] != "session/update" or "id" in message or not places:
            return None
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    texts = [piece(holder[name]) for holder, name in places]
    if all(text == whole(text) for text in texts):
        return None
    for holder, name in places:
        holder[name] = _Piece(piece(holder[name]))
    return _cleaned(params)


class _Piece(str):
    """A text that `_cleaned` leaves as it is."""


def _pieces(update: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Find the pieces of text in an update: the objects that have them, and the names of the members."""
    content, meta = update.get("content"), update.get("_meta")
    is_chunk = str(update.get("sessionUpdate")).endswith("_chunk") and isinstance(content, dict)
    if is_chunk and content.get("type") == "text" and isinstance(content.get("text"), str):
        yield content, "text"
    outputs = [meta.get(name) for name in _OUTPUT] if isinstance(meta, dict) else []
    for output in outputs:
        if isinstance(output, dict) and isinstance(output.get("data"), str):
            yield output, "data"


def _cleaned(value: Any) -> Any:
    """Return decoded JSON with whole characters in all texts but the pieces."""
    match value:
        case _Piece():
            return str(value)
        case str():
            return whole(value)
        case list():
            return [_cleaned(one) for one in value]
        case dict():
            return {whole(name): _cleaned(one) for name, one in value.items()}
        case _:
            return value
