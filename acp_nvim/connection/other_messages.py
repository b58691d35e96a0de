"""What an agent sends beside the updates and requests of its sessions: its account, finished URLs, extensions."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from time import monotonic
from typing import Any

import msgspec

from acp_nvim import decoders
from acp_nvim.acp import elicitation
from acp_nvim.acp.auth_status import STATUS_UPDATES, status_update_words
from acp_nvim.acp.cursor import Extended
from acp_nvim.acp.extensions import Read, extensions
from acp_nvim.acp.updates import Update
from acp_nvim.connection.peer_session import PeerSession
from acp_nvim.elicitation.pending import OpenUrls
from acp_nvim.process.child import LAST_WORDS_SECONDS, StderrTail

log = logging.getLogger(__name__)


class OtherMessages:
    """The other messages of the agent `name`. `account` is the one that it uses, in the latest words about it.

    `requests` are the methods that it may call beside those of the protocol, with what decodes them.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.open_urls = OpenUrls()
        self.account: str | None = None
        self.requests: dict[str, Read] = {}
        self._notifications: dict[str, Read] = {}
        self._words = StderrTail()

    def __repr__(self) -> str:
        return f"<OtherMessages {sorted(self._notifications)} {sorted(self.requests)}>"

    def note(self, line: bytes) -> None:
        """Note a line that is no message: agents say like that why they end, or cannot begin."""
        self._words.feed(line + b"\n", monotonic())

    def last_words(self, is_at_work: bool) -> tuple[str, ...]:
        """Return such lines that may explain the end: all, or if it `is_at_work` those right before it."""
        return self._words.lines(monotonic() - LAST_WORDS_SECONDS if is_at_work else 0.0)

    def take_quirks(self, quirks: Iterable[str]) -> None:
        """Take what an agent with these quirks sends beside the protocol."""
        self._notifications, self.requests = extensions(quirks)

    def take(
        self, method: str, params: msgspec.Raw, sessions: Mapping[str, PeerSession]
    ) -> Iterator[tuple[str, Update]]:
        """Take a notification; yield the updates that it means, with the ids of their sessions.

        Raises `msgspec.DecodeError`, and `LookupError` as `session_with`. Unknown notifications are only logged.
        """
        if method == "elicitation/complete":  # ACP "Elicitation", URL completion
            self.open_urls.complete(elicitation.completed(params))
        elif method in STATUS_UPDATES:
            self.account = status_update_words(method, params)
        elif method in self._notifications:
            said = self._notifications[method](params)
            session_id = session_with(said, sessions)
            yield from ((session_id, update) for update in said.updates(session_id))
        else:
            log.info("%s: notification %s passed over", self._name, method)


def session_with(said: Extended, sessions: Mapping[str, PeerSession]) -> str:
    """Return the id of the session that a message names, or whose tool call it names, or that alone is busy.

    Raises `LookupError` if that is not clear.
    """
    if said.session_id is not None:
        return said.session_id
    call = said.tool_call_id
    busy = [one for one, session in sessions.items() if session.is_busy]
    with_call = [one for one, session in sessions.items() if call is not None and session.has_call(call)]
    found = with_call or busy or list(sessions)
    if len(found) != 1:
        raise LookupError("it is not clear to which session this belongs")
    return found[0]


async def answered(said: Extended, work: Awaitable[Any] | None) -> Any:
    """Return the answer to a request beside the protocol, made of what the user has answered to `work`."""
    return said.answer(None if work is None else await work)


class _Kind(msgspec.Struct, rename="camel"):
    session_update: str


class _Update(msgspec.Struct):
    update: _Kind


def is_about_a_call(params: msgspec.Raw) -> bool:
    """Return whether a malformed update may be one of a tool call."""
    try:
        return decoders.decode(params, _Update).update.session_update.startswith("tool_call")
    except msgspec.DecodeError:
        return True
