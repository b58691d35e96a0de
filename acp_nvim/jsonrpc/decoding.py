"""Lines become messages: all of a block at once, or one line that needs care."""

from __future__ import annotations

import codecs
import re
from typing import Final

import msgspec

from acp_nvim.jsonrpc.framing import Block
from acp_nvim.jsonrpc.messages import Incoming, Invalid
from acp_nvim.limits import READ_BYTES

UNDECODABLE: Final = (msgspec.DecodeError, RecursionError)
"""What decoding raises: for what is no JSON, and for JSON that is nested too deeply."""

Message = Incoming | Invalid

_BOM: Final = codecs.BOM_UTF8
_incoming = msgspec.json.Decoder(Incoming)
_batch = msgspec.json.Decoder(list[msgspec.Raw])
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_HEX = rb"[0-9a-fA-F]{2}"
_ESCAPE = re.compile(rb"\\\\|\\u[dD][89abAB]%b\\u[dD][c-fC-F]%b|\\u[dD][89a-fA-F]%b" % (_HEX, _HEX, _HEX))


def decode_block(block: Block) -> list[Incoming] | None:
    """The messages of a block whose every line is one plain message; None when some line needs care."""
    # decode_lines takes any values between any white space. With these brackets around each newline no value can
    # lie on two lines (it would need a comma), and with as many values as lines each line holds one.
    newlines = block.count(b"\n")
    if newlines and block.count(b"}\n{") != newlines:
        return None
    if not _is_utf8(block):
        return None
    try:
        messages = _incoming.decode_lines(block)
    except UNDECODABLE:
        return None
    return messages if len(messages) == newlines + 1 else None


def decode_line(line: Block) -> Message | list[Message]:
    """The message of one line, or the entries of its batch array. Raises one of `UNDECODABLE`.

    Bytes that are not UTF-8, and half characters (JavaScript cuts texts like that), become U+FFFD.
    """
    if not _is_utf8(line):
        line = line.decode("utf-8", "replace").encode()
    line = line.removeprefix(_BOM)
    if _SURROGATE.search(line):
        line = _ESCAPE.sub(_mend, line)
    if line.lstrip()[:1] == b"[":
        return [_decode_one(raw) for raw in _batch.decode(line)]
    return _decode_one(line)


def _decode_one(text: Block | msgspec.Raw) -> Message:
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


def _is_utf8(data: Block) -> bool:
    """msgspec looks at this only in the texts that it decodes, not in those it passes on."""
    if data.isascii():
        return True
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(data)
    try:
        for start in range(0, len(data), READ_BYTES):  # as a whole it would be four times its size for a moment
            decoder.decode(view[start : start + READ_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
