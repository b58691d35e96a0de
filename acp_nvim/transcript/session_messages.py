"""Shows the messages between a session and others of the same agent (ACP "Subagents") as notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp import updates
from acp_nvim.acp.fields import shortened
from acp_nvim.acp.text_halves import joined, whole
from acp_nvim.transcript import views
from acp_nvim.transcript.presenter import Presenter

KEPT_MESSAGES: Final = 100
"""Messages that may still grow or change: agents send a few at a time."""
MESSAGE_CHARS: Final = 20_000
"""Characters of one message that are shown: ten screens. The session that it goes to shows what comes of it."""


class _Message(msgspec.Struct):
    """A message so far, and the block that shows it (0: none yet) in the words `shown`."""

    text: str = ""
    shown: str = ""
    sender: str | None = None
    recipient: str | None = None
    block: int = 0


class SessionMessages:
    """The messages of one session; `name_of` returns the name of a session by its id."""

    def __init__(self, presenter: Presenter, name_of: Callable[[str], str]) -> None:
        self._presenter = presenter
        self._name_of = name_of
        self._messages: dict[str, _Message] = {}

    def __repr__(self) -> str:
        return f"<SessionMessages {len(self._messages)}>"

    def take(self, update: updates.SessionMessage | updates.SessionMessageChunk) -> None:
        """Show a message, more of it, or what has changed of it."""
        message = self._messages.get(update.message_id)
        if message is None:
            message = self._messages[update.message_id] = _Message()
            if len(self._messages) > KEPT_MESSAGES:
                del self._messages[next(iter(self._messages))]
        if isinstance(update, updates.SessionMessageChunk):
            message.text = "".join(joined(message.text + views.describe(update.content)))
        else:
            message.text = message.text if update.content is UNSET else views.text_of(update.content or ())
            message.sender = message.sender if update.sender is UNSET else update.sender
            message.recipient = message.recipient if update.recipient is UNSET else update.recipient
        message.text = shortened(message.text, MESSAGE_CHARS)
        words = self._words(message)
        if words != message.shown and (message.text or message.block):
            message.block, message.shown = self._presenter.renew_notice("info", words, message.block), words

    def forget(self) -> None:
        """Forget the messages, whose blocks no longer exist."""
        self._messages.clear()

    def _words(self, message: _Message) -> str:
        if message.sender is not None:
            who = f"Message from {self._name_of(message.sender)}"
        elif message.recipient is not None:
            who = f"Message to {self._name_of(message.recipient)}"
        else:
            who = "Message between sessions"
        return f"{who}: {whole(message.text)}"
