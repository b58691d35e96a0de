"""Lines become messages, whatever is wrong with them that can be mended."""

from __future__ import annotations

import codecs
import re
from itertools import accumulate
from typing import Final

import msgspec

from acp_nvim.jsonrpc.framing import Line
from acp_nvim.jsonrpc.messages import Incoming, Invalid
from acp_nvim.limits import READ_BYTES
from acp_nvim.limits.fair_shares import BATCH_ENTRIES
from acp_nvim.limits.messages import NESTED

UNDECODABLE: Final = (msgspec.DecodeError, RecursionError)
"""What decoding raises: for what is no JSON, and for JSON that is nested too deeply."""

Message = Incoming | Invalid

_BOM: Final = codecs.BOM_UTF8
_incoming = msgspec.json.Decoder(Incoming)
_batch = msgspec.json.Decoder(list[msgspec.Raw])
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = re.compile(rb"\s*\[")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_STEPS: Final = bytes.maketrans(b"{[}]", b"\2\2\0\0")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"{[}]"))
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_HEX = rb"[0-9a-fA-F]{2}"
_ESCAPE = re.compile(rb"\\\\|\\u[dD][89abAB]%b\\u[dD][c-fC-F]%b|\\u[dD][89a-fA-F]%b" % (_HEX, _HEX, _HEX))


decode_plain = _incoming.decode
"""The message of a line that is one, the fast way; UTF-8 is checked only in the texts that are decoded here."""


def require_shallow(line: Line) -> None:
    """Raises `RecursionError` for a line whose arrays and objects are nested too deeply, whatever Python could bear."""
    if len(line) > 2 * NESTED and line.count(b"{") + line.count(b"[") > NESTED:
        brackets = _STRING.sub(b"", line).translate(_STEPS, _NO_BRACKETS)
        if max(accumulate(brackets, lambda depth, step: depth + step - 1, initial=0)) > NESTED:
            raise RecursionError("a message is nested too deeply")


def in_utf8(lines: list[Line]) -> list[Line]:
    """The same lines, with U+FFFD for what is not UTF-8."""
    if _is_utf8(lines[0] if len(lines) == 1 else b"\n".join(lines)):
        return lines
    return [line if _is_utf8(line) else line.decode("utf-8", "replace").encode() for line in lines]


def decode_line(line: Line) -> Message | list[Message]:
    """The message of one line in UTF-8, or the entries of its batch array. Raises one of `UNDECODABLE`.

    Half a character (JavaScript cuts texts like that) becomes U+FFFD.
    """
    require_shallow(line)
    line = line.removeprefix(_BOM)
    if _SURROGATE.search(line):
        line = _ESCAPE.sub(_mend, line)
    if _ARRAY.match(line):
        entries = _batch.decode(line)
        # of one with too many nothing is taken
        return list(map(_decode_one, entries)) if len(entries) <= BATCH_ENTRIES else [Invalid("")] * len(entries)
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
    return Invalid(reason, members["id"]) if "id" in members else Invalid(reason)


def _mend(escape: re.Match[bytes]) -> bytes:
    """Half a character becomes U+FFFD; pairs and backslashes stay."""
    return rb"\ufffd" if len(escape[0]) == len(rb"\ud800") else escape[0]


def _is_utf8(line: Line) -> bool:
    if line.isascii():
        return True
    try:
        if len(line) <= 2 * READ_BYTES:
            line.decode()
        else:  # as a whole it would be four times its size for a moment
            decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(line)
            for start in range(0, len(line), READ_BYTES):
                decoder.decode(view[start : start + READ_BYTES])
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
