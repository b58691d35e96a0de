"""Notifications that single agents send beside the protocol; the quirks of an agent name those that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from acp_nvim.acp.decoding import decode
from acp_nvim.acp.fields import Id, Maybe, Text, Wire, Word, given
from acp_nvim.acp.suggestions import cleaned
from acp_nvim.acp.updates import Retrying, SessionInfoChanged, Update

ReadUpdate = Callable[[msgspec.Raw], tuple[str, Update]]
"""Decodes a notification into the id of its session and an update. Raises `DecodeError`."""


class _Suggestion(Wire, kw_only=True):
    session_id: Id
    suggestion: Text


class _Retrying(Wire, kw_only=True):
    session_id: Id
    category: Maybe[Word] = msgspec.UNSET


def _suggestion(params: msgspec.Raw) -> tuple[str, Update]:
    said = decode(params, _Suggestion)
    return said.session_id, SessionInfoChanged(suggestion=cleaned(said.suggestion))


def _retrying(params: msgspec.Raw) -> tuple[str, Update]:
    said = decode(params, _Retrying)
    return said.session_id, Retrying(cleaned((given(said.category) or "").replace("_", " ")))


_NOTIFICATIONS: Final[Mapping[str, Mapping[str, ReadUpdate]]] = {
    "suggestion_notification": {"qwen/notify/session/prompt-suggestion": _suggestion},
    "retrying_notification": {"_session/retrying": _retrying},
}


def notifications(quirks: Iterable[str]) -> dict[str, ReadUpdate]:
    """Return the notifications of an agent with these quirks, by their methods."""
    return {method: read for quirk in quirks for method, read in _NOTIFICATIONS.get(quirk, {}).items()}
