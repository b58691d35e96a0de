"""What single agents send beside the protocol; the quirks of an agent name the methods that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from acp_nvim.acp.cursor import Cursor, Extended
from acp_nvim.acp.decoding import decode
from acp_nvim.acp.fields import Id, Maybe, Text, Wire, Word, given
from acp_nvim.acp.suggestions import cleaned
from acp_nvim.acp.updates import Retrying, SessionInfoChanged, Update

Read = Callable[[msgspec.Raw], Extended]
"""Decodes a notification or a request. Raises `DecodeError`."""


class _Suggestion(Wire, kw_only=True):
    session_id: Id
    suggestion: Text


class _Retrying(Wire, kw_only=True):
    session_id: Id
    category: Maybe[Word] = msgspec.UNSET


def _suggestion(params: msgspec.Raw) -> Extended:
    said = decode(params, _Suggestion)
    return _update(said.session_id, SessionInfoChanged(suggestion=cleaned(said.suggestion)))


def _retrying(params: msgspec.Raw) -> Extended:
    said = decode(params, _Retrying)
    return _update(said.session_id, Retrying(cleaned((given(said.category) or "").replace("_", " "))))


def _update(session_id: str, update: Update) -> Extended:
    return Extended(session_id=session_id, tool_call_id=None, updates=lambda _: [update])


def extensions(quirks: Iterable[str]) -> tuple[dict[str, Read], dict[str, Read]]:
    """Return the notifications, and the requests, of an agent process with these quirks, by their methods."""
    notifications: dict[str, Read] = {}
    requests: dict[str, Read] = {}
    for quirk in quirks:
        match quirk:
            case "suggestion_notification":
                notifications["qwen/notify/session/prompt-suggestion"] = _suggestion
            case "retrying_notification":
                notifications["_session/retrying"] = _retrying
            case "cursor_methods":  # some versions send as a request what others send as a notification
                requests = Cursor().methods
                notifications["cursor/update_todos"] = requests["cursor/update_todos"]
    return notifications, requests
