"""Finds integers of more than 64 bits in JSON and replaces them: Python decodes them, msgpack cannot encode them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from acp_nvim.jsonrpc.framing import Line
from acp_nvim.limits.wide_numbers import WIDE_NUMBERS

INT64: Final = range(-(2**63), 2**63)
"""The integers that Neovim, msgpack and Lua can hold."""

_SHORTEST = 19  # digits of the smallest integer that is too large
_SAME_DIGIT: Final = bytes.maketrans(b"0123456789", b"0" * 10)
_MANY: Final = b"0" * _SHORTEST
_EXPONENT = rb"[eE][-+]?+[0-9]++"
_TOKENS: Final = re.compile(
    rb'(?:[^"0-9-]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?+[0-9]++(?:\.[0-9]++(?:%b)?+|%b)|-?+[0-9]{1,18}+(?![0-9]))*+'
    rb"(-?+[0-9]{19,}+)?+" % (_EXPONENT, _EXPONENT),
    re.DOTALL,
)
"""Everything up to the next integer of at least 19 digits that stands outside of texts, and that integer."""


def may_be_wide(lines: Sequence[Line]) -> bool:
    """False if none of the lines has so many digits in a row. It costs 0.2 microseconds a line, a regex 4."""
    return _MANY in (lines[0] if len(lines) == 1 else b"\n".join(lines)).translate(_SAME_DIGIT)


def narrowed(raw: msgspec.Raw) -> tuple[msgspec.Raw, list[str]]:
    """The same JSON with floats for integers outside of 64 bits, and the beginnings of these integers.

    JSON has one kind of number, and JavaScript reads such an integer as a float, too. Where the protocol wants an
    integer, decoding refuses the float. What a float cannot hold either becomes null, and so does the whole of a value
    that has more than `WIDE_NUMBERS` of them.
    """
    text = bytes(raw)
    if not may_be_wide([text]):
        return raw, []
    pieces: list[bytes] = []
    found: list[str] = []
    at = 0
    while (token := _TOKENS.match(text, at)) is not None and token[1] is not None:
        if len(found) == WIDE_NUMBERS:
            return msgspec.Raw(b"null"), found
        if _is_wide(token[1]):
            value = float(token[1])
            pieces += (text[at : token.start(1)], repr(value).encode() if math.isfinite(value) else b"null")
            found.append(token[1][: 2 * _SHORTEST].decode())
        else:
            pieces.append(text[at : token.end()])
        at = token.end()
    return (msgspec.Raw(b"".join([*pieces, text[at:]])), found) if found else (raw, [])


def _is_wide(digits: bytes) -> bool:
    """Python converts no integer of more than 4,300 digits, so the length decides first."""
    return len(digits.removeprefix(b"-")) > _SHORTEST or int(digits) not in INT64
