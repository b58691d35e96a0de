"""Pieces of text that arrive at once and continue the same message become one piece: a flood costs little each."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.protocol.updates import MessageChunk, Update
from acp_nvim.wire.content import TextContent


class TextRuns:
    """Joins text chunks; `deliver` gets every update in order, joined or as it came."""

    def __init__(self, deliver: Callable[[str, Update], None]) -> None:
        self._deliver = deliver
        self._session_id = ""
        self._first: MessageChunk | None = None
        self._texts: list[str] = []

    def __repr__(self) -> str:
        return f"<TextRuns {len(self._texts)} pieces>"

    def add(self, session_id: str, update: Update) -> None:
        """Take an update; text may wait for `flush`."""
        if type(update) is not MessageChunk or type(update.content) is not TextContent:
            self.flush()
            self._deliver(session_id, update)
            return
        first = self._first
        if (
            first is None
            or update.role is not first.role
            or update.message_id != first.message_id
            or session_id != self._session_id
        ):
            self.flush()
            self._session_id, self._first = session_id, update
        self._texts.append(update.content.text)

    def flush(self) -> None:
        """Hand over what waits."""
        if self._first is None:
            return
        first, texts = self._first, self._texts
        self._first, self._texts = None, []
        joined = MessageChunk(first.role, TextContent(text="".join(texts)), first.message_id)
        self._deliver(self._session_id, joined)
