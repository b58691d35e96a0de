"""Decodes lines into messages, and repairs faults that can be repaired.

The first and last bytes of a message that cannot be decoded still tell its id and kind (`envelope_of`). Integers of
more than 64 bits are replaced (`narrowed`): Python decodes them, msgpack cannot encode them.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import msgspec

from acp_nvim import decoders
from acp_nvim.jsonrpc.framing import CutLine, Line
from acp_nvim.jsonrpc.messages import ABSENT, Incoming, Invalid
from acp_nvim.lazy import pattern
from acp_nvim.limits import BATCH_ENTRIES, NESTED, READ_BYTES, SCANNED_BYTES

UNDECODABLE: Final = (msgspec.DecodeError, RecursionError)
"""Exceptions of decoding: for malformed JSON, and for JSON that is nested too deeply."""

Message = Incoming | Invalid

_BOM: Final = codecs.BOM_UTF8
_incoming = msgspec.json.Decoder(Incoming)
_batch = msgspec.json.Decoder(list[msgspec.Raw])
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = pattern(rb"\s*\[")
_STRING = pattern(rb'"[^"]*+"')
"""A string without escaped quotes: see `_without_escapes`."""
_STEPS: Final = bytes.maketrans(b"{[}]", b"\2\2\0\0")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"{[}]"))
_SURROGATE = pattern(rb"\\u[dD][89a-fA-F]")
_SURROGATE_BYTES = pattern(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_HEX = rb"[0-9a-fA-F]{2}"
_ESCAPE = pattern(rb"\\\\|\\u[dD][89abAB]%b\\u[dD][c-fC-F]%b|\\u[dD][89a-fA-F]%b" % (_HEX, _HEX, _HEX))

SHALLOW_BYTES: Final = 2 * NESTED
"""Length of a line up to which `require_shallow` need not be called: each level takes two brackets."""
BOUNDED_BYTES: Final = 3 * SCANNED_BYTES
"""Length of a line from which it need not be called: the framer has bounded the depth of each line of more than
`SCANNED_BYTES`, and `in_utf8` makes a line at most three times as long."""

decode_plain = _incoming.decode
"""Decode a line that is one well-formed message; checks UTF-8 only in the strings that are decoded here."""


def require_shallow(line: Line) -> None:
    """Raise `RecursionError` if arrays and objects are nested too deeply, also where Python could decode them."""
    if len(line) > SHALLOW_BYTES and line.count(b"{") + line.count(b"[") > NESTED:
        brackets = _STRING.sub(b"", _without_escapes(line)).translate(_STEPS, _NO_BRACKETS)
        if max(accumulate(brackets, lambda depth, step: depth + step - 1, initial=0)) > NESTED:
            raise RecursionError("a message is nested too deeply")


def _without_escapes(text: Line) -> Line:
    """Return JSON of the same length with dots in place of escaped quotes and backslashes: few expressions are needed.

    An expression for strings with escapes would repeat a group for each of them. A possessive repeat of a group matches
    wrongly in CPython 3.11.0 to 3.11.4 (gh-106052); any other repeat takes 230 bytes of memory for each escape.
    """
    return text.replace(b"\\\\", b"..").replace(b'\\"', b"..") if b"\\" in text else text


def has_halves(line: Line) -> bool:
    """Return whether a line has an escape of half a surrogate pair without the other half."""
    escapes = _ESCAPE.finditer(line) if _SURROGATE.search(line) else ()
    return any(len(found[0]) == len(rb"\ud800") for found in escapes)


def in_utf8(lines: list[Line]) -> list[Line]:
    """Return the lines with U+FFFD in place of bytes that are not UTF-8; of surrogates in UTF-8 with escapes."""
    if _is_utf8(lines[0] if len(lines) == 1 else b"\n".join(lines)):
        return lines
    return [line if _is_utf8(line) else _replaced(line) for line in lines]


def _replaced(line: Line) -> Line:
    escaped = _SURROGATE_BYTES.sub(lambda found: rb"\u%x" % ord(found[0].decode("utf-8", "surrogatepass")), line)
    text = escaped.decode("utf-8", "replace").encode()
    return CutLine(text) if isinstance(line, CutLine) else text


def decode_line(line: Line) -> Message | list[Message]:
    """Decode one line of UTF-8: a message, or the entries of a batch array. Raises one of `UNDECODABLE`.

    A lone surrogate (JavaScript cuts texts like that) becomes U+FFFD.
    """
    require_shallow(line)
    line = line.removeprefix(_BOM)
    if _SURROGATE.search(line):
        # pairs of surrogates and escaped backslashes are longer or shorter than a lone one, and stay
        line = _ESCAPE.sub(lambda found: rb"\ufffd" if len(found[0]) == len(rb"\ud800") else found[0], line)
    if _ARRAY.match(line):
        entries = _batch.decode(line)
        if len(entries) > BATCH_ENTRIES:  # the whole batch is refused
            return [Invalid("")] * len(entries)
        return list(map(_decode_one, entries))
    return _decode_one(line)


def _decode_one(text: Line | msgspec.Raw) -> Message:
    try:
        return _incoming.decode(text)
    except msgspec.ValidationError as error:
        reason = str(error)
    try:
        members = _members.decode(text)
    except msgspec.ValidationError:
        return Invalid(reason)
    return Invalid(reason, members.get("id", ABSENT))


def _is_utf8(line: Line) -> bool:
    if line.isascii():
        return True
    try:
        if len(line) <= 2 * READ_BYTES:
            line.decode()
        else:  # decoded as a whole it would take four times its size
            decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(line)
            for start in range(0, len(line), READ_BYTES):
                decoder.decode(view[start : start + READ_BYTES])
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


# --- id and kind of an undecodable message ---------------------------------------------------------------------------

_JSON_STRING = rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'
_SCALAR = rb"(?:%b|[-+.0-9eE]++|true|false|null)" % _JSON_STRING
_MEMBER = pattern(rb"\s*+(%b)\s*+:\s*+(?:(%b)\s*+,)?" % (_JSON_STRING, _SCALAR))
# The last bracket of a line closes the message itself. A quote right after a comma begins a member's name: if it ended
# a string, no name and colon could follow. So these are members of the message, and not of an object inside it.
_LAST_MEMBERS = pattern(rb"(?>(?:,\s*+%b\s*+:\s*+%b\s*+)+)}\s*+\Z" % (_JSON_STRING, _SCALAR))


class Envelope(NamedTuple):
    """The id of a message (`ABSENT` if it was not found), and its kind: request, answer or neither.

    `method` is that of a request, "" if it was not found.
    """

    id: msgspec.Raw
    is_request: bool
    is_answer: bool
    method: str = ""


def envelope_of(head: bytes, tail: bytes = b"") -> Envelope:
    """Read the first members of a message, up to the first one that is not a scalar, and its last members.

    `tail` may be given only if it is the end of well-formed JSON.
    """
    members = _first_members(head.decode("utf-8", "replace").encode())
    last = _LAST_MEMBERS.search(tail.decode("utf-8", "replace").encode())
    if last is not None:
        members.update(_first_members(b"{" + last[0].strip()[1:-1] + b","))
    request_id = msgspec.Raw(members.get("id", b""))
    try:
        decoders.decode(request_id, msgspec.Raw)
    except msgspec.DecodeError:
        request_id = ABSENT
    is_request = "method" in members
    method = members.get("method", b"").decode().strip('"')
    return Envelope(request_id, is_request, not is_request and bool(members.keys() & {"result", "error"}), method)


def _first_members(head: bytes) -> dict[str, bytes]:
    """Return the values of members by name; the last value is empty if it is not complete in `head`."""
    found: dict[str, bytes] = {}
    text = head.removeprefix(_BOM).lstrip()
    at = 1 if text.startswith(b"{") else len(text)
    while member := _MEMBER.match(text, at):
        found[member[1][1:-1].decode()] = member[2] or b""
        if member[2] is None:
            break
        at = member.end()
    return found


# --- integers of more than 64 bits -----------------------------------------------------------------------------------

WIDE_NUMBERS: Final = 100
"""Integers of more than 64 bits that are replaced in one value: each takes 5 microseconds, and a line can contain 1.5
million of them. No real agent sends any."""
INT64: Final = range(-(2**63), 2**63)
"""The integers that Neovim, msgpack and Lua can represent."""

_SHORTEST = 19  # digits of the smallest integer that is too large
_SAME_DIGIT: Final = bytes.maketrans(b"0123456789", b"0" * 10)
_MANY: Final = b"0" * _SHORTEST
_SAMPLED: Final = 6  # of a long text, every sixth byte is looked at first
_SOME: Final = b"0" * (_SHORTEST // _SAMPLED)
_TOKENS: Final = pattern(
    rb'(?>(?:[^"0-9-]++|"[^"]*+"|-?+[0-9]++(?=[.eE])[-+.0-9eE]++|-?+[0-9]{1,18}+(?![0-9])){0,1000})'
    rb"(-?+[0-9]{19,}+(?![.eE])|)"
)
"""In JSON `_without_escapes`: up to 1,000 other tokens, and the integer of at least 19 digits after them, if any."""


def may_be_wide(lines: Sequence[Line]) -> bool:
    """Return False if no line has that many digits in a row. Takes 0.2 microseconds a line, a regex would take 4."""
    text = lines[0] if len(lines) == 1 else b"\n".join(lines)
    if len(text) > SCANNED_BYTES and _SOME not in text[::_SAMPLED].translate(_SAME_DIGIT):
        return False
    return _MANY in text.translate(_SAME_DIGIT)


def narrowed(raw: msgspec.Raw) -> tuple[msgspec.Raw, list[str]]:
    """Return the JSON with floats in place of integers of more than 64 bits, and the first digits of these integers.

    JSON has one kind of number, and JavaScript reads such an integer as a float, too. Where the protocol requires an
    integer, decoding rejects the float. An integer beyond the range of floats becomes null, and so does the whole value
    if it has more than `WIDE_NUMBERS` of them.
    """
    text = bytes(raw)
    if not may_be_wide([text]):
        return raw, []
    tokens = _without_escapes(text)
    pieces: list[bytes] = []
    found: list[str] = []
    at = copied = 0
    while (token := _TOKENS.match(tokens, at)) is not None and token.end() > at:
        at, digits = token.end(), token[1]
        # Python converts no integer of more than 4,300 digits, so the length is checked first
        if not digits or (len(digits.removeprefix(b"-")) <= _SHORTEST and int(digits) in INT64):
            continue
        if len(found) == WIDE_NUMBERS:
            return msgspec.Raw(b"null"), found
        value = float(digits)
        pieces += (text[copied : token.start(1)], repr(value).encode() if math.isfinite(value) else b"null")
        found.append(digits[: 2 * _SHORTEST].decode())
        copied = at
    return (msgspec.Raw(b"".join([*pieces, text[copied:]])), found) if found else (raw, [])
