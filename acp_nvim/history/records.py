"""The lines of a transcript: what one says, how it is written and read.

JSON Lines. The first line is a `Header`. Each of the others is a block as events show it, without the session: `append`
goes on with the text of a block, every other `type` takes the place of what was said of the block before. So whoever
reads the whole knows each block as it was last; a line that cannot be read is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from acp_nvim.events import (
    Append,
    Notice,
    OtherItem,
    Permission,
    PermissionDone,
    Plan,
    Replace,
    ToolCall,
)
from acp_nvim.limits.history import RECORD_BYTES
from acp_nvim.permission_events import PermissionAuto
from acp_nvim.review_events import Summary

FORMAT = 1
"""The `transcript` member of a header; another number is another format."""

Kept = Append | Replace | ToolCall | Plan | Notice | Permission | PermissionDone | PermissionAuto | Summary
"""What is kept of a conversation."""


class Header(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Whose transcript it is; `started` in seconds since 1970. `supersedes`: the same was kept there before."""

    transcript: int
    agent: str
    cwd: str
    started: float
    version: str
    supersedes: str | None = None


class About(msgspec.Struct, tag_field="type", tag="session", omit_defaults=True, kw_only=True):
    """What became known of the session; the last one counts."""

    session_id: str | None = None
    title: str | None = None


class Glance(msgspec.Struct):
    """As much of a line as it takes to know what it is about."""

    type: str
    block: int = 0


class _Told(msgspec.Struct):
    told: Kept


def encode(value: Any, masked: Callable[[bytes], bytes]) -> bytes:
    """A line for a header, an `About`, or an event; `masked` takes the secrets out of JSON."""
    line = masked(_json(_without_session(value)))
    if len(line) > RECORD_BYTES and isinstance(value, ToolCall):
        words = OtherItem(f"{len(line) / 1e6:.1f} MB that were too much to keep")
        short = msgspec.structs.replace(value, call=msgspec.structs.replace(value.call, content=[words]))
        line = masked(_json(_without_session(short)))
    return line + b"\n"


def decode(line: bytes) -> Kept | About | None:
    """What a line says; None when it is nothing that we know."""
    try:
        fields = _plain(line)
        if fields.get("type") == "session":
            return msgspec.convert(fields, About)
        return msgspec.convert({"told": {**fields, "session": 0}}, _Told).told
    except (ValueError, RecursionError):
        return None


def decode_header(line: bytes) -> Header | None:
    """The first line; None when this is no transcript, or one of another format."""
    try:
        header = msgspec.convert(_plain(line), Header)
    except (ValueError, RecursionError):
        return None
    return header if header.transcript == FORMAT else None


def glance(line: bytes) -> Glance | None:
    """What a line is about; None when that cannot be said."""
    try:
        return msgspec.json.decode(line, type=Glance)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.convert(_plain(line), Glance)
    except (ValueError, RecursionError):
        return None


def _plain(line: bytes) -> dict[str, Any]:
    """Half characters stand as escapes, which not every reader takes."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _without_session(value: Any) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    fields.pop("session", None)
    return fields


def _json(fields: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return json.dumps(fields, separators=(",", ":")).encode()
