"""Decodes many lines at once, if all of them are pieces of text: by far the most frequent messages of an agent.

Only lines without any other member are decoded here. All others, and what is malformed, have to be handled one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal

import msgspec

from acp_nvim import decoders
from acp_nvim.acp.fields import Id
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.updates import MessageChunk, Role


class _Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """An object with these members only."""


class _Text(_Strict, tag_field="type", tag="text"):
    text: str


class _AgentText(_Strict, tag_field="sessionUpdate", tag="agent_message_chunk"):
    content: _Text
    message_id: Id | None = None


class _AgentThought(_Strict, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    content: _Text
    message_id: Id | None = None


class _UserText(_Strict, tag_field="sessionUpdate", tag="user_message_chunk"):
    content: _Text
    message_id: Id | None = None


class _Params(_Strict):
    session_id: Id
    update: _AgentText | _AgentThought | _UserText


class _Line(_Strict):
    jsonrpc: Literal["2.0"]
    method: Literal["session/update"]
    params: _Params


_ROLES: Final[dict[type, Role]] = {_AgentText: "agent", _AgentThought: "thought", _UserText: "user"}
_HEAD_BYTES: Final = 300
"""Bytes of a line in which its kind is looked for: most agents write only the session's id before it, 40 bytes."""


def may_be_text(line: bytes | bytearray) -> bool:
    """Return whether a line is probably a piece of text."""
    return line.find(b'_chunk"', 0, _HEAD_BYTES) > 0


def text_chunks(lines: Sequence[bytes | bytearray], needs_id: bool) -> list[tuple[str, MessageChunk]] | None:
    """Decode whole lines, which need not be UTF-8; return the joined text of each message, with the id of its session.

    None: some lines are not pieces of text in the plainest form, or they have no message id and `needs_id`.
    """
    try:
        said: list[_Line] = decoders.json_decoder(list[_Line]).decode(b"[%b]" % b",".join(lines))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if len(said) != len(lines):  # a line with two messages, and a comma between them
        return None
    runs = list(_runs(said))
    return None if needs_id and any(chunk.message_id is None for _, chunk in runs) else runs


def _runs(said: list[_Line]) -> Iterator[tuple[str, MessageChunk]]:
    for (session_id, kind, message_id), run in groupby(said, _place):
        text = "".join([line.params.update.content.text for line in run])
        yield session_id, MessageChunk(_ROLES[kind], TextContent(text=text), message_id)


def _place(line: _Line) -> tuple[Any, ...]:
    update = line.params.update
    return line.params.session_id, type(update), update.message_id
