"""What the ends of a message tell when the whole cannot be taken: who waits for it, or for an answer to it."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

import msgspec

from acp_nvim.jsonrpc.messages import ABSENT

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = rb"(?:%b|[-+.0-9eE]++|true|false|null)" % _STRING
_MEMBER = re.compile(rb"\s*+(%b)\s*+:\s*+(?:(%b)\s*+,)?" % (_STRING, _SCALAR))
# The last bracket of a line closes the message itself. A quote right after a comma begins a member's name: were it the
# end of a text, no name and colon could follow. So these are members of the message, and of nothing within it.
_LAST_MEMBERS = re.compile(rb"(?:,\s*+%b\s*+:\s*+%b\s*+)++}\s*+\Z" % (_STRING, _SCALAR))


class Glimpse(NamedTuple):
    """The id (`ABSENT` when it cannot be seen), and what kind of message it is of."""

    id: msgspec.Raw
    is_request: bool
    is_answer: bool


def glimpse(head: bytes, tail: bytes = b"") -> Glimpse:
    """Look at the first members of a message, up to the first that is not a plain value, and at its last ones.

    `tail` may be given only for the end of what is (or may be taken for) whole JSON.
    """
    members = _first_members(head.decode("utf-8", "replace").encode())
    members.update(_last_members(tail.decode("utf-8", "replace").encode()))
    request_id = _as_json(members.get("id", b""))
    is_request = "method" in members
    return Glimpse(request_id, is_request, not is_request and bool(members.keys() & {"result", "error"}))


def _first_members(head: bytes) -> dict[str, bytes]:
    """Names with their values; the last one's value is empty when it goes on for longer than can be seen."""
    found: dict[str, bytes] = {}
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    at = 1 if text.startswith(b"{") else len(text)
    while member := _MEMBER.match(text, at):
        found[_name(member[1])] = member[2] or b""
        if member[2] is None:
            break
        at = member.end()
    return found


def _last_members(tail: bytes) -> dict[str, bytes]:
    last = _LAST_MEMBERS.search(tail)
    if last is None:
        return {}
    text = b"{" + last[0].strip()[1:-1] + b","
    return _first_members(text)


def _name(quoted: bytes) -> str:
    return quoted[1:-1].decode()


def _as_json(value: bytes) -> msgspec.Raw:
    try:
        msgspec.json.decode(value, type=msgspec.Raw)
    except msgspec.DecodeError:
        return ABSENT
    return msgspec.Raw(value)
