"""Joins updates of one session that arrive together, before they reach the transcript."""

from __future__ import annotations

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged, Update


class UpdateRun:
    """Joins updates that arrive together into one: text chunks of one message, or updates of one tool call.

    Joining them here, and not only in the batches for the editor, halves the time for a flood of them
    (doc/development/protocol.md).
    """

    def __init__(self) -> None:
        self._session_id = ""
        self._first: MessageChunk | ToolCallChanged | None = None
        self._texts: list[str] = []

    def takes(self, session_id: str, update: Update) -> bool:
        """Add an update that begins or continues a run; return False for any other."""
        first = self._first
        if type(update) is MessageChunk:
            if type(update.content) is not TextContent:
                return False
            if first is None:
                self._session_id, self._first = session_id, update
            elif (
                type(first) is not MessageChunk
                or update.role is not first.role
                or update.message_id != first.message_id
                or session_id != self._session_id
            ):
                return False
            self._texts.append(update.content.text)
            return True
        if type(update) is not ToolCallChanged:
            return False
        if first is None:
            self._session_id, self._first = session_id, update
            return True
        return type(first) is ToolCallChanged and session_id == self._session_id and first.absorb(update)

    def take(self) -> tuple[tuple[str, Update], ...]:
        """Remove the run; return the session's id with the joined update, or nothing if there is none."""
        first, texts = self._first, self._texts
        if first is None:
            return ()
        self._first = None
        if isinstance(first, ToolCallChanged):
            return ((self._session_id, first),)
        self._texts = []
        joined = MessageChunk(first.role, TextContent(text="".join(texts)), first.message_id)
        return ((self._session_id, joined),)
